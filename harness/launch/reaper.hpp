#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "harness/launch/command.hpp"
#include "harness/launch/processes.hpp"
#include "harness/launch/reaper_wire.hpp"
#include "harness/launch/run_directory.hpp"
#include "harness/support/result.hpp"

namespace symmcts::launch {

// The supervisor's hold on the reaper of one unit. The reaper starts the unit's programs and, if
// the supervisor dies, ends them and removes the run directory; if the reaper dies, this class does
// the same, for the supervisor is the next subreaper. Not thread safe; precondition of start(): the
// calling process is single threaded, since it forks.
class Reaper {
 public:
  // Forks the reaper, which creates `directory`. Makes the calling process a subreaper for good.
  // Nothing is left of a reaper that did not start; a second try is for nobody to make, since it
  // may have been killed.
  static Result<std::unique_ptr<Reaper>> start(const RunDirectory& directory,
                                               std::vector<Command> commands);
  // Ends what is left, as finish() does.
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // Starts a command; a `spawned` report answers. None of the three waits. An order to a reaper
  // that is dead is dropped: wait() says so.
  void spawn(std::size_t command);
  void terminate();

  // The next report, or nothing within `patience`, or nothing and lost() is true.
  std::optional<Report> wait(std::chrono::milliseconds patience);
  bool lost() const { return lost_; }
  pid_t pid() const { return pid_; }

  // Kills every process of the unit and waits until none lives. Afterwards exits are not reported
  // any more. False if something could not be killed.
  bool kill_all();
  // Kills what is left, removes the run directory and ends the reaper. Error: what could not be
  // undone.
  Status finish();

 private:
  Reaper(const RunDirectory& directory, std::vector<Command> commands)
      : directory_(directory), commands_(std::move(commands)) {}
  void order(Order::Kind kind, std::int32_t command = -1);
  std::optional<Report> wait_for(Report::Kind kind, std::chrono::milliseconds patience);
  void lose();

  RunDirectory directory_;
  std::vector<Command> commands_;
  std::vector<Process> spare_;  // children that the supervisor had before
  int socket_ = -1;
  pid_t pid_ = -1;
  bool lost_ = false;
  bool finished_ = false;
};

}  // namespace symmcts::launch
