// The fault sweep of the reference: for every driver call of a rendezvous, on every rank, what
// becomes of it if that call fails, is not ready once, or if its rank is killed or stopped before
// it. In each case the ranks that are left must come to the same verdict, be able to share memory
// afterwards, and have given everything back.
//
// The calls are those of a clean rendezvous that is recorded first, so the sweep follows the code.
//
//   fault_sweep [--all] [--seed N] [CASE...]
//
// Without --all a tenth of the cases, drawn by the seed. CASE: that one alone, as it is printed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/support/whole_number.hpp"
#include "sweep_machine.hpp"

namespace symmcts::sweep {
namespace {

const std::vector<Place>& places() {
  // By FABRIC handles and by descriptors; with more than one peer by descriptors, which travel
  // between any two ranks.
  static const std::vector<Place> list{{"gb200-nvl2", 2}, {"hgx-h200", 2}, {"hgx-h200", 4}};
  return list;
}

struct Recorded {
  Place place;
  std::vector<RankCall> calls;
  std::multiset<std::string> left;
};

std::string clean(const Place& place, Recorded& out) {
  const SweepOutcome outcome = run_once(place, std::nullopt, true);
  if (!outcome.problem.empty()) return outcome.problem;
  if (!outcome.wrong.empty()) return outcome.wrong.front();
  out.place = place;
  out.left = outcome.left;
  for (int rank = 0; rank < place.ranks; ++rank) {
    const auto verdict = outcome.verdicts.find(rank);
    if (verdict == outcome.verdicts.end() || verdict->second != "multicast") {
      return "rank " + std::to_string(rank) + " has no multicast";
    }
    const auto calls = calls_of_trace(rank, outcome.traces.at(rank));
    if (calls.empty()) return "rank " + std::to_string(rank) + " recorded no call";
    out.calls.insert(out.calls.end(), calls.begin(), calls.end());
  }
  return {};
}

// What is wrong with how a case came out.
std::vector<std::string> judge(const SweepCase& each, const Recorded& recorded,
                               const SweepOutcome& outcome) {
  std::vector<std::string> wrong = outcome.wrong;
  if (!outcome.problem.empty()) wrong.push_back(outcome.problem);
  if (outcome.befell.size() != 1) {
    wrong.push_back("the fault befell " + std::to_string(outcome.befell.size()) + " times");
  }
  std::set<std::string> verdicts;
  std::string all;
  for (const auto& [rank, verdict] : outcome.verdicts) {
    verdicts.insert(verdict);
    all += "\n      rank " + std::to_string(rank) + ": " + verdict;
  }
  if (verdicts.size() != 1) wrong.push_back("the ranks do not agree:" + all);
  // Whoever was taken away is named. (Of a handle type that fails on one rank while the team is
  // opened, the reference says only that none works on all.)
  const std::string name = "rank " + std::to_string(each.call.rank);
  for (const std::string& verdict : verdicts) {
    if (each.takes_rank() && verdict.find(name) == std::string::npos) {
      wrong.push_back("does not name " + name + ": " + verdict);
    }
  }
  if (each.gives_back()) return wrong;
  std::multiset<std::string> left = outcome.left;
  for (const std::string& usual : recorded.left) {
    const auto at = left.find(usual);
    if (at != left.end()) left.erase(at);
  }
  for (const std::string& more : left) wrong.push_back(more + " left at exit");
  return wrong;
}

std::vector<SweepCase> cases_of(const Recorded& recorded) {
  std::vector<SweepCase> cases;
  for (const RankCall& call : recorded.calls) {
    for (const Mode mode : kModes) cases.push_back({recorded.place, call, mode});
  }
  return cases;
}

struct Options {
  bool all = false;
  std::uint64_t seed = 1;
  std::vector<std::string> names;
};

std::string read_options(int argc, char** argv, Options& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--all") {
      out.all = true;
    } else if (word == "--seed") {
      const std::string value = i + 1 < argc ? argv[++i] : "";
      const Status read = read_whole_number<std::uint64_t>("--seed", value, 0, ~0ull, out.seed);
      if (!read) return read.error();
    } else if (word.starts_with("-")) {
      return "no such option: " + word;
    } else {
      out.names.push_back(word);
    }
  }
  return {};
}

// Which of `cases` run.
std::string choose(const Options& options, std::vector<SweepCase>& cases) {
  if (!options.names.empty()) {
    std::vector<SweepCase> chosen;
    for (const std::string& name : options.names) {
      const auto at = std::find_if(cases.begin(), cases.end(),
                                   [&](const SweepCase& each) { return each.name() == name; });
      if (at == cases.end()) return "no such case: " + name;
      chosen.push_back(*at);
    }
    cases = std::move(chosen);
  } else if (!options.all) {
    // Not std::shuffle: that may draw otherwise with another library.
    std::mt19937_64 draw(options.seed);
    for (std::size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[draw() % i]);
    cases.resize((cases.size() + 9) / 10);
  }
  return {};
}

int sweep(const Options& options) {
  std::vector<Recorded> recorded;
  std::vector<SweepCase> cases;
  for (const Place& place : places()) {
    Recorded one;
    if (const std::string why = clean(place, one); !why.empty()) {
      std::fprintf(stderr, "fault_sweep: %s, %d ranks, undisturbed: %s\n", place.platform.c_str(),
                   place.ranks, why.c_str());
      return 1;
    }
    std::printf("%s, %d ranks: %zu calls\n", place.platform.c_str(), place.ranks, one.calls.size());
    const auto more = cases_of(one);
    cases.insert(cases.end(), more.begin(), more.end());
    recorded.push_back(std::move(one));
  }
  const std::size_t total = cases.size();
  if (const std::string why = choose(options, cases); !why.empty()) {
    std::fprintf(stderr, "fault_sweep: %s\n", why.c_str());
    return 2;
  }
  std::printf("%zu cases, of which %zu run (seed %llu)\n", total, cases.size(),
              static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  std::size_t failed = 0;
  for (const SweepCase& each : cases) {
    const auto of = std::find_if(recorded.begin(), recorded.end(), [&](const Recorded& one) {
      return one.place.platform == each.place.platform && one.place.ranks == each.place.ranks;
    });
    const auto wrong = judge(each, *of, run_once(each.place, each, false));
    if (wrong.empty()) continue;
    ++failed;
    std::printf("FAILED %s\n", each.name().c_str());
    for (const std::string& line : wrong) std::printf("    %s\n", line.c_str());
    std::fflush(stdout);
  }
  std::printf("%zu of %zu cases failed\n", failed, cases.size());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace symmcts::sweep

int main(int argc, char** argv) {
  symmcts::sweep::Options options;
  if (const std::string why = symmcts::sweep::read_options(argc, argv, options); !why.empty()) {
    std::fprintf(stderr, "fault_sweep: %s\n", why.c_str());
    return 2;
  }
  return symmcts::sweep::sweep(options);
}
