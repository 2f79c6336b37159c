#include "harness/cli/compare.hpp"

#include <algorithm>

#include "harness/report/report.hpp"

namespace symmcts::cli {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "nothing" : text;
}

std::string listed(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text.empty() ? "none" : text;
}

std::string listed(const std::map<std::string, std::int64_t>& kinds) {
  std::vector<std::string> words;
  for (const auto& [kind, count] : kinds) words.push_back(std::to_string(count) + " " + kind);
  return listed(words);
}

const judge::Verdict* find(const judge::Judgement& judgement, const std::string& id) {
  for (const judge::Verdict& verdict : judgement.verdicts) {
    if (verdict.id == id) return &verdict;
  }
  return nullptr;
}

// The ranks that the failure of `id` was published to name; null where nothing was.
const std::vector<int>* named_by(const Published& published, const std::string& id) {
  auto at = published.named.find(id);
  if (at == published.named.end()) at = published.named.find("");
  return at == published.named.end() ? nullptr : &at->second;
}

}  // namespace

std::vector<std::string> differences(const std::string& half, const Published& published,
                                     const std::vector<std::string>& requirements,
                                     const SuiteResult& result) {
  std::vector<std::string> lines;
  const judge::Judgement& judgement = result.judgement;
  const auto differs = [&](const std::string& what) { lines.push_back(half + ": " + what); };

  const std::vector<std::string> failed = report::failed_ids(judgement);
  if (failed != published.failed) {
    differs("published to fail: " + listed(published.failed) + "; failed: " + listed(failed));
  }
  for (const std::string& id : requirements) {
    const judge::Verdict* verdict = find(judgement, id);
    const bool fails =
        std::find(published.failed.begin(), published.failed.end(), id) != published.failed.end();
    if (verdict == nullptr) {
      differs(id + " was not judged");
    } else if (const std::vector<int>* named = fails ? named_by(published, id) : nullptr;
               named != nullptr && verdict->ranks != *named) {
      differs(id + " names ranks " + listed(verdict->ranks) + ", published " + listed(*named));
    } else if (published.failed.empty() && verdict->status != judge::VerdictStatus::pass) {
      differs(id + " is " + judge::name(verdict->status) + ": " + verdict->reason);
    }
  }
  if (published.copies) {
    std::vector<std::map<std::string, std::int64_t>> copies(published.copies->size());
    for (const judge::RankSummary& rank : judgement.ranks) {
      const auto index = static_cast<std::size_t>(rank.rank);
      if (rank.rank >= 0 && index < copies.size()) copies[index] = rank.copies;
    }
    for (std::size_t rank = 0; rank < copies.size(); ++rank) {
      if (copies[rank] == (*published.copies)[rank]) continue;
      differs("rank " + std::to_string(rank) + " copies " + listed(copies[rank]) + ", published " +
              listed((*published.copies)[rank]));
    }
  }
  const auto hung = std::find_if(result.units.begin(), result.units.end(),
                                 [](const auto& unit) { return unit.end == launch::End::hang; });
  if (published.hang && (hung != result.units.end()) != *published.hang) {
    differs(hung != result.units.end() ? "hangs, which was not published: " + hung->text
                                       : "does not hang, as was published");
  }
  return lines;
}

}  // namespace symmcts::cli
