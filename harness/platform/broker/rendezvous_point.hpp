#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "harness/support/result.hpp"
#include "harness/support/unique_fd.hpp"

// The socket file at which the processes of a machine find their broker.
namespace symmcts::platform {

// Held by whoever creates or removes the socket file: a file beside it, locked, and gone again when
// the lock is. Works between processes and between threads.
class SocketLock {
 public:
  // Waits for the lock if `wait`, else gives up (empty). An unusable folder is an Error.
  static Result<std::optional<SocketLock>> take(const std::string& socket_path, bool wait);
  SocketLock(SocketLock&&) = default;
  SocketLock& operator=(SocketLock&&) = delete;
  ~SocketLock();

 private:
  SocketLock(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
};

// Connects to the broker at `path`. Empty: nobody is there (no file, or one that a killed broker
// left behind).
Result<UniqueFd> connect_to(const std::string& path);

// A broker's listening socket and its file.
class ListeningSocket {
 public:
  // Precondition: the caller holds the lock. Replaces a file to which nobody listens.
  static Result<ListeningSocket> bind(const std::string& path);
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  // Removes the file, if it is still this socket's.
  ~ListeningSocket();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  ListeningSocket(std::string path, UniqueFd fd, dev_t device, ino_t inode)
      : path_(std::move(path)), fd_(std::move(fd)), device_(device), inode_(inode) {}
  std::string path_;
  UniqueFd fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace symmcts::platform
