#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace symmcts::cli {

// What the command line says, for every verb that starts ranks.
struct Placement {
  std::string platform;  // name, file or "system"; empty: the verb's default
  std::string launcher = "fork";
  std::vector<std::string> launch_args;
  int root_ordinal = 0;
  bool one_visible_gpu = false;
  bool allow_multicast = false;
  double stall_seconds = 120;  // without anything moving; from 1 on
  double unit_seconds = 900;   // for one unit, its start not counted; from 1 on
};

struct RunOptions {
  Placement placement;
  std::string implementation = "reference";
  int ranks = 2;
  std::string profile;  // empty: the default of the machine
  std::string filter;
  std::string scenario;  // name or file, for every case; empty: those of the profile
  std::uint64_t seed = 1;
  std::string seeds;       // "A..B": one run a seed; empty: only `seed`
  bool race_check = true;  // on the software platform
  std::string out = "symmcts-out";
  bool json = false;
};

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> ranks;  // FILE=N
  std::vector<std::string> required;
  bool json = false;
};

struct ReproOptions {
  Placement placement;
  std::string id;
  std::uint64_t seed = 1;
  std::string out = "symmcts-out";
  bool json = false;
};

struct SelftestOptions {
  Placement placement;
  std::uint64_t seed = 1;
  std::string out = "symmcts-out";
  bool json = false;
};

struct ListOptions {
  std::string what;
  bool platform = false;  // of facts: the platform's standing, which is all there is so far
};

}  // namespace symmcts::cli
