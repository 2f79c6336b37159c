#pragma once

#include <filesystem>
#include <string>

#include "harness/launch/run_directory.hpp"
#include "harness/launch/unit_result.hpp"

namespace symmcts::launch {

inline constexpr char kBrokerName[] = "broker";  // as commands.cpp calls them
inline constexpr char kLauncherName[] = "mpirun";

// Where the stderr of a program of ours is kept while the unit runs.
std::filesystem::path stderr_of(const Program& program, const RunDirectory& directory);

// The last line on a program's stderr that says something, without what differs from run to run; of
// a launcher's, which holds those of all ranks, the last one of that rank (-1: of any). With
// `word`: what stands after it in the last line that holds it. Empty: there is none.
std::string last_words(const Program& program, const RunDirectory& directory, int rank = -1,
                       const std::string& word = {});

// `text`, and after a colon the last words, if there are any.
std::string with_last_words(const std::string& text, const Program& program,
                            const RunDirectory& directory, int rank = -1);

}  // namespace symmcts::launch
