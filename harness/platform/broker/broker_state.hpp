#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/platform/broker/deadlock_report.hpp"
#include "harness/platform/broker/machine_page.hpp"
#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/protocol.hpp"
#include "harness/platform/broker/race_report.hpp"
#include "harness/platform/broker/wire.hpp"
#include "harness/platform/model/hold_gates.hpp"
#include "harness/platform/model/machine.hpp"
#include "harness/platform/model/misuse.hpp"
#include "harness/platform/model/quiescence.hpp"
#include "harness/platform/model/race_checker.hpp"
#include "harness/platform/model/scenario.hpp"
#include "harness/platform/model/word_log.hpp"

namespace symmcts::platform {

// What the broker's state needs from whoever owns the sockets.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // Queues a packet for a client, with `fd` if there is one. Never blocks.
  virtual void send(ClientId client, Bytes packet, UniqueFd fd) = 0;
  // A fresh descriptor that stands for `id` until its last copy is closed, which ends in a call of
  // BrokerState::descriptor_closed. Empty when the system has none left.
  virtual UniqueFd open_descriptor(std::uint64_t id) = 0;
  virtual std::optional<std::uint64_t> find_descriptor(int fd) = 0;
  virtual void deadlocked(const DeadlockReport& report) = 0;
  virtual void misused(int rank, const Misuse& misuse) = 0;
  // A fault of the scenario has befallen its rank, in call (or phase) `number`.
  virtual void befallen(const RankFault& fault, std::uint64_t number, Ns at) = 0;
  virtual void raced(const Race& race) = 0;
  // The search for races is over.
  virtual void races_checked(const RaceCheckReport& report) = 0;
  // A client turned out not to speak the protocol after its packet had been taken.
  virtual void refuse(ClientId client) = 0;
};

// One virtual machine as its broker runs it: decodes requests, asks the model, keeps the calls that
// have to wait, and moves the machine when everybody waits. Knows no sockets. Not thread safe.
class BrokerState {
 public:
  struct Setup {
    Profile profile;
    std::string profile_text;
    Scenario scenario;
    std::string scenario_text;
    std::uint64_t seed = 0;
    int expected_clients = 0;
    bool race_check = true;
  };
  BrokerState(Setup setup, PublishedPage page, Outlet& outlet);

  // A client's hello. On refusal `error` says why, and nothing has changed.
  std::optional<ClientId> attach(const Packet& hello, Bytes& reply, std::string& error);
  // The answer to one who asks instead of a hello and does not take part; empty for anything else.
  std::optional<Bytes> look(const Packet& question) const;
  int page_fd() const { return page_.read_only_fd(); }
  // Any later packet. False if it is none that a client of this version sends.
  bool handle(ClientId client, Packet packet);
  void detach(ClientId client);
  void descriptor_closed(std::uint64_t id);

  // Answers the calls whose wait is over and, when nobody else can move, moves the machine. Call
  // after each round of packets.
  void advance();
  bool only_lost_messages() const { return quiescence_.only_lost_messages(); }
  // They have not arrived for a while: everybody looks once more, then they are written off.
  void miss_messages();
  int attached() const { return attached_; }
  // Nobody comes any more: tells the races that have not been told, and that this was all.
  void end();

 private:
  struct Answer {
    Code code = Code::success;
    Ns at = 0;
    Bytes fields;
    UniqueFd fd;
  };
  // A request that waits: asked again whenever something may have changed.
  struct Parked {
    ClientId client = 0;
    std::uint32_t request = 0;
    std::uint64_t handle = 0;  // of a multicast object; 0 for a hold
    std::function<std::optional<Answer>()> attempt;
  };
  struct Request {
    ClientId client = 0;
    std::uint32_t id = 0;
    Ns now = 0;  // the caller's host clock
    WireReader& fields;
    UniqueFd& fd;
  };

  // A call that others can notice, until it is its turn in virtual time.
  struct Queued {
    ClientId client = 0;
    Ns at = 0;
    Packet packet;
  };

  bool dispatch(ClientId client, Packet packet);
  void serve(ClientId client, Ns at);
  void serve_all();
  // False if `op` is none of theirs.
  bool handle_memory(Op op, Request& request);
  bool handle_multicast(Op op, Request& request);
  bool handle_order(Op op, Request& request);
  bool handle_words(Op op, Request& request);
  bool handle_holds(Op op, Request& request);
  bool handle_misuse(Op op, Request& request);
  bool handle_faults(Op op, Request& request);
  bool handle_races(Op op, Request& request);
  void find_races();

  Answer handle_answer(Code code, const HandleInfo& info) const;
  Answer export_descriptor(Request& request);
  Answer replicas(Request& request);
  void reply(const Request& request, Answer answer) {
    reply(request.client, request.id, std::move(answer));
  }
  void reply(ClientId client, std::uint32_t request, Answer answer);
  void reply_or_park(const Request& request, std::uint64_t handle,
                     std::function<std::optional<Answer>()> attempt);
  void retry_parked();
  void notice(ClientId client, Notice::Kind kind, std::uint64_t id, Ns at,
              const std::string& text = {});
  void unstick(ClientId client, Notice::Kind kind, std::uint64_t id, Ns at);
  void words_done(const std::vector<WordLog::Done>& done);
  void look_again();
  void becomes_unmanaged();
  void forget_freed();
  void report_deadlock();

  Setup setup_;
  PublishedPage page_;
  Outlet& outlet_;
  Machine machine_;
  WordLog words_;
  Quiescence quiescence_;
  HoldGates gates_;
  RaceChecker races_;
  std::set<ClientId> stopped_;  // those that have told all there is about races
  std::vector<ClientId> clients_;
  std::vector<Queued> queued_;
  std::vector<Parked> parked_;
  int attached_ = 0;
};

}  // namespace symmcts::platform
