#include "conformance/cases/environment.hpp"

#include <cstdlib>
#include <limits>

#include "harness/support/whole_number.hpp"

namespace symmcts::cases {
namespace {

template <typename Number>
Status number_of(const char* name, Number least, Number& out) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return {};
  return read_whole_number(name, text, least, std::numeric_limits<Number>::max(), out);
}

}  // namespace

Result<Environment> read_environment() {
  Environment environment;
  for (const Status& read : {number_of("SYMMCTS_RANK", 0, environment.rank),
                             number_of("SYMMCTS_SIZE", 1, environment.size),
                             number_of("SYMMCTS_SEED", std::uint64_t{0}, environment.seed)}) {
    if (!read) return Error{read.error()};
  }
  const char* directory = std::getenv("SYMMCTS_RUN_DIR");
  if (directory != nullptr) environment.run_directory = directory;
  return environment;
}

}  // namespace symmcts::cases
