#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace symmcts::test {

// A broker for some ranks, two unless told otherwise, which counts a rank that has not come yet as
// running: one that is slow to start lets no deadline of the other pass. Ends with its clients.
class Machine {
 public:
  // `scenario` may be empty. The socket and the file of its deadlock report lie in `directory`.
  Machine(const std::string& directory, const std::string& profile, const std::string& scenario,
          int ranks = 2)
      : socket_(directory + "/machine.sock"), report_(directory + "/hang.jsonl") {
    std::vector<std::string> words{SYMMCTS_BROKER_PROGRAM,
                                   "--socket",
                                   socket_,
                                   "--profile",
                                   profile,
                                   "--report",
                                   report_,
                                   "--expect-clients",
                                   std::to_string(ranks)};
    if (!scenario.empty()) words.insert(words.end(), {"--scenario", scenario});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failed = ::posix_spawn(&broker_, SYMMCTS_BROKER_PROGRAM, nullptr, nullptr,
                                     arguments.data(), environ);
    if (failed != 0) broker_ = -1;
    while (running() && ::access(socket_.c_str(), F_OK) != 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    if (!running()) return;
    ::kill(broker_, SIGKILL);
    ::waitpid(broker_, nullptr, 0);
  }

  bool running() {
    if (broker_ > 0 && ::waitpid(broker_, nullptr, WNOHANG) == broker_) broker_ = -1;
    return broker_ > 0;
  }
  const std::string& report() const { return report_; }

 private:
  std::string socket_;
  std::string report_;
  pid_t broker_ = -1;
};

}  // namespace symmcts::test
