#include "tests/fuzz/link.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace symmcts::fuzz {

bool Link::send(const std::string& text, int fd) {
  if (gone_) return false;
  std::uint64_t clock = managed_ ? driver_.message_out(peer_) : 0;
  std::array<iovec, 2> parts = {iovec{&clock, sizeof clock},
                                iovec{const_cast<char*>(text.data()), text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  gone_ = sent < 0;
  return !gone_;
}

// A letter that is there; nothing where there is none, or the peer is gone.
std::optional<Letter> Link::take(std::uint64_t& clock) {
  std::array<char, 4096> text;
  std::array<iovec, 2> parts = {iovec{&clock, sizeof clock}, iovec{text.data(), text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got < static_cast<ssize_t>(sizeof clock)) {
    gone_ = true;
    return std::nullopt;
  }
  Letter letter;
  letter.text.assign(text.data(), static_cast<std::size_t>(got) - sizeof clock);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&letter.fd, CMSG_DATA(header), sizeof letter.fd);
  }
  return letter;
}

std::optional<Letter> Link::receive() {
  while (!gone_) {
    const int ends = managed_ ? driver_.wait_begin(0) : -1;
    std::array<pollfd, 2> polled = {pollfd{socket_, POLLIN, 0}, pollfd{ends, POLLIN, 0}};
    poll(polled.data(), ends >= 0 ? 2 : 1, -1);
    std::uint64_t clock = 0;
    auto letter = take(clock);
    if (managed_) driver_.wait_end(&clock, letter ? 1 : 0);
    if (letter) return letter;
  }
  return std::nullopt;
}

void Link::meet_outside() {
  char byte = 'm';
  while (::send(socket_, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
  while (recv(socket_, &byte, 1, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace symmcts::fuzz
