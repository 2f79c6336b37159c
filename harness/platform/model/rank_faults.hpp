#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/platform/model/toml_reader.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// Something that goes wrong on one rank at one point of its own way through the program: before or
// after a call, or when it begins a phase. Counted by the rank itself, so that the point does not
// depend on what other ranks do meanwhile.
struct RankFault {
  enum class Kind : std::uint8_t {
    fail,   // the call does nothing and returns `code`
    stall,  // the call takes `ns` more of the host's virtual time
    kill,   // SIGKILL
    stop,   // SIGSTOP
  };
  enum class When : std::uint8_t { before, after, phase };

  Kind kind = Kind::fail;
  int rank = 0;
  When when = When::before;
  std::string at;            // name of a driver function without version suffix, or of a phase
  std::uint64_t number = 1;  // which call of it, or which beginning of it, counted from 1
  std::uint64_t times = 1;   // of fail and stall: so many calls in a row
  int code = 0;              // of fail: a CUresult
  Ns ns = 0;                 // of stall
  std::string entry;         // where the scenario says so: "fail[0]"

  // Whether the call (or phase) with that number is one that it is for.
  bool is_for(std::uint64_t count) const { return count >= number && count - number < times; }
};

// "fail", "stall", "kill", "stop".
const char* kind_name(RankFault::Kind kind);
// For people: "rank 1: cuMemMap, call 2, fails with CUDA_ERROR_SYSTEM_NOT_READY (802)". `number`:
// of the call that it befell, or 0 for the fault as the scenario has it.
std::string fault_text(const RankFault& fault, std::uint64_t number = 0);

// Reads the tables [[fail]], [[stall]], [[kill]] and [[stop]] of a scenario file, in this order.
// README.md lists their keys.
std::vector<RankFault> read_rank_faults(TomlReader& reader, const toml::table& file);

}  // namespace symmcts::platform
