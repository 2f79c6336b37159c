#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/fuzz/driver.hpp"

namespace symmcts::fuzz {

struct Letter {
  std::string text;
  int fd = -1;  // the receiver's
};

// Messages between the two ranks of a round. On a managed machine the platform hears of each, as
// symmcts_platform.h asks for. A peer that has died is gone for good.
class Link {
 public:
  // `socket`: one end of a pair of SOCK_SEQPACKET; stays the caller's.
  Link(const Driver& driver, int socket, int peer, bool managed)
      : driver_(driver), socket_(socket), peer_(peer), managed_(managed) {}

  // False if the peer is gone. `fd` is sent where it is not negative, and stays the caller's.
  bool send(const std::string& text, int fd = -1);
  // Blocks; nothing if the peer is gone.
  std::optional<Letter> receive();
  // Both have come here.
  bool meet() { return send("met") && receive().has_value(); }
  // The same before the platform may know of it: ranks that have not joined would look like a
  // standstill.
  void meet_outside();
  bool gone() const { return gone_; }

 private:
  std::optional<Letter> take(std::uint64_t& clock);
  bool await();

  const Driver& driver_;
  const int socket_, peer_;
  const bool managed_;
  bool gone_ = false;
};

}  // namespace symmcts::fuzz
