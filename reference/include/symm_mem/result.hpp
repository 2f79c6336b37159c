#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace symm_mem {

// Where in the life of a team or a block a call was made. The order is the order of the rendezvous.
enum class Phase : std::uint8_t {
  open,
  allocate,
  layout,
  export_memory,
  import_memory,
  map_peers,
  create_multicast,
  share_multicast,
  import_multicast,
  add_device,
  bind,
  map_multicast,
  release_create,
  probe,
  retry,
  ready,
  use,
  teardown,
};

// The phase as reports show it: "allocate", "import", "add-device", "bind", "map", ...
std::string_view phase_name(Phase phase);

// Why something failed. `rank` is the exchange rank on which it failed, the same on every rank once
// the ranks have voted; `code` is CUDA_SUCCESS where no driver call was at fault.
struct Error {
  std::string call{};
  CUresult code = CUDA_SUCCESS;
  int rank = -1;
  Phase phase = Phase::open;
  std::string text{};

  // All of it in one line, for people.
  std::string line() const;
};

// Success, or the Error that prevented it.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  // Precondition: the status is a failure.
  const Error& error() const { return *error_; }
  Error& error() { return *error_; }

 private:
  std::optional<Error> error_;
};

// A value, or the Error that stands in its place.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  // Precondition of value() and take(): the result holds one; of error(): it does not.
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T take() { return std::move(std::get<0>(state_)); }
  const Error& error() const { return std::get<1>(state_); }
  Status status() const { return *this ? Status() : Status(error()); }

 private:
  std::variant<T, Error> state_;
};

// Turns a driver call's code into a Status that names the call and the phase.
Status check(CUresult code, const char* call, Phase phase);

// Whether another try may succeed: SYSTEM_NOT_READY alone says so, when the fabric manager has not
// answered yet. Every other code is permanent (SM-RETRY-2): 401, 800, 801 and 1 have been reported
// for hours (pytorch#177472, nccl#1488).
inline bool is_transient(const Error& error) { return error.code == CUDA_ERROR_SYSTEM_NOT_READY; }

// Keeps the first failure of several calls that must all be made.
inline void keep_first(Status& first, Status next) {
  if (first && !next) first = std::move(next);
}

}  // namespace symm_mem
