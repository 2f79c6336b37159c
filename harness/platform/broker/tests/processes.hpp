#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/platform/broker/client.hpp"

// Real processes for tests: the test program itself joins no machine and has no threads, so that it
// can fork as often as it likes.
namespace symmcts::platform::test {

// A folder that is gone, with all that is in it, at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;
  std::vector<std::string> entries() const;

 private:
  std::string path_;
};

// One end of a line to another process: whole messages, with descriptors.
class Line {
 public:
  explicit Line(int fd) : fd_(fd) {}
  void say(const std::string& text, int fd = -1) const;
  // Blocks; empty when the other end is gone. `fd` takes a descriptor that came along.
  std::string hear(int* fd = nullptr) const;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// A process that runs `body` and then exits with 1 if an expectation failed in it. `body` gets the
// line to the parent.
class Child {
 public:
  explicit Child(const std::function<void(Line&)>& body);
  Child(const Child&) = delete;
  ~Child();
  Line& line() { return line_; }
  pid_t pid() const { return pid_; }
  void kill();
  // Its exit code; -1 for a signal.
  int wait();

 private:
  pid_t pid_ = -1;
  Line line_{-1};
  bool waited_ = false;
};

// A profile of `gpus` GPUs on one host, as text, derived from fixtures/platforms/gb200-nvl2.toml.
std::string profile_path();
JoinOptions options_for(const std::string& machine, int rank);
// Joins or fails the test and exits the process.
std::unique_ptr<Client> join(const JoinOptions& options);
// Polls until `condition` holds; false after a generous while.
bool eventually(const std::function<bool()>& condition);

}  // namespace symmcts::platform::test
