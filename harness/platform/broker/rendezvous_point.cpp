#include "harness/platform/broker/rendezvous_point.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace symmcts::platform {
namespace {

Error failed(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool fill_address(const std::string& path, sockaddr_un& out) {
  out = {};
  out.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof out.sun_path) return false;
  std::memcpy(out.sun_path, path.c_str(), path.size() + 1);
  return true;
}

Error too_long(const std::string& path) {
  return Error{"broker socket '" + path + "': a socket's path has between 1 and " +
               std::to_string(sizeof(sockaddr_un{}.sun_path) - 1) + " bytes"};
}

UniqueFd packet_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Result<std::optional<SocketLock>> SocketLock::take(const std::string& socket_path, bool wait) {
  const std::string path = socket_path + ".lock";
  while (true) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) return failed("broker lock '" + path + "'");
    int locked = -1;
    do {
      locked = ::flock(fd.get(), wait ? LOCK_EX : LOCK_EX | LOCK_NB);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0) {
      if (errno == EWOULDBLOCK) return std::optional<SocketLock>();
      return failed("broker lock '" + path + "'");
    }
    // Its last holder removed it while we waited: then the lock on it means nothing.
    struct stat ours {
    }, there{};
    if (::fstat(fd.get(), &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
        same_file(ours, there)) {
      return std::optional<SocketLock>(SocketLock(path, std::move(fd)));
    }
  }
}

SocketLock::~SocketLock() {
  if (fd_) ::unlink(path_.c_str());
}

Result<UniqueFd> connect_to(const std::string& path) {
  sockaddr_un address;
  if (!fill_address(path, address)) return too_long(path);
  UniqueFd fd = packet_socket();
  if (!fd) return failed("socket");
  int done = -1;
  do {
    done = ::connect(fd.get(), generic(address), sizeof address);
  } while (done != 0 && errno == EINTR);
  if (done == 0) return fd;
  if (errno == ENOENT || errno == ECONNREFUSED) return UniqueFd();
  return failed("broker socket '" + path + "'");
}

Result<ListeningSocket> ListeningSocket::bind(const std::string& path) {
  sockaddr_un address;
  if (!fill_address(path, address)) return too_long(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return Error{"'" + path + "' exists and is no socket"};
    auto somebody = connect_to(path);
    if (!somebody) return Error{somebody.error()};
    if (somebody.value()) return Error{"a broker listens at '" + path + "' already"};
    ::unlink(path.c_str());
  }
  UniqueFd fd = packet_socket();
  if (!fd) return failed("socket");
  if (::bind(fd.get(), generic(address), sizeof address) != 0 ||
      ::stat(path.c_str(), &status) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return failed("broker socket '" + path + "'");
  }
  return ListeningSocket(path, std::move(fd), status.st_dev, status.st_ino);
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      fd_(std::move(other.fd_)),
      device_(other.device_),
      inode_(other.inode_) {}

ListeningSocket::~ListeningSocket() {
  if (!fd_) return;
  struct stat there {};
  if (::stat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

}  // namespace symmcts::platform
