#include "harness/recorder/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace symmcts::recorder {
namespace {

int first_number(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    const char* end = text + std::strlen(text);
    int number = 0;
    const auto [parsed, failure] = std::from_chars(text, end, number);
    if (failure == std::errc() && parsed == end && number >= 0) return number;
  }
  return otherwise;
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
  environment.rank = first_number(
      {"SYMMCTS_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}, 0);
  environment.world =
      first_number({"SYMMCTS_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "WORLD_SIZE"}, 1);
  environment.host = first_number({"SYMMCTS_HOST"}, 0);
  if (const char* run = std::getenv("SYMMCTS_RUN")) environment.run = run;
  const char* evidence = std::getenv("SYMMCTS_EVIDENCE");
  if (evidence != nullptr) environment.evidence = with_rank(evidence, environment.rank);
  return environment;
}

}  // namespace symmcts::recorder
