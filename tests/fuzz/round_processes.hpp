#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/support/unique_fd.hpp"
#include "tests/fuzz/error_log.hpp"
#include "tests/fuzz/journal.hpp"
#include "tests/fuzz/plan.hpp"
#include "tests/fuzz/round.hpp"
#include "tests/scratch_folder.hpp"

namespace symmcts::fuzz {

// The round's processes, seen from their parent.
class Round {
 public:
  // Draws from the seed; starts nothing. `options` must outlive it.
  Round(const Options& options, std::uint64_t seed)
      : options_(options), seed_(seed), plan_(Plan::draw(options, seed)) {}
  ~Round() { end_everything(); }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  // What play_round() does.
  Outcome play(Tally& tally);

 private:
  using Clock = std::chrono::steady_clock;
  struct Rank {
    pid_t pid = -1;
    Page* page = nullptr;
    bool ended = false, killed = false;
    int status = 0;
    std::uint64_t seen = 0;  // lines of the journal, and since when there has been no other
    Clock::time_point since = Clock::now();
  };

  // round.cpp
  bool prepare();
  void start(int rank, const std::array<UniqueFd, 2>& ends, int errors);
  void check_end();
  void end_everything();
  // watching.cpp
  void watch();
  void reap();
  void look_at(Rank& rank, int number);
  void complain(const std::string& what) { wrong_.push_back(what); }
  void kill_rank(Rank& rank);
  bool impatient_since(Clock::time_point begin) const {
    return Clock::now() - begin >= std::chrono::duration<double>(options_.patience);
  }

  const Options& options_;
  const std::uint64_t seed_;
  const Plan plan_;
  test::ScratchFolder folder_{"symmcts-fuzz-"};
  ErrorLog errors_;
  std::vector<Rank> ranks_;
  std::vector<std::string> wrong_;
  std::size_t kills_ = 0, standstills_ = 0;
  bool childless_ = false;
  Clock::time_point last_end_ = Clock::now();  // of a rank
};

}  // namespace symmcts::fuzz
