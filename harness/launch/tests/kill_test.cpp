// kill -9 of each party of a unit, at different times: nothing of the unit is left, and a
// supervisor that lives on has a verdict.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "harness/launch/processes.hpp"
#include "harness/launch/tests/scratch.hpp"
#include "harness/launch/unit.hpp"

namespace symmcts::launch::testing {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr auto kGone = std::chrono::seconds(10);  // what the project promises

std::string slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Found {
  pid_t pid;
  std::string comm, cmdline;
};

// Living processes whose environment or command line names `token`, in /proc of the whole host: not
// only those that a parent tree still shows.
std::vector<Found> processes_with(const std::string& token) {
  std::vector<Found> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    char* end = nullptr;
    const pid_t pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), &end, 10));
    if (pid <= 0 || *end != '\0' || pid == getpid()) continue;
    const std::string cmdline = slurp(entry.path() / "cmdline");
    if ((slurp(entry.path() / "environ") + cmdline).find(token) == std::string::npos) continue;
    found.push_back({pid, slurp(entry.path() / "comm"), cmdline});
  }
  return found;
}

// A child of the test that supervises one unit whose ranks hang for good (they also leave daemons),
// and writes its verdict to a file.
class Supervisor {
 public:
  explicit Supervisor(Launcher launcher) {
    pid_ = fork();
    if (pid_ != 0) return;
    const UnitRequest request = request_for(scratch_, "Test.Hang", launcher);
    const UnitResult result = run_unit(request, environment_for(scratch_));
    std::ofstream(scratch_.path() / "verdict") << end_name(result.end) << '\n' << result.text;
    _exit(0);
  }
  ~Supervisor() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  pid_t pid() const { return pid_; }
  std::string verdict() const { return scratch_.read("verdict"); }
  std::string token() const { return scratch_.tmp().string(); }

  pid_t reaper() const {
    for (const Process& process : living_descendants(pid_)) {
      if (slurp("/proc/" + std::to_string(process.pid) + "/comm") == "symmcts-reaper\n") {
        return process.pid;
      }
    }
    return -1;
  }

  // One of the unit's programs, by what is on its command line.
  pid_t program(const std::string& word, int skip = 0) const {
    for (const Found& found : processes_with(token())) {
      // The name of the program alone: a launcher's command line holds its ranks' too.
      const bool match = word == "mpirun" ? found.cmdline.rfind("mpirun", 0) == 0
                                          : found.cmdline.rfind(STAND_IN, 0) == 0 &&
                                                found.cmdline.find(word) != std::string::npos;
      if (match && skip-- == 0) return found.pid;
    }
    return -1;
  }

  // Nothing is left: no process, no run directory. The supervisor may live until it has reported.
  ::testing::AssertionResult gone() {
    const auto deadline = Clock::now() + kGone;
    std::string left;
    do {
      int status = 0;
      reaped_ = reaped_ || waitpid(pid_, &status, WNOHANG) == pid_;
      left.clear();
      if (!reaped_) left += " supervisor";
      for (const Found& found : processes_with(token())) left += " " + found.comm;
      for (const auto& entry : fs::directory_iterator(scratch_.tmp())) {
        left += " " + entry.path().string();
      }
      if (reaped_ && left.empty()) return ::testing::AssertionSuccess();
      std::this_thread::sleep_for(milliseconds(20));
    } while (Clock::now() < deadline);
    return ::testing::AssertionFailure() << "left:" << left;
  }

 private:
  Scratch scratch_;
  pid_t pid_ = -1;
  bool reaped_ = false;
};

pid_t wait_for(const std::function<pid_t()>& find) {
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (Clock::now() < deadline) {
    const pid_t pid = find();
    if (pid > 0) return pid;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return -1;
}

class Kill : public ::testing::TestWithParam<Launcher> {};

INSTANTIATE_TEST_SUITE_P(Launchers, Kill, ::testing::Values(Launcher::fork, Launcher::mpirun),
                         [](const auto& info) {
                           return info.param == Launcher::fork ? "Fork" : "Mpirun";
                         });

TEST_P(Kill, Supervisor) {
  for (const int delay : {0, 1, 5, 20, 60, 200, 700}) {
    Supervisor supervisor(GetParam());
    std::this_thread::sleep_for(milliseconds(delay));
    ASSERT_EQ(kill(supervisor.pid(), SIGKILL), 0);
    EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
    EXPECT_EQ(supervisor.verdict(), "");
  }
}

TEST_P(Kill, Reaper) {
  for (const int delay : {0, 1, 5, 20, 60, 200, 700}) {
    Supervisor supervisor(GetParam());
    const pid_t reaper = wait_for([&] { return supervisor.reaper(); });
    ASSERT_GT(reaper, 0);
    std::this_thread::sleep_for(milliseconds(delay));
    ASSERT_EQ(kill(reaper, SIGKILL), 0);
    EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
    EXPECT_NE(supervisor.verdict().find("error"), std::string::npos) << supervisor.verdict();
    EXPECT_NE(supervisor.verdict().find("reaper"), std::string::npos) << supervisor.verdict();
  }
}

TEST_P(Kill, Broker) {
  for (const int delay : {0, 30, 300}) {
    Supervisor supervisor(GetParam());
    const pid_t broker = wait_for([&] { return supervisor.program("--socket"); });
    ASSERT_GT(broker, 0);
    std::this_thread::sleep_for(milliseconds(delay));
    ASSERT_EQ(kill(broker, SIGKILL), 0);
    EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
    EXPECT_EQ(supervisor.verdict(),
              "error\nthe broker was killed by signal 9 (SIGKILL) before the ranks ended");
  }
}

TEST_P(Kill, AnyRank) {
  for (const int which : {0, 1}) {
    for (const int delay : {0, 20, 300}) {
      Supervisor supervisor(GetParam());
      const pid_t rank = wait_for([&] { return supervisor.program("--unit", which); });
      ASSERT_GT(rank, 0);
      std::this_thread::sleep_for(milliseconds(delay));
      ASSERT_EQ(kill(rank, SIGKILL), 0);
      EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
      EXPECT_NE(supervisor.verdict().find("was killed by signal 9"), std::string::npos)
          << supervisor.verdict();
    }
  }
}

TEST(KillMpirun, LeavesNothing) {
  for (const int delay : {0, 20, 100, 600}) {
    Supervisor supervisor(Launcher::mpirun);
    const pid_t mpirun = wait_for([&] { return supervisor.program("mpirun"); });
    ASSERT_GT(mpirun, 0);
    std::this_thread::sleep_for(milliseconds(delay));
    ASSERT_EQ(kill(mpirun, SIGKILL), 0);
    EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
    EXPECT_EQ(supervisor.verdict(), "error\nmpirun was killed by signal 9 (SIGKILL)");
  }
}

}  // namespace
}  // namespace symmcts::launch::testing
