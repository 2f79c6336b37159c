#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/platform/broker/tests/made_objects.hpp"
#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform::test {

// A broker that this test started, as the supervisor does.
class Machine {
 public:
  Machine(const TempFolder& folder, int clients, const std::string& scenario = {})
      : socket_(folder.file("machine")), report_(folder.file("report")) {
    std::vector<std::string> words{
        SYMMCTS_BROKER_PROGRAM,  "--socket",       socket_, "--profile",
        profile_path(),          "--report",       report_, "--expect-clients",
        std::to_string(clients), "--no-race-check"};
    if (!scenario.empty()) {
      words.insert(words.end(), {"--scenario", folder.write("scenario.toml", scenario)});
    }
    child_ = std::make_unique<Child>([words](Line&) mutable {
      std::vector<char*> argv;
      for (auto& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    });
    EXPECT_TRUE(eventually([&] { return ::access(socket_.c_str(), F_OK) == 0; }));
  }
  std::unique_ptr<Client> join(int rank) const {
    auto options = options_for(socket_, rank);
    options.managed = true;
    return test::join(options);
  }
  int wait() { return child_->wait(); }
  std::vector<std::string> report() const {
    std::ifstream file(report_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::string socket_, report_;
  std::unique_ptr<Child> child_;
};

inline Notice next(Client& client) {
  const auto notice = client.next_notice();
  EXPECT_TRUE(notice);
  return notice.value_or(Notice{});
}

inline Stuck at_event(Ns next) { return {next, kNever, "cuStreamSynchronize", false}; }
inline Stuck in_exchange(Ns deadline) { return {kNever, deadline, "exchange", false, true}; }
inline Stuck in_call(const char* where) { return {kNever, kNever, where, true}; }

// The call ends when the broker lets it; meanwhile the rank reports where it waits, as its executor
// would.
inline Code blocked(Client& client, const char* where, const std::function<Code()>& call) {
  client.report_stuck(in_call(where));
  const Code code = call();
  client.report_running();
  return code;
}

inline Code create_memory(Client& client, CallTime& time, int gpu, std::uint32_t types,
                          HandleInfo& out) {
  return blocked(client, "cuMemCreate",
                 [&] { return client.create_memory(time, gpu, 2 * kMiB, types, out); });
}

}  // namespace symmcts::platform::test
