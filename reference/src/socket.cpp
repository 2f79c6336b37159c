#include "socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace symm_mem {
namespace {

struct Hello {
  std::uint32_t magic = 0x534d4d58;
  std::uint32_t version = 1;
  std::int32_t rank = -1;
  std::uint32_t reserved = 0;
};

struct FrameHead {
  std::uint64_t tag = 0;
  std::uint64_t length = 0;
  std::uint64_t value = 0;
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
};

constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 30;

Error socket_error(const char* call, const std::string& path) {
  return {.call = call, .text = path + ": " + std::strerror(errno)};
}

bool fill_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

template <typename T>
void append(Bytes& bytes, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

}  // namespace

Result<Descriptor> listen_at(const std::string& path, int backlog) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.open()) return socket_error("socket", path);
  const std::string beside = path + "." + std::to_string(::getpid());
  sockaddr_un address;
  if (!fill_address(beside, address)) return socket_error("bind", beside);
  ::unlink(beside.c_str());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return socket_error("bind", beside);
  }
  if (::listen(socket.get(), backlog) != 0 || ::rename(beside.c_str(), path.c_str()) != 0) {
    const Error error = socket_error("listen", path);
    ::unlink(beside.c_str());
    return error;
  }
  return socket;
}

Result<Descriptor> connect_to(const std::string& path, int& code) {
  code = 0;
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.open()) return socket_error("socket", path);
  sockaddr_un address;
  if (!fill_address(path, address)) return socket_error("connect", path);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    code = errno;
    return socket_error("connect", path);
  }
  return socket;
}

void Outgoing::open(Descriptor socket, int rank) {
  socket_ = std::move(socket);
  Piece piece;
  Hello hello;
  hello.rank = rank;
  append(piece.bytes, hello);
  queue_.push_back(std::move(piece));
}

void Outgoing::queue(Letter letter) {
  Piece piece;
  FrameHead head;
  head.tag = letter.tag;
  head.length = letter.bytes.size();
  head.value = letter.value;
  head.kind = static_cast<std::uint32_t>(letter.kind);
  append(piece.bytes, head);
  piece.bytes.insert(piece.bytes.end(), letter.bytes.begin(), letter.bytes.end());
  piece.descriptor = std::move(letter.descriptor);
  queue_.push_back(std::move(piece));
}

bool Outgoing::flush() {
  while (!queue_.empty()) {
    Piece& piece = queue_.front();
    iovec part{.iov_base = piece.bytes.data() + piece.sent,
               .iov_len = piece.bytes.size() - piece.sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (piece.descriptor.open()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof(int));
      const int fd = piece.descriptor.get();
      std::memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    }
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    piece.descriptor.close();  // it travels with the first byte
    piece.sent += static_cast<std::size_t>(sent);
    if (piece.sent == piece.bytes.size()) queue_.pop_front();
  }
  return true;
}

void Incoming::read(int size, std::vector<Letter>& letters) {
  std::array<std::byte, 16384> chunk;
  while (!ended_) {
    iovec part{.iov_base = chunk.data(), .iov_len = chunk.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) ended_ = true;
      break;
    }
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
         head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
        descriptors_.emplace_back(fd);
      }
    }
    if (got == 0) {
      ended_ = true;
      break;
    }
    buffer_.insert(buffer_.end(), chunk.begin(), chunk.begin() + got);
  }
  parse(size, letters);
}

void Incoming::parse(int size, std::vector<Letter>& letters) {
  std::size_t at = 0;
  if (source_ < 0) {
    Hello hello;
    if (buffer_.size() < sizeof(hello)) return;
    std::memcpy(&hello, buffer_.data(), sizeof(hello));
    if (hello.magic != Hello{}.magic || hello.version != Hello{}.version || hello.rank < 0 ||
        hello.rank >= size) {
      ended_ = true;
      return;
    }
    source_ = hello.rank;
    at = sizeof(hello);
  }
  while (true) {
    FrameHead head;
    if (buffer_.size() - at < sizeof(head)) break;
    std::memcpy(&head, buffer_.data() + at, sizeof(head));
    const bool carries = head.kind == static_cast<std::uint32_t>(Letter::Kind::descriptor);
    if (head.length > kLongestMessage || (carries && descriptors_.empty())) {
      ended_ = true;
      break;
    }
    if (buffer_.size() - at - sizeof(head) < head.length) break;
    Letter letter;
    letter.source = source_;
    letter.tag = head.tag;
    letter.kind = carries ? Letter::Kind::descriptor : Letter::Kind::message;
    letter.value = head.value;
    const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(at + sizeof(head));
    letter.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(head.length));
    if (carries) {
      letter.descriptor = std::move(descriptors_.front());
      descriptors_.pop_front();
    }
    letters.push_back(std::move(letter));
    at += sizeof(head) + head.length;
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace symm_mem
