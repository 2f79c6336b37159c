#include "harness/platform/broker/spawn_broker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/rendezvous_point.hpp"

namespace symmcts::platform {
namespace {

// posix_spawn's attributes and actions: everything by default, and two descriptors kept.
class SpawnPlan {
 public:
  explicit SpawnPlan(const std::vector<int>& keep) {
    ::posix_spawn_file_actions_init(&actions_);
    // Onto itself: clears close-on-exec in the child only.
    for (const int fd : keep) ::posix_spawn_file_actions_adddup2(&actions_, fd, fd);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  int run(std::vector<std::string> words, pid_t& child) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return ::posix_spawn(&child, argv[0], &actions_, &attributes_, argv.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') return got <= 0 ? line + '\0' : line;
    line += c;
  }
}

// Starts a broker and waits until it is ready. `how` names its socket or its client's descriptor.
Status start_broker(const JoinOptions& options, const std::vector<std::string>& how,
                    int client_fd) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("pipe: ") + std::strerror(errno)};
  UniqueFd reader(ends[0]), writer(ends[1]);
  std::vector<std::string> words{options.broker_program,
                                 "--detach",
                                 "--ready-fd",
                                 std::to_string(writer.get()),
                                 "--profile",
                                 options.profile,
                                 "--seed",
                                 std::to_string(options.seed)};
  if (!options.scenario.empty()) words.insert(words.end(), {"--scenario", options.scenario});
  if (!options.race_check) words.emplace_back("--no-race-check");
  words.insert(words.end(), how.begin(), how.end());
  std::vector<int> keep{writer.get()};
  if (client_fd >= 0) keep.push_back(client_fd);
  pid_t child = -1;
  if (const int error = SpawnPlan(keep).run(words, child); error != 0) {
    return Error{"cannot start the broker '" + options.broker_program +
                 "': " + std::strerror(error)};
  }
  writer.reset();
  // The process that was started leaves at once; the broker is its child.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::string line = read_line(reader.get());
  if (line.empty()) return {};
  if (line.back() == '\0')
    return Error{"the broker '" + options.broker_program + "' did not start"};
  return Error{line};
}

Result<UniqueFd> private_broker(const JoinOptions& options) {
  auto [ours, theirs] = packet_socket_pair();
  if (!ours) return Error{std::string("socketpair: ") + std::strerror(errno)};
  const Status started =
      start_broker(options, {"--client-fd", std::to_string(theirs.get())}, theirs.get());
  if (!started) return Error{started.error()};
  return std::move(ours);
}

}  // namespace

Result<UniqueFd> reach_broker(const JoinOptions& options) {
  if (options.machine.empty()) return private_broker(options);
  auto found = connect_to(options.machine);
  if (!found || found.value()) return found;
  auto lock = SocketLock::take(options.machine, true);
  if (!lock) return Error{lock.error()};
  // Somebody else may have started it while we waited for the lock.
  found = connect_to(options.machine);
  if (!found || found.value()) return found;
  const Status started = start_broker(options, {"--socket", options.machine}, -1);
  if (!started) return Error{started.error()};
  found = connect_to(options.machine);
  if (found && !found.value()) {
    return Error{"broker socket '" + options.machine + "': nobody listens"};
  }
  return found;
}

}  // namespace symmcts::platform
