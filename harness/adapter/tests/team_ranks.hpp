#pragma once

#include <functional>
#include <memory>
#include <string>

#include "platform_rank.hpp"
#include "symm_mem/team.hpp"

namespace symmcts::test {

// One rank of a team of the reference, without the harness's interface in between.
class TeamRank {
 public:
  TeamRank(PlatformRank& rank, symm_mem::Exchange& exchange) : rank_(rank), exchange_(exchange) {}

  int me() const { return rank_.context().rank; }
  int size() const { return rank_.context().size; }
  CUstream stream() const { return rank_.stream(); }
  PlatformRank& platform() { return rank_; }

  // What the setup and the platform say; the body may change it before it opens the team.
  symm_mem::TeamOptions& options() { return options_; }
  // Null, with a complaint, where they fail.
  std::unique_ptr<symm_mem::Team> open();
  // Opens and closes at once; what came of it is for the caller to judge.
  symm_mem::Status try_open();
  std::unique_ptr<symm_mem::Block> block(symm_mem::Team& team, std::size_t bytes);

  bool expect(bool ok, const std::string& text) { return rank_.expect(ok, text); }
  bool ok(const symm_mem::Status& status, const std::string& text);
  // Complains unless the status is a failure whose line holds every one of `words`.
  void fails_with(const symm_mem::Status& status, std::initializer_list<const char*> words);
  // Every rank has come this far: through the exchange, without the driver.
  void meet();

  // Device memory that holds `bytes` times `value`, written in order of the stream.
  CUdeviceptr bytes_of(std::uint8_t value, std::size_t bytes);
  void set(CUdeviceptr at, std::uint8_t value, std::size_t bytes);
  // Complains unless `bytes` bytes at `at` hold `value`, after the work of the stream.
  void holds(CUdeviceptr at, std::uint8_t value, std::size_t bytes, const std::string& what);
  // Captures what `body` does on the stream.
  CUgraphExec capture(const std::function<void()>& body);
  void launch(CUgraphExec graph);

 private:
  PlatformRank& rank_;
  symm_mem::Exchange& exchange_;
  symm_mem::TeamOptions options_;
  std::uint64_t meetings_ = 0;
  friend Complaints run_team(int, RankSetup, const std::function<void(TeamRank&)>&);
};

// Runs `body` on each of `ranks` ranks of a machine of their own. `setup.scenario` is the text of a
// scenario, or empty.
Complaints run_team(int ranks, RankSetup setup, const std::function<void(TeamRank&)>& body);

}  // namespace symmcts::test
