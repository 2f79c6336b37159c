#pragma once

#include <optional>
#include <string>
#include <vector>

namespace symmcts::sweep {

// What befalls one call.
enum class Mode { fail, not_ready, kill, stop };
inline constexpr Mode kModes[] = {Mode::fail, Mode::not_ready, Mode::kill, Mode::stop};
const char* mode_name(Mode mode);

// So many ranks, each with the GPU of its number, on one host of a machine.
struct Place {
  std::string platform;
  int ranks = 2;
};

// One call of the rendezvous: which call of the function it is on its rank, counted from cuInit.
struct RankCall {
  int rank = 0;
  std::string function;  // without version suffix
  int number = 1;
};

struct SweepCase {
  Place place;
  RankCall call;
  Mode mode = Mode::fail;

  bool takes_rank() const { return mode == Mode::kill || mode == Mode::stop; }
  // Whether the call gives something back: if it fails, that stays, and nobody can help it.
  bool gives_back() const;
  // "gb200-nvl2:2:1:cuMemMap:3:stop", for a command line; and back.
  std::string name() const;
  static std::optional<SweepCase> parse(const std::string& name);
  // The scenario, with one slot for multicast objects: one that leaked would be missed.
  std::string scenario() const;
};

// The calls of a rank between the lines kWindowBegin and kWindowEnd of its trace (SYMMCTS_TRACE),
// without those that no scenario can reach. Nothing where a line is missing.
inline constexpr char kWindowBegin[] = "sweep: rendezvous begins";
inline constexpr char kWindowEnd[] = "sweep: rendezvous ends";
std::vector<RankCall> calls_of_trace(int rank, const std::string& trace);

}  // namespace symmcts::sweep
