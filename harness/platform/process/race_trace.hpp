#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/model/op.hpp"
#include "harness/platform/model/race_log.hpp"
#include "harness/platform/process/memory.hpp"

namespace symmcts::platform {

// Keeps what this process does on its devices for the machine's search for races
// (model/race_checker.hpp), and sends it to the broker in pieces. Where the machine does not
// search, everything here does nothing. Not thread safe: the executor locks, except where it says
// so.
class RaceTrace {
 public:
  explicit RaceTrace(Client& client);

  // The driver call that this thread is in from now on: `function` is a literal. Any thread,
  // without the lock.
  static void in_call(const char* function, std::uint32_t correlation);

  // An operation was added to the timeline, by the call that this thread is in.
  void submitted(const Op& op, RaceOp::Kind kind);
  void submitted_wait(const Op& op, const WordWait& wait);
  // An operation is about to do what it does: nobody can have seen it before this moment.
  void begins();
  // What the operation in progress reads and writes. Executor thread, without the lock.
  void touches(const std::vector<Place>& places, bool write);
  // It is done, or, of a host function, begins.
  void completed(const Op& op);

  // The host has seen that they are done.
  void joined(const std::vector<OpPtr>& ops, Ns now);
  // Returns the stamp that travels with a message.
  std::uint64_t sent(int to, Ns now);
  void heard(const std::uint64_t* stamps, std::size_t count, Ns now);
  void stream_ended(std::uint32_t stream, Ns now);
  // The process ends in order: sends all there is.
  void stopped(Ns now);
  // Sends what has not been sent.
  void flush();

 private:
  struct Pending {
    RaceOp::Kind kind{};
    std::uint64_t seen = 0;
    Ns wall = 0;
    std::uint32_t correlation = 0;
    const char* call = "";
    RaceAccess word;  // of a wait
  };
  void host(RaceHost::Kind kind, std::vector<std::uint64_t> ids, int to, Ns now);
  void put(const Bytes& record);

  Client& client_;
  const bool on_;
  std::unordered_map<std::uint64_t, Pending> pending_;  // by operation
  std::deque<std::uint64_t> in_flight_;                 // how many, by what the host had seen
  std::uint64_t first_in_flight_ = 0;                   // index of its front
  std::uint64_t host_records_ = 0;
  std::map<std::uint32_t, std::uint64_t> joined_;  // by stream: the last operation
  std::vector<RaceAccess> accesses_;               // of the operation in progress,
  Ns begun_ = 0;                                   // which began then, on the wall
  std::vector<std::uint8_t> unsent_;
};

}  // namespace symmcts::platform
