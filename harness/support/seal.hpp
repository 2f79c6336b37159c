#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace symmcts {

// FNV-1a, 64 bits. Against accidents and editors, not against a forger: it has no key.
class Digest {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  }
  // 16 hexadecimal digits.
  std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) {
      digits += "0123456789abcdef"[value_ >> shift & 0xf];
    }
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// The seal of a file of evidence: the last member of its last line is the digest of every byte
// before the digest itself. A line that is missing, there twice, moved or changed breaks it.
inline constexpr std::string_view kSealMember = ",\"digest\":\"";
inline constexpr std::string_view kSealEnd = "\"}";

// The last line of a file, `line` being the object without its seal, and `before` the digest of all
// lines before it with their newlines.
inline std::string sealed(Digest before, std::string_view line) {
  std::string out(line.substr(0, line.size() - 1));  // without its brace
  out += kSealMember;
  before.add(out);
  return out + before.text() + std::string(kSealEnd);
}

enum class Seal { whole, broken, absent };

// The seal of the file `text`.
inline Seal read_seal(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.size() < kSealMember.size() + kDigits + kSealEnd.size() || !text.ends_with(kSealEnd)) {
    return Seal::absent;
  }
  text.remove_suffix(kSealEnd.size());
  const std::string_view digits = text.substr(text.size() - kDigits);
  text.remove_suffix(kDigits);
  if (!text.ends_with(kSealMember)) return Seal::absent;
  Digest digest;
  digest.add(text);
  return digest.text() == digits ? Seal::whole : Seal::broken;
}

}  // namespace symmcts
