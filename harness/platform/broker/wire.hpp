#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace symmcts::platform {

using Bytes = std::vector<std::uint8_t>;

// Writes the fields of a message one after the other, in the machine's own byte order: both ends of
// a broker's socket run on one host.
class WireWriter {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T> WireWriter& put(const T& value) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof value);
    return *this;
  }
  WireWriter& put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  WireWriter& put_bytes(const Bytes& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// Reads them back. Past the end everything reads as zero and ok() turns false, so that callers read
// a whole message and look once.
class WireReader {
 public:
  WireReader(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  explicit WireReader(const Bytes& bytes) : WireReader(bytes.data(), bytes.size()) {}

  template <typename T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value{};
    if (const auto* raw = advance(sizeof value)) std::memcpy(&value, raw, sizeof value);
    return value;
  }
  std::string take_text() {
    const auto size = take<std::uint32_t>();
    const auto* raw = advance(size);
    return raw == nullptr ? std::string() : std::string(raw, raw + size);
  }
  bool ok() const { return ok_; }
  // What was read means nothing: as if it had not been there.
  void fail() { ok_ = false; }
  bool at_end() const { return left_ == 0; }
  // Everything was there, and nothing more.
  bool done() const { return ok_ && left_ == 0; }

 private:
  const std::uint8_t* advance(std::size_t size) {
    if (size > left_) ok_ = false;
    if (!ok_) return nullptr;
    const auto* at = data_;
    data_ += size;
    left_ -= size;
    return at;
  }

  const std::uint8_t* data_;
  std::size_t left_;
  bool ok_ = true;
};

}  // namespace symmcts::platform
