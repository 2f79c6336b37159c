#include <fmt/format.h>

#include <algorithm>

#include "harness/report/report.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::report {
namespace {

using judge::VerdictStatus;

const char* colour_of(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::pass:
      return "\033[32m";
    case VerdictStatus::fail:
    case VerdictStatus::error:
      return "\033[31m";
    default:
      return "\033[33m";
  }
}

std::string status_text(VerdictStatus status, const TextOptions& options) {
  const std::string padded = fmt::format("{:<7}", judge::name(status));
  return options.colour ? colour_of(status) + padded + "\033[0m" : padded;
}

std::string counts_text(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [kind, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, printable(kind));
  }
  return text.empty() ? "-" : text;
}

bool is_finding(const judge::Verdict& verdict) {
  return verdict.status == VerdictStatus::fail || verdict.status == VerdictStatus::error;
}

void add_verdict(std::string& out, const judge::Verdict& verdict, const TextOptions& options) {
  out += fmt::format("{} {:<10} {}\n", status_text(verdict.status, options), printable(verdict.id),
                     printable(verdict.reason));
  if (!is_finding(verdict) && !options.verbose) {
    return;
  }
  for (const auto& [key, value] : verdict.seen) {
    if (verdict.reason.find(value) != std::string::npos) {
      continue;  // said already
    }
    out += fmt::format("{:18} {}: {}\n", "", printable(key), printable(value));
  }
}

void add_findings(std::string& out, const judge::Judgement& judgement, const TextOptions& options) {
  for (const judge::Verdict& verdict : judgement.verdicts) {
    if (!is_finding(verdict)) {
      continue;
    }
    add_verdict(out, verdict, options);
    if (!verdict.again.empty()) {
      out += fmt::format("{:18} again: {}\n", "", printable(verdict.again));
    }
  }
  for (const std::string& text : judgement.uncovered) {
    out += fmt::format("{} {}\n", status_text(VerdictStatus::error, options), printable(text));
  }
}

void add_ranks(std::string& out, const std::vector<judge::RankSummary>& ranks) {
  constexpr std::size_t kShown = 16;
  if (ranks.empty()) {
    return;
  }
  out += fmt::format("{:>5} {:>5} {:>7}  {:<20} {:<20} {}\n", "rank", "host", "device", "copies",
                     "host copies", "signals");
  for (std::size_t i = 0; i < std::min(kShown, ranks.size()); ++i) {
    const judge::RankSummary& rank = ranks[i];
    out +=
        fmt::format("{:>5} {:>5} {:>7}  {:<20} {:<20} {}\n", rank.rank, rank.host,
                    rank.device < 0 ? "-" : std::to_string(rank.device), counts_text(rank.copies),
                    counts_text(rank.host_copies), counts_text(rank.signals));
  }
  if (ranks.size() > kShown) {
    out += fmt::format("      and {} more ranks\n", ranks.size() - kShown);
  }
}

void add_body(std::string& out, const judge::Judgement& judgement, const TextOptions& options) {
  add_findings(out, judgement, options);
  for (const judge::Observation& observation : judgement.observations) {
    out += fmt::format("seen    {}\n", printable(observation.text));
  }
  for (const std::string& note : judgement.notes) {
    out += fmt::format("note    {}\n", printable(note));
  }
  for (const judge::Verdict& verdict : judgement.verdicts) {
    if (!is_finding(verdict)) {
      add_verdict(out, verdict, options);
    }
  }
  add_ranks(out, judgement.ranks);
}

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  std::string out;
  add_body(out, report.judgement, options);
  out += fmt::format("symmcts {}: exit {}\n", printable(report.verb), report.exit);
  return out;
}

std::string to_text(const ReproReport& report, const TextOptions& options) {
  std::string out;
  if (!report.title.empty()) {
    out += fmt::format("{}: {}\n", printable(report.id), printable(report.title));
  }
  if (!report.source.empty()) {
    out += fmt::format("{}\n", printable(report.source));
  }
  for (const auto& [word, half] :
       {std::pair("before", &report.before), std::pair("after", &report.after)}) {
    const std::vector<std::string> failed = failed_ids(half->judgement);
    std::string ids;
    for (const std::string& id : failed) {
      ids += (ids.empty() ? "" : ", ") + printable(id);
    }
    out += fmt::format("\n-- {}: {}\n", word, failed.empty() ? "nothing fails" : ids + " fail");
    add_body(out, half->judgement, options);
  }
  out += fmt::format("\nsymmcts repro {}: {}, exit {}\n", printable(report.id),
                     report.exit == 0 ? "both halves are as published" : "not as published",
                     report.exit);
  return out;
}

}  // namespace symmcts::report
