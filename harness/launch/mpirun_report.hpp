#pragma once

#include <filesystem>
#include <optional>

#include "harness/launch/command.hpp"

namespace symmcts::launch {

// What mpirun says of the first rank that ended badly.
struct MpirunReport {
  int rank = -1;  // -1: it does not say which
  Exit exit;      // as waitpid would have given it to the rank's own parent
};

// Reads it from how mpirun itself ended and from its stderr; nothing if it ended well or was ended.
std::optional<MpirunReport> read_mpirun_report(const std::filesystem::path& stderr_file,
                                               const Exit& launcher);

// The rank that has printed most of a file into which mpirun has written for all; -1 if none is
// named there.
int loudest_rank(const std::filesystem::path& file);

}  // namespace symmcts::launch
