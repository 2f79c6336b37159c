// kill -9 of each party of a unit, at different times: nothing of the unit is left, and a
// supervisor that lives on has a verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "harness/launch/proc_file.hpp"
#include "harness/launch/processes.hpp"
#include "harness/launch/tests/scratch.hpp"
#include "harness/launch/unit.hpp"

namespace symmcts::launch::testing {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

// When a test gives up. The project promises 10 s, but a busy machine is no defect.
constexpr auto kGone = std::chrono::seconds(90);

struct Found {
  pid_t pid;
  std::string comm;
};

// Living processes whose environment or command line names `token`, in /proc of the whole host: not
// only those that a parent tree still shows.
std::vector<Found> processes_with(const std::string& token) {
  std::vector<Found> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t pid = static_cast<pid_t>(std::stol(name));
    if (pid == getpid()) continue;
    const std::string cmdline = read_proc(entry.path() / "cmdline");
    const std::string environ = read_proc(entry.path() / "environ");
    if ((environ + cmdline).find(token) == std::string::npos) continue;
    found.push_back({pid, read_proc(entry.path() / "comm")});
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
      if (read_proc("/proc/" + std::to_string(process.pid) + "/comm") == "symmcts-reaper\n") {
        return process.pid;
      }
    }
    return -1;
  }

  // A program that the reaper or mpirun started, by its name and by what its environment or command
  // line holds. A daemon that a rank has left is below the reaper
  // too, but has another name.
  pid_t program(const std::string& name, const std::string& word) const {
    for (const Process& process : living_descendants(pid_)) {
      const std::string folder = "/proc/" + std::to_string(process.pid);
      const std::string parent = read_proc("/proc/" + std::to_string(process.parent) + "/comm");
      const std::string cmdline = read_proc(folder + "/cmdline");
      if ((parent == "symmcts-reaper\n" || parent == "mpirun\n") && cmdline.rfind(name, 0) == 0 &&
          (cmdline + read_proc(folder + "/environ")).find(word) != std::string::npos) {
        return process.pid;
      }
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
    const pid_t broker = wait_for([&] { return supervisor.program(STAND_IN, "--socket"); });
    ASSERT_GT(broker, 0);
    std::this_thread::sleep_for(milliseconds(delay));
    ASSERT_EQ(kill(broker, SIGKILL), 0);
    EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
    EXPECT_EQ(supervisor.verdict(),
              "error\nthe broker was killed by signal 9 (SIGKILL) before the ranks ended");
  }
}

TEST_P(Kill, AnyRank) {
  for (const char* which : {"rank-000000.jsonl", "rank-000001.jsonl"}) {
    for (const int delay : {0, 20, 300}) {
      Supervisor supervisor(GetParam());
      const pid_t rank = wait_for([&] { return supervisor.program(STAND_IN, which); });
      ASSERT_GT(rank, 0);
      std::this_thread::sleep_for(milliseconds(delay));
      ASSERT_EQ(kill(rank, SIGKILL), 0);
      EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
      // mpirun does not always notice; then the supervisor does.
      EXPECT_THAT(supervisor.verdict(),
                  ::testing::ContainsRegex("^crash\nrank [01] (died|was killed by signal 9)"));
    }
  }
}

TEST(KillMpirun, LeavesNothing) {
  for (const int delay : {0, 20, 100, 600}) {
    Supervisor supervisor(Launcher::mpirun);
    const pid_t mpirun = wait_for([&] { return supervisor.program("mpirun", "--tag-output"); });
    ASSERT_GT(mpirun, 0);
    std::this_thread::sleep_for(milliseconds(delay));
    ASSERT_EQ(kill(mpirun, SIGKILL), 0);
    EXPECT_TRUE(supervisor.gone()) << "killed after " << delay << " ms";
    EXPECT_EQ(supervisor.verdict(), "error\nmpirun was killed by signal 9 (SIGKILL)");
  }
}

}  // namespace
}  // namespace symmcts::launch::testing
