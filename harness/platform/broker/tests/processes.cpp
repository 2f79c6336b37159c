#include "harness/platform/broker/tests/processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/platform/broker/packet_socket.hpp"

namespace symmcts::platform::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "symmcts-test-XXXXXX").string();
  path_ = ::mkdtemp(name.data()) == nullptr ? std::string() : name;
  EXPECT_FALSE(path_.empty());
}

TempFolder::~TempFolder() {
  // A broker may be removing its socket at this moment.
  std::error_code error;
  for (int i = 0;
       i < 100 && std::filesystem::remove_all(path_, error) == static_cast<std::uintmax_t>(-1);
       ++i) {
  }
}

std::string TempFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name)) << text;
  return file(name);
}

std::vector<std::string> TempFolder::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

void Line::say(const std::string& text, int fd) const {
  EXPECT_EQ(send_packet(fd_, Bytes(text.begin(), text.end()), fd, true), IoResult::done);
}

std::string Line::hear(int* fd) const {
  Packet packet;
  if (receive_packet(fd_, packet, true) != IoResult::done) return {};
  if (fd != nullptr) *fd = packet.fd.release();
  return {packet.bytes.begin(), packet.bytes.end()};
}

Child::Child(const std::function<void(Line&)>& body) {
  auto [ours, theirs] = packet_socket_pair();
  pid_ = ::fork();
  if (pid_ == 0) {
    ours.reset();
    Line line(theirs.get());
    body(line);
    std::fflush(stdout);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  EXPECT_GT(pid_, 0);
  line_ = Line(ours.release());
}

Child::~Child() {
  if (!waited_) {
    kill();
    wait();
  }
  ::close(line_.fd());
}

void Child::kill() { ::kill(pid_, SIGKILL); }

int Child::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  waited_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string profile_path() { return SYMMCTS_SOURCE_PROFILES "/gb200-nvl2.toml"; }

JoinOptions options_for(const std::string& machine, int rank) {
  JoinOptions options;
  options.machine = machine;
  options.profile = profile_path();
  options.broker_program = SYMMCTS_BROKER_PROGRAM;
  options.seed = 7;
  options.rank = rank;
  return options;
}

std::unique_ptr<Client> join(const JoinOptions& options) {
  auto joined = Client::join(options);
  if (joined) return std::move(joined.value());
  ADD_FAILURE() << joined.error();
  std::fflush(stdout);
  ::_exit(1);
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    ::usleep(10'000);
  }
  return false;
}

}  // namespace symmcts::platform::test
