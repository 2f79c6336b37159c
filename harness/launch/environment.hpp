#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/launch/request.hpp"
#include "harness/launch/run_directory.hpp"
#include "harness/support/result.hpp"

namespace symmcts::launch {

using Variables = std::map<std::string, std::string>;

// The environment of this process, read once. The only place in launch/ and cli/ that reads it.
Variables read_environment();

// Where run directories go: TMPDIR, else /tmp, as an absolute path. An Error, which names the
// variable and its value, where no run directory can be made there or where the sockets in one
// would have paths that are too long: nobody's files go elsewhere than they were told to.
Result<std::filesystem::path> find_scratch(const Variables& host);

// What the children of a unit get, and what was done to the user's own variables.
struct ChildEnvironment {
  Variables common;
  std::vector<std::string> removed;  // multicast-disabling variables taken away
  std::vector<std::string> set;      // ... or set
};

// The environment common to broker, launcher and ranks. On the software platform the variables
// that disable multicast are removed, but only if `real_driver` (what shows a real driver on this
// host, or empty) is empty; on the system's driver all four are set unless the user allowed
// multicast and none of them forbids it (design, section 3).
ChildEnvironment child_environment(const Variables& host, const UnitRequest& request,
                                   const RunDirectory& directory, const std::string& real_driver);

// What one rank gets on top: its seat, and the file that its evidence goes to. `with_rank` false:
// the launcher tells the rank who it is.
Variables rank_variables(const UnitRequest& request, const RunDirectory& directory,
                         const Seat& seat, bool with_rank);

// Raw evidence of a rank, as the recorder writes it.
std::filesystem::path raw_evidence(const RunDirectory& directory, int rank);

// NAME=value for each, sorted.
std::vector<std::string> flatten(const Variables& variables);

}  // namespace symmcts::launch
