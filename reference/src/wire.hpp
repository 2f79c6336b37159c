#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "symm_mem/exchange.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// Values one after the other, in the byte order of the machine: all ranks of a group are of one
// kind, since they share device memory.
class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  void put_bytes(std::span<const std::byte> value) {
    put(static_cast<std::uint64_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void put_text(const std::string& value) { put_bytes(std::as_bytes(std::span(value))); }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// Reads what a Writer wrote. A record that is too short makes ok() false and every later value
// zero.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (rest_.size() < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  Bytes get_bytes() {
    const auto size = get<std::uint64_t>();
    if (!ok_ || rest_.size() < size) {
      ok_ = false;
      return {};
    }
    Bytes value(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(size));
    rest_ = rest_.subspan(size);
    return value;
  }
  std::string get_text() {
    const Bytes bytes = get_bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  bool ok() const { return ok_; }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

// A status as a message carries it.
void put_status(Writer& writer, const Status& status);
Status get_status(Reader& reader);

}  // namespace symm_mem
