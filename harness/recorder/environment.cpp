#include "harness/recorder/environment.hpp"

#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "harness/support/whole_number.hpp"

namespace symmcts::recorder {
namespace {

// The first of the variables that is set and not empty decides, and must hold a number: another
// one would name another rank.
void first_number(std::initializer_list<const char*> names, int least, int& out,
                  std::string& problem) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    const Status read = read_whole_number(name, text, least, std::numeric_limits<int>::max(), out);
    if (!read && problem.empty()) problem = read.error();
    return;
  }
}

std::string with_rank(std::string path, int rank) {
  const std::string number = std::to_string(rank);
  for (std::size_t at = path.find("%r"); at != std::string::npos;
       at = path.find("%r", at + number.size())) {
    path.replace(at, 2, number);
  }
  return path;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  std::string& problem = environment.problem;
  first_number({"SYMMCTS_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}, 0,
               environment.rank, problem);
  first_number({"SYMMCTS_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "WORLD_SIZE"}, 1,
               environment.world, problem);
  first_number({"SYMMCTS_HOST"}, 0, environment.host, problem);
  if (const char* run = std::getenv("SYMMCTS_RUN")) environment.run = run;
  const char* evidence = std::getenv("SYMMCTS_EVIDENCE");
  environment.evidence_named = evidence != nullptr;
  if (evidence != nullptr) environment.evidence = with_rank(evidence, environment.rank);
  return environment;
}

}  // namespace symmcts::recorder
