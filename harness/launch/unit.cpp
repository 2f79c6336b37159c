#include "harness/launch/unit.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "harness/launch/blame.hpp"
#include "harness/launch/classify.hpp"
#include "harness/launch/collector.hpp"
#include "harness/launch/commands.hpp"
#include "harness/launch/flood.hpp"
#include "harness/launch/machine_log.hpp"
#include "harness/launch/rank_presence.hpp"
#include "harness/launch/reaper.hpp"
#include "harness/launch/watchdog.hpp"
#include "harness/permit/host_driver.hpp"

namespace symmcts::launch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{20};               // how often files are looked at
constexpr milliseconds kSettle{200};            // for exits that are on their way to be reported
constexpr milliseconds kLauncherNotices{3000};  // what mpirun gets to end a job by itself
// Ranks that the scenario has robbed of another wait for it in virtual time; they get so many times
// as long as those that a failure has left over.
constexpr int kRobbed = 10;

class UnitRun {
 public:
  UnitRun(const UnitRequest& request, const Variables& host)
      : request_(request), host_(host), directory_(RunDirectory::choose(request.scratch)) {
    result_.unit = request.unit;
    result_.run = run_name(request);
    result_.ids = request.ids;
  }

  UnitResult run() {
    if (prepare()) {
      if (start_broker()) {
        for (const std::size_t command : commands_.launched) reaper_->spawn(command);
        watch();
      }
      end_broker();
      reaper_->kill_all();
      seen_.reaper_lost |= reaper_->lost();
      if (states_.empty()) states_ = read_states();
      look_for_victims();
      result_.ranks = states_;
      if (hang_) seen_.hang = describe(*hang_, states_);
      classify(seen_, directory_, result_);
      const bool hung = result_.end == End::hang;
      fail_if(collect(request_, directory_, environment_, hung ? &*hang_ : nullptr, result_));
      fail_if(reaper_->finish());
    }
    return std::move(result_);
  }

 private:
  void fail_if(const Status& status) {
    if (status) return;
    result_.end = End::error;
    result_.text = status.error();
  }

  bool prepare() {
    const std::string real = find_real_driver_on_host().value_or("");
    environment_ = child_environment(host_, request_, directory_, real);
    commands_ = unit_commands(request_, directory_, environment_.common);
    auto started = Reaper::start(directory_, commands_.all);
    if (!started) {
      result_.stop = true;  // whatever ended it would end the next one
      fail_if(Error{started.error()});
      return false;
    }
    reaper_ = std::move(started.value());
    for (const Command& command : commands_.all) {
      Program program;
      program.name = command.name;
      result_.programs.push_back(program);
    }
    if (request_.launcher == Launcher::fork) {
      for (std::size_t rank = 0; rank < commands_.launched.size(); ++rank) {
        result_.programs[commands_.launched[rank]].rank = static_cast<int>(rank);
      }
    }
    return true;
  }

  // Takes in reports for at most `patience`: returns after the first one that came.
  void pump(milliseconds patience) {
    for (auto report = reaper_->wait(patience); report; report = reaper_->wait(milliseconds(0))) {
      if (report->kind == Report::flooded && !seen_.flood) {
        const int rank = result_.programs[static_cast<std::size_t>(report->command)].rank;
        seen_.flood = printed_too_much(request_, commands_, *report, rank);
      }
      if (report->kind != Report::spawned && report->kind != Report::exited) continue;
      Program& program = result_.programs[static_cast<std::size_t>(report->command)];
      moved_ = true;
      if (report->kind == Report::spawned && report->value > 0) {
        program.pid = report->value;
        continue;
      }
      program.ended = true;
      program.order = ++ends_;
      program.at = std::chrono::steady_clock::now();
      if (report->kind == Report::spawned) {
        seen_.problem = "cannot start " + program.name + " (" +
                        commands_.all[static_cast<std::size_t>(report->command)].argv[0] +
                        "): " + std::strerror(-report->value);
        continue;
      }
      program.exit.known = !ending_;
      program.exit.signaled = WIFSIGNALED(report->value);
      program.exit.value =
          program.exit.signaled ? WTERMSIG(report->value) : WEXITSTATUS(report->value);
      // Exit code 0 alone proves nothing: the implementation may have called exit().
      left_early_ |=
          program.rank >= 0 && program.exit.clean() &&
          !read_rank_state(raw_evidence(directory_, program.rank), program.rank, request_.unit)
               .finished();
    }
  }

  void pump_until(Clock::time_point deadline) {
    while (Clock::now() < deadline && !reaper_->lost()) pump(kTick);
  }

  const Program& launched(std::size_t i) const { return result_.programs[commands_.launched[i]]; }

  bool broker_ended() const {
    return commands_.broker && result_.programs[*commands_.broker].ended;
  }

  // One that the scenario has stopped does not end by itself, and nobody waits for it.
  bool is_over(const Program& program) const {
    return program.ended ||
           std::any_of(result_.victims.begin(), result_.victims.end(), [&](const Victim& victim) {
             return victim.stopped && program.rank == victim.rank;
           });
  }

  void look_for_victims() {
    if (!request_.scenario.empty()) result_.victims = read_victims(directory_.report());
  }

  bool any_ended() const {
    return std::any_of(commands_.launched.begin(), commands_.launched.end(),
                       [&](std::size_t i) { return result_.programs[i].ended; });
  }

  bool all_ended() const {
    return std::all_of(commands_.launched.begin(), commands_.launched.end(),
                       [&](std::size_t i) { return is_over(result_.programs[i]); });
  }

  bool something_failed() const {
    if (!seen_.problem.empty() || seen_.vanished >= 0 || left_early_ || broker_ended()) return true;
    return std::any_of(commands_.launched.begin(), commands_.launched.end(), [&](std::size_t i) {
      const Program& program = result_.programs[i];
      return program.ended && !program.exit.clean() && !is_victim(result_, program.rank);
    });
  }

  bool start_broker() {
    if (!commands_.broker) return true;
    reaper_->spawn(*commands_.broker);
    const auto deadline = Clock::now() + request_.patience.start;
    std::error_code error;
    while (!std::filesystem::exists(directory_.socket(), error)) {
      pump(milliseconds(1));
      if (reaper_->lost()) return false;
      if (broker_ended()) {
        seen_.broker_died = true;
        return false;
      }
      if (Clock::now() >= deadline) {
        seen_.problem = "the broker made no socket in time";
        return false;
      }
    }
    return true;
  }

  void watch() {
    std::vector<std::filesystem::path> evidence;
    for (const Seat& seat : request_.seats) evidence.push_back(raw_evidence(directory_, seat.rank));
    Watchdog watchdog(request_.patience, evidence, {directory_.report()}, Clock::now());
    RankPresence presence(request_, directory_);
    constexpr auto kNever = Clock::time_point::max();
    auto give_up = kNever;  // when those that a failure has left over are ended
    while (!all_ended()) {
      pump(kTick);
      if (reaper_->lost()) return;
      const auto now = Clock::now();
      if (std::exchange(moved_, false)) watchdog.touch(now);
      if (request_.launcher == Launcher::mpirun) {
        seen_.vanished = presence.look(launched(0).pid, now).value_or(-1);
      }
      if (!seen_.flood) seen_.flood = recorded_too_much(request_, directory_);
      // The one that flooded stands still: all are stopped before it can go on.
      if (seen_.flood) {
        ending_ = true;
        reaper_->kill_all();
        return;
      }
      look_for_victims();
      // Who waits for ever for one that the scenario took away hangs, whatever the others do. The
      // broker may also have spoken of one that is about to see that the other is gone.
      if (!result_.victims.empty() && !broker_report().empty()) {
        const auto until = Clock::now() + kRobbed * request_.patience.survivors;
        while (!all_ended() && Clock::now() < until && !reaper_->lost()) pump(kTick);
        if (all_ended() || reaper_->lost()) continue;
        hang_ = Hang{broker_report(), {}};
        reaper_->kill_all();
        return;
      }
      if (something_failed()) {
        if (broker_ended()) seen_.broker_died = true;
        if (give_up == kNever) {
          const milliseconds left =
              request_.patience.survivors * (result_.victims.empty() ? 1 : kRobbed);
          give_up = now + (seen_.vanished >= 0 ? kLauncherNotices : left);
        }
        if (now >= give_up) return end_politely();
        continue;
      }
      give_up = kNever;
      if (const std::string report = broker_report(); !report.empty()) {
        // A dead rank can be what the others wait for: then it is a crash, not a hang. So can one
        // that has written its last line and is about to end.
        pump_until(Clock::now() + kSettle);
        const std::vector<RankState> states = read_states();
        left_early_ |= std::any_of(states.begin(), states.end(), [](const RankState& state) {
          return state.footer && !state.finished();
        });
        if (something_failed() || all_ended()) continue;
        hang_ = Hang{report, {}};
        reaper_->kill_all();
        return;
      }
      if (any_ended()) watchdog.begin(now);
      if (const std::string why = watchdog.look(now); !why.empty()) {
        hang_ = Hang{{}, why};
        states_ = read_states();
        return end_politely();
      }
      seen_.problem = watchdog.start_problem(now);
      if (!seen_.problem.empty()) return end_politely();
    }
    if (!seen_.flood) seen_.flood = recorded_too_much(request_, directory_);
    // The broker may have died of the same cause, unseen so far.
    if (something_failed()) pump_until(Clock::now() + kSettle);
    seen_.broker_died |= broker_ended();
  }

  // The first whole `hang` line of the broker's report; it takes other lines too.
  std::string broker_report() const {
    if (size_of(directory_.report()) == 0) return {};
    std::ifstream in(directory_.report());
    std::string line;
    while (std::getline(in, line) && !in.eof()) {
      if (is_hang(line)) return line;
    }
    return {};
  }

  // SIGTERM, a grace, SIGKILL. How a program ends from here on is our doing.
  void end_politely() {
    ending_ = true;
    reaper_->terminate();
    const auto deadline = Clock::now() + request_.patience.terminate;
    while (!all_ended() && Clock::now() < deadline && !reaper_->lost()) pump(kTick);
    reaper_->kill_all();
  }

  // The broker was told to stay until it is told to end.
  void end_broker() {
    if (!commands_.broker || broker_ended() || reaper_->lost() || ending_ || hang_) return;
    ending_ = true;
    reaper_->terminate();
    const auto deadline = Clock::now() + request_.patience.terminate;
    while (!broker_ended() && Clock::now() < deadline && !reaper_->lost()) pump(kTick);
  }

  std::vector<RankState> read_states() const {
    std::vector<RankState> states;
    for (const Seat& seat : request_.seats) {
      states.push_back(
          read_rank_state(raw_evidence(directory_, seat.rank), seat.rank, request_.unit));
    }
    return states;
  }

  const UnitRequest& request_;
  const Variables& host_;
  RunDirectory directory_;
  ChildEnvironment environment_;
  UnitCommands commands_;
  std::unique_ptr<Reaper> reaper_;
  UnitResult result_;
  Seen seen_;
  std::optional<Hang> hang_;
  std::vector<RankState> states_;
  bool ending_ = false;  // what ends now ends because we say so
  bool moved_ = false;
  bool left_early_ = false;  // a rank ended, or is about to, and has not done its part
  int ends_ = 0;             // programs that have ended
};

}  // namespace

UnitResult run_unit(const UnitRequest& request, const Variables& host) {
  return UnitRun(request, host).run();
}

}  // namespace symmcts::launch
