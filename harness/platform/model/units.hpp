#pragma once

#include <cstdint>

namespace symmcts::platform {

// Virtual nanoseconds since the machine was started.
using Ns = std::uint64_t;
inline constexpr Ns kNever = ~Ns{0};

// The driver's result numbers (cuda.h: CUresult), under names of our own, so that the model needs
// no CUDA header. abi/ checks at compile time that the numbers agree.
enum class Code : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  invalid_device = 101,
  invalid_context = 201,
  illegal_state = 401,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  not_permitted = 800,
  not_supported = 801,
  system_not_ready = 802,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  unknown = 999,
};

// Handle types, a bit mask with the numbers of cuda.h:CUmemAllocationHandleType.
inline constexpr std::uint32_t kHandlePosixFd = 1;
inline constexpr std::uint32_t kHandleFabric = 8;

}  // namespace symmcts::platform
