#include "sweep_machine.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "ranks.hpp"
#include "sweep_rank.hpp"
#include "symm_mem/exchange_unix.hpp"

namespace symmcts::sweep {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

// A bound on what a broken program can do to this one; no verdict rests on it.
constexpr std::chrono::seconds kPatience{300};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void each_line(const std::string& text, const std::function<void(const std::string&)>& each) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) each(line);
}

class Run {
 public:
  Run(const Place& place, const std::optional<SweepCase>& befalls, bool trace)
      : place_(place),
        befalls_(befalls),
        trace_(trace),
        pids_(static_cast<std::size_t>(place.ranks)) {}

  SweepOutcome run() {
    const Clock::time_point deadline = Clock::now() + kPatience;
    if (start_broker(deadline)) {
      for (int rank = 0; rank < place_.ranks; ++rank) start_rank(rank);
      for (int rank = 0; rank < place_.ranks; ++rank) {
        if (!is_taken(rank) && !wait_for(pid_of(rank), deadline)) {
          problem("rank " + std::to_string(rank) + " does not end");
        }
      }
      for (int rank = 0; rank < place_.ranks; ++rank) end(pid_of(rank));
      if (!wait_for(broker_, deadline)) problem("the broker does not end");
      end(broker_);
      for (int rank = 0; rank < place_.ranks; ++rank) read_findings(rank);
      read_report();
    }
    return std::move(outcome_);
  }

 private:
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string findings_of(int rank) const { return file("found-" + std::to_string(rank)); }
  std::string stderr_of(int rank) const { return file("stderr-" + std::to_string(rank)); }
  pid_t& pid_of(int rank) { return pids_[static_cast<std::size_t>(rank)]; }
  bool is_taken(int rank) const {
    return befalls_ && befalls_->takes_rank() && befalls_->call.rank == rank;
  }
  void problem(const std::string& text) {
    if (outcome_.problem.empty()) outcome_.problem = text;
  }

  bool start_broker(Clock::time_point deadline) {
    const std::string socket = file("machine.sock");
    std::vector<std::string> words{SYMMCTS_BROKER_PROGRAM,
                                   "--socket",
                                   socket,
                                   "--profile",
                                   place_.platform,
                                   "--report",
                                   file("report"),
                                   "--expect-clients",
                                   std::to_string(place_.ranks)};
    if (befalls_) {
      std::ofstream(file("scenario.toml")) << befalls_->scenario();
      words.insert(words.end(), {"--scenario", file("scenario.toml")});
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawn(&broker_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
      broker_ = 0;
    }
    while (broker_ > 0 && ::access(socket.c_str(), F_OK) != 0) {
      if (::waitpid(broker_, nullptr, WNOHANG) == broker_) broker_ = 0;
      if (Clock::now() > deadline) end(broker_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (broker_ <= 0) problem("the broker did not start");
    return broker_ > 0;
  }

  void start_rank(int rank) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child != 0) {
      pid_of(rank) = child;
      return;
    }
    const int err = ::open(stderr_of(rank).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ::dup2(err, STDERR_FILENO);
    if (trace_) ::setenv("SYMMCTS_TRACE", "1", 1);
    const Findings findings(findings_of(rank));
    auto exchange = symm_mem::open_unix_exchange(directory_.path(), rank, place_.ranks);
    if (exchange) be_rank(*exchange.value(), directory_.path(), place_, befalls_, findings);
    ::exit(0);  // as any program: the platform says what is left
  }

  // True if the process has ended; it is then nobody's any more.
  static bool wait_for(pid_t& pid, Clock::time_point deadline) {
    while (pid > 0) {
      if (::waitpid(pid, nullptr, WNOHANG) != 0) pid = 0;
      if (pid > 0 && Clock::now() > deadline) return false;
      if (pid > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  static void end(pid_t& pid) {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }

  void read_findings(int rank) {
    if (trace_) outcome_.traces[rank] = text_of(stderr_of(rank));
    bool ended = false;
    const std::string who = "rank " + std::to_string(rank) + ": ";
    each_line(text_of(findings_of(rank)), [&](const std::string& line) {
      const auto space = line.find(' ');
      const std::string kind = line.substr(0, space), text = line.substr(space + 1);
      if (kind == "verdict") outcome_.verdicts[rank] = text;
      if (kind == "wrong") outcome_.wrong.push_back(who + text);
      ended = ended || kind == "end";
    });
    if (ended == is_taken(rank)) {
      outcome_.wrong.push_back(
          who +
          (ended ? "was not taken away" : "did not come to its end: " + text_of(stderr_of(rank))));
    }
  }

  void read_report() {
    each_line(text_of(file("report")), [&](const std::string& line) {
      const json record = json::parse(line, nullptr, false);
      if (!record.is_object()) return;
      const std::string type = record.value("type", "");
      const std::string who = "rank " + std::to_string(record.value("rank", -1)) + ": ";
      if (type == "fault") outcome_.befell.push_back(line);
      if (type == "hang") problem("a standstill: " + line);
      if (type != "misuse") return;
      if (record.value("kind", "") == "leak") {
        outcome_.left.insert(who + std::to_string(record.value("count", 0)) + " " +
                             record.value("what", ""));
      } else {
        outcome_.wrong.push_back(who + record.value("text", ""));
      }
    });
  }

  const Place& place_;
  const std::optional<SweepCase>& befalls_;
  bool trace_;
  symm_mem::test::TemporaryDirectory directory_;
  pid_t broker_ = 0;
  std::vector<pid_t> pids_;
  SweepOutcome outcome_;
};

}  // namespace

SweepOutcome run_once(const Place& place, const std::optional<SweepCase>& befalls, bool trace) {
  return Run(place, befalls, trace).run();
}

}  // namespace symmcts::sweep
