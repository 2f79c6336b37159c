#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "harness/platform/model/units.hpp"

namespace symmcts::platform::abi {

// Whether SYMMCTS_TRACE asks for a line a call.
bool tracing();

// One driver call as a line of the trace:
//   symm-cts trace: rank 0 t=1000..34700 cuMemCreate(handle=0x7ffd, size=2097152, ...) = 0
// t is the host clock before and after. Numbers of 32 bits and less are decimal, longer ones and
// pointers hexadecimal, structures passed by value "{}".
class TraceLine {
 public:
  explicit TraceLine(const char* elf) : text_(std::string(elf) + '(') {}

  template <typename T>
  void put(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, const char*>) {
      put_text(name, value);
    } else if constexpr (std::is_pointer_v<T>) {
      put_address(name, reinterpret_cast<std::uintptr_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      put_signed(name, static_cast<long long>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      put_real(name, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<T>) {
      put_signed(name, value);
    } else if constexpr (std::is_integral_v<T>) {
      put_unsigned(name, value);
    } else {
      put_plain(name, "{}");
    }
  }

  // Writes the line to stderr, whole, whatever other threads write.
  void print(int rank, Ns before, Ns after, int result) const;

 private:
  void put_plain(const char* name, const std::string& value);
  void put_text(const char* name, const char* value);
  void put_address(const char* name, std::uintptr_t value);
  void put_unsigned(const char* name, unsigned long long value);
  void put_signed(const char* name, long long value);
  void put_real(const char* name, double value);

  std::string text_;
  bool empty_ = true;
};

}  // namespace symmcts::platform::abi
