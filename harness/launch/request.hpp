#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/launch/placement.hpp"

namespace symmcts::launch {

enum class Launcher {
  fork,    // the reaper starts each rank; ranks talk over Unix sockets
  mpirun,  // the reaper starts one mpirun; ranks talk over MPI
};

// The programs and folders that a unit needs. Absolute paths, but for mpirun.
struct Programs {
  std::filesystem::path rank;      // symmcts-rank
  std::filesystem::path broker;    // symmcts-broker
  std::filesystem::path recorder;  // libsymmcts_recorder.so
  std::filesystem::path platform;  // folder of the platform's libcuda.so.1
  std::filesystem::path profiles;  // folder of the platform profiles
  std::string mpirun = "mpirun";
};

// When a unit counts as hung, and how it is ended. Its start counts for neither of the first two.
struct Patience {
  std::chrono::milliseconds stall{120'000};   // no line of evidence, no exit, for so long
  std::chrono::milliseconds total{900'000};   // the whole unit
  std::chrono::milliseconds start{120'000};   // broker, and then ranks until their first line
  std::chrono::milliseconds survivors{2000};  // what the others get after one has failed
  std::chrono::milliseconds terminate{2000};  // between SIGTERM and SIGKILL
  std::uint64_t output_limit = 64u << 20;     // bytes that one program may print, a stream
  std::uint64_t evidence_limit = 128u << 20;  // bytes of evidence that one rank may leave
};

// One unit: one case, run once by all ranks, in processes of its own.
struct UnitRequest {
  Programs programs;
  bool software = true;  // on the software platform; else on the system's driver
  std::string platform;  // profile name or file; software only
  Launcher launcher = Launcher::fork;
  std::vector<std::string> launch_args;  // passed to mpirun
  std::vector<Seat> seats;
  int root_ordinal = 0;
  bool one_visible_gpu = false;
  bool allow_multicast = false;  // the user's word; on a real driver only
  std::string implementation;
  std::string unit;                    // "Area.Case"
  std::vector<std::string> ids;        // requirements that it exercises
  std::vector<std::string> rank_args;  // further arguments of the rank program
  std::uint64_t seed = 0;
  bool race_check = true;          // the machine looks for races; software only
  std::filesystem::path scenario;  // empty: none
  std::filesystem::path out;       // output folder, absolute; exists
  std::filesystem::path scratch;   // where the run directory goes; of find_scratch()
  Patience patience;
};

}  // namespace symmcts::launch
