#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/platform/broker/broker_state.hpp"
#include "harness/platform/broker/exported_descriptors.hpp"
#include "harness/platform/broker/rendezvous_point.hpp"

namespace symmcts::platform {

// The broker's sockets: one thread, one epoll loop. A client whose socket closes has died, and also
// one whose process has ended while a forked child of it keeps the socket open; whatever it sends
// that is no message of ours ends its connection with one line, never the broker.
//
// In each round closed sockets come first, then descriptors whose last copy was closed, then one
// packet a client: a packet that was sent after such a close is never handled before it.
class Server : public Outlet {
 public:
  struct Options {
    std::optional<ListeningSocket> listening;  // none: only the client given by `client`
    UniqueFd client;                           // a connection that exists already, or none
    std::string report_path;                   // takes deadlocks, misuse, races; empty: none
    int expected_clients = 0;                  // does not end before so many have come
    bool stay = false;                         // ends only by a signal
    bool started_by_client = false;            // ends if none ever comes
  };
  static Result<std::unique_ptr<Server>> make(Options options, BrokerState::Setup setup);
  ~Server() override;

  // Serves until the last client has gone, or SIGTERM, SIGINT or SIGHUP comes (which the caller
  // must have blocked). Returns the exit code.
  int run();

  void send(ClientId client, Bytes packet, UniqueFd fd) override;
  UniqueFd open_descriptor(std::uint64_t id) override;
  std::optional<std::uint64_t> find_descriptor(int fd) override;
  void deadlocked(const DeadlockReport& deadlock) override;
  void misused(int rank, const Misuse& misuse) override;
  void befallen(const RankFault& fault, std::uint64_t number, Ns at) override;
  void raced(const Race& race) override;
  void races_checked(const RaceCheckReport& report) override;
  void refuse(ClientId client) override;

 private:
  struct Connection {
    UniqueFd socket;
    UniqueFd process;  // a pidfd of the client, where its system has such
    std::optional<ClientId> client;
    std::deque<Packet> outbox;  // what the socket did not take yet
    std::size_t outbox_bytes = 0;
    bool broken = false;  // to be dropped at the end of the round
    bool ended = false;   // the socket has closed: dropped when its process has ended
  };
  enum class Watch : std::uint8_t { signal, listening, connection, process, descriptor };

  Server(Options options, BrokerState::Setup setup, PublishedPage page);
  Status start();
  int serve();
  bool watch(int fd, Watch kind, std::uint32_t events);
  void accept_clients();
  void add_connection(UniqueFd socket);
  void receive(int fd, bool everything);
  void welcome(Connection& connection, Packet hello);
  void flush(Connection& connection);
  void drop(int fd);
  void hung_up(int fd);
  bool somebody_ended() const;
  // Those whose process lives on. False if there was none.
  bool drop_ended();
  void drop_broken();
  bool finished();
  void report(const std::string& lines) const;

  Options options_;
  UniqueFd epoll_, signals_;
  std::map<int, Connection> connections_;
  std::map<ClientId, int> sockets_;
  std::map<int, int> processes_;  // a pidfd to its client's socket
  ExportedDescriptors descriptors_;
  bool stopped_ = false;
  BrokerState state_;
};

}  // namespace symmcts::platform
