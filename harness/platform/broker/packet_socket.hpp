#pragma once

#include <cstdint>
#include <utility>

#include "harness/platform/broker/wire.hpp"
#include "harness/support/unique_fd.hpp"

// Packets over a SOCK_SEQPACKET Unix socket: one message is one packet, with at most one
// descriptor.
namespace symmcts::platform {

inline constexpr std::size_t kMaxPacket = 128 * 1024;

struct Packet {
  Bytes bytes;
  UniqueFd fd;  // close-on-exec
};

enum class IoResult : std::uint8_t { done, would_block, closed };

// Sends one packet; `fd` -1 for none (it stays the caller's). Blocks only if `wait`. Never raises
// SIGPIPE. `closed`: the peer is gone, or the packet is longer than kMaxPacket.
IoResult send_packet(int socket, const Bytes& bytes, int fd, bool wait);
// Takes one packet. Descriptors beyond the first are closed. `closed` also for a packet that is
// longer than kMaxPacket.
IoResult receive_packet(int socket, Packet& out, bool wait);

// Both ends of a fresh connection, close-on-exec.
std::pair<UniqueFd, UniqueFd> packet_socket_pair();

}  // namespace symmcts::platform
