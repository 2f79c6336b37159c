#include "harness/launch/blame.hpp"

#include <signal.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "harness/launch/last_words.hpp"
#include "harness/launch/mpirun_report.hpp"

namespace symmcts::launch {
namespace {

// What terminate() prints of an exception that nobody caught.
constexpr char kUncaught[] = "what():  ";

// Ends that a supervisor learns of within so long may have come in another order.
constexpr std::chrono::milliseconds kTogether{500};

bool is_of_the_processor(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

std::string name_of(int rank) { return rank < 0 ? "a rank" : "rank " + std::to_string(rank); }

const RankState* state_of(const UnitResult& result, int rank) {
  for (const RankState& state : result.ranks) {
    if (state.rank == rank) return &state;
  }
  return nullptr;
}

// A rank whose evidence says why it ends.
Fault by_its_word(const UnitResult& result, const RankState& state) {
  Fault fault;
  fault.rank = state.rank;
  const bool threw = state.gave_up == GaveUp::threw;
  if (threw) fault.whose = Fault::Whose::implementation;
  if (state.gave_up == GaveUp::lost_peer) {
    fault.whose = Fault::Whose::other_rank;
    fault.lost = state.lost;
  }
  fault.text = name_of(state.rank) + (threw ? " threw" : " gave up") +
               in_phase(result, state.rank) + ": " + state.gave_up_text;
  return fault;
}

Fault by_signal(const RunDirectory& directory, const UnitResult& result, const Program& program,
                int rank, const Exit& exit) {
  Fault fault;
  fault.whose = Fault::Whose::implementation;
  fault.rank = rank;
  fault.killed = exit.value == SIGKILL;
  fault.text = name_of(rank) + " " + describe(exit) + in_phase(result, rank);
  if (exit.value == SIGABRT) {
    const std::string uncaught = last_words(program, directory, rank, kUncaught);
    if (!uncaught.empty()) fault.text += ": " + uncaught;
  }
  return fault;
}

// A rank that ended by itself and did not say why.
Fault by_exit(const RunDirectory& directory, const UnitResult& result, const Program& program,
              int rank, const Exit& exit) {
  const RankState* state = state_of(result, rank);
  const bool ran = state != nullptr && state->implementation_ran();
  const bool began = state != nullptr && state->header;
  Fault fault;
  fault.rank = rank;
  if (ran || (began && exit.value != kRankRefused)) fault.whose = Fault::Whose::implementation;
  fault.text = name_of(rank) + " " + describe(exit) + (ran ? " before the end" : "") +
               in_phase(result, rank);
  fault.text = with_last_words(fault.text, program, directory, rank);
  return fault;
}

// The fault of a rank that ended so; `program` is itself, or the launcher that tells of it.
Fault fault_of(const RunDirectory& directory, const UnitResult& result, const Program& program,
               int rank, const Exit& exit) {
  const RankState* state = state_of(result, rank);
  Fault fault = exit.signaled ? by_signal(directory, result, program, rank, exit)
                : state != nullptr && state->gave_up != GaveUp::no
                    ? by_its_word(result, *state)
                    : by_exit(directory, result, program, rank, exit);
  fault.order = program.order;
  fault.at = program.at;
  fault.processor = exit.signaled && is_of_the_processor(exit.value);
  return fault;
}

std::optional<Fault> told_by_mpirun(const RunDirectory& directory, const UnitResult& result,
                                    const Program& launcher) {
  std::optional<MpirunReport> report =
      read_mpirun_report(stderr_of(launcher, directory), launcher.exit);
  if (!report) return std::nullopt;
  for (const RankState& state : result.ranks) {
    if (report->rank < 0 && state.header && !state.footer) report->rank = state.rank;
  }
  // A code without a name is the launcher's own, a signal without a name some rank's.
  if (report->rank < 0 && !report->exit.signaled) return std::nullopt;
  Fault fault = fault_of(directory, result, launcher, report->rank, report->exit);
  fault.told = report->exit;
  return fault;
}

}  // namespace

bool is_victim(const UnitResult& result, int rank) {
  return std::any_of(result.victims.begin(), result.victims.end(),
                     [rank](const Victim& victim) { return victim.rank == rank; });
}

std::string in_phase(const UnitResult& result, int rank) {
  const RankState* state = state_of(result, rank);
  return state == nullptr || state->phase.empty() ? std::string() : " in phase " + state->phase;
}

std::vector<Fault> read_faults(const RunDirectory& directory, const UnitResult& result) {
  std::vector<Fault> faults;
  for (const Program& program : result.programs) {
    if (!program.ended || !program.exit.known) continue;
    if (program.rank >= 0 && is_victim(result, program.rank)) continue;
    if (program.name == kLauncherName) {
      const auto told = told_by_mpirun(directory, result, program);
      if (told && !is_victim(result, told->rank)) faults.push_back(*told);
    } else if (program.rank >= 0) {
      const RankState* state = state_of(result, program.rank);
      const bool finished = state != nullptr && state->finished();
      if (program.exit.clean() && (finished || state == nullptr || !state->implementation_ran())) {
        continue;  // done, or nothing that its implementation could have done
      }
      faults.push_back(fault_of(directory, result, program, program.rank, program.exit));
    }
  }
  // Of ranks whose end nobody has seen the evidence can still tell. One that was ended because
  // another had failed may also have got as far as its footer. A launcher that ends well says that
  // all ranks have ended by themselves.
  const bool all_ended = std::any_of(
      result.programs.begin(), result.programs.end(),
      [](const Program& program) { return program.name == kLauncherName && program.exit.clean(); });
  const bool explained = std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
    return fault.whose == Fault::Whose::implementation;
  });
  for (const RankState& state : result.ranks) {
    const bool known = std::any_of(faults.begin(), faults.end(),
                                   [&](const Fault& fault) { return fault.rank == state.rank; });
    if (known || state.finished() || is_victim(result, state.rank)) continue;
    Fault fault;
    if (state.gave_up != GaveUp::no) {
      fault = by_its_word(result, state);
    } else if ((state.footer || all_ended) && state.implementation_ran() && !explained) {
      fault.whose = Fault::Whose::implementation;
      fault.rank = state.rank;
      fault.text = name_of(state.rank) + " exited before the end" + in_phase(result, state.rank);
    } else {
      continue;
    }
    fault.order = std::numeric_limits<int>::max();
    faults.push_back(std::move(fault));
  }
  std::stable_sort(faults.begin(), faults.end(),
                   [](const Fault& a, const Fault& b) { return a.order < b.order; });
  const auto cause = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.processor && fault.at - faults.front().at <= kTogether;
  });
  if (cause != faults.end()) std::rotate(faults.begin(), cause, cause + 1);
  return faults;
}

}  // namespace symmcts::launch
