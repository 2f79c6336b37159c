#include "harness/platform/broker/packet_socket.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace symmcts::platform {
namespace {

// Room for more descriptors than anybody may send, so that a client that sends several loses them
// instead of leaving them with us.
constexpr std::size_t kMostDescriptors = 16;

void take_descriptors(const msghdr& message, UniqueFd& out) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(const_cast<msghdr*>(&message), header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      UniqueFd owned(fd);
      if (!out) out = std::move(owned);
    }
  }
}

}  // namespace

IoResult send_packet(int socket, const Bytes& bytes, int fd, bool wait) {
  if (bytes.size() > kMaxPacket) return IoResult::closed;
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(int))> control{};
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  while (true) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) >= 0) {
      return IoResult::done;
    }
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK ? IoResult::would_block : IoResult::closed;
  }
}

IoResult receive_packet(int socket, Packet& out, bool wait) {
  std::array<std::uint8_t, kMaxPacket> buffer;
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? IoResult::would_block : IoResult::closed;
  }
  out.fd.reset();
  take_descriptors(message, out.fd);
  out.bytes.assign(buffer.data(), buffer.data() + got);
  // No message of ours is empty, so nothing is the end of the stream.
  if (got == 0 || (message.msg_flags & MSG_TRUNC) != 0) return IoResult::closed;
  return IoResult::done;
}

std::pair<UniqueFd, UniqueFd> packet_socket_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace symmcts::platform
