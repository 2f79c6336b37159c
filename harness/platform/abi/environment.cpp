#include "harness/platform/abi/environment.hpp"

#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "harness/platform/abi/symmcts_platform.h"
#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/profile.hpp"
#include "harness/support/loaded_from.hpp"
#include "harness/support/whole_number.hpp"

namespace symmcts::platform::abi {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The first of the variables that is set and not empty; none: the default stays.
template <typename T>
Status number(std::initializer_list<const char*> names, T most, T& out) {
  for (const char* name : names) {
    const std::string value = text(name);
    if (!value.empty()) return read_whole_number<T>(name, value, 0, most, out);
  }
  return {};
}

}  // namespace

Result<Environment> read_environment() {
  Environment out;
  out.join.profile = text("SYMMCTS_PLATFORM");
  if (out.join.profile.empty()) out.join.profile = "gb200-nvl2";
  out.join.race_check = text("SYMMCTS_RACE_CHECK") != "0";
  out.join.machine = text("SYMMCTS_MACHINE");
  out.join.scenario = text("SYMMCTS_SCENARIO");
  out.join.broker_program = text("SYMMCTS_BROKER");
  if (out.join.broker_program.empty()) {
    out.join.broker_program = folder_of_library(reinterpret_cast<void*>(&symmcts_platform_abi)) +
                              "/../bin/symmcts-broker";
  }
  for (const Status& status :
       {number({"SYMMCTS_HOST"}, kMostHosts - 1, out.join.host),
        number({"SYMMCTS_SEED"}, std::numeric_limits<std::uint64_t>::max(), out.join.seed),
        number({"SYMMCTS_RANK", "OMPI_COMM_WORLD_RANK"}, kMaxRank, out.join.rank)}) {
    if (!status) return Error{status.error()};
  }
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) out.visible_devices = visible;
  out.injection = text("CUDA_INJECTION64_PATH");
  if (out.injection == "none") out.injection.clear();  // used in practice for "no library"
  return out;
}

bool trace_wanted() {
  const std::string value = text("SYMMCTS_TRACE");
  return !value.empty() && value != "0";
}

}  // namespace symmcts::platform::abi
