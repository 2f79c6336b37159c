#include "conformance/cases/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace symmcts::cases {
namespace {

template <typename Number>
Number number_of(const char* name, Number otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view view(text);
  Number number{};
  const auto [end, failure] = std::from_chars(view.data(), view.data() + view.size(), number);
  return failure == std::errc() && end == view.data() + view.size() ? number : otherwise;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  environment.rank = number_of("SYMMCTS_RANK", -1);
  environment.size = number_of("SYMMCTS_SIZE", -1);
  environment.seed = number_of("SYMMCTS_SEED", std::uint64_t{0});
  const char* directory = std::getenv("SYMMCTS_RUN_DIR");
  if (directory != nullptr) environment.run_directory = directory;
  return environment;
}

}  // namespace symmcts::cases
