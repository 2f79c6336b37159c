#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/objects.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// What moves a machine on which everybody waits.
struct Move {
  enum class Kind : std::uint8_t {
    grant,      // `client` may run its device work up to `at`
    serve,      // the call of `client` that has waited since `at` takes its turn
    open_hold,  // a scenario hold opens: the caller knows which
    deadline,   // the exchange deadline of `client` passes, at `at`
    look,       // before it may, `client` looks at its exchange again: somebody has left
    deadlock,   // nobody can ever move
  };
  Kind kind{};
  ClientId client = 0;
  Ns at = 0;
};

// Who can still move. A managed client that can do nothing without the others reports itself stuck;
// when all are, and no message between them is under way, the earliest thing in virtual time
// happens: device work or a call that waits its turn, else a hold, else a deadline; ties go to the
// lower rank, and on one rank to the device work. Because nothing else decides, the order is the
// same on any load. Not thread safe.
class Quiescence {
 public:
  // Clients that will come: those not here yet count as running.
  void expect(int clients) { expected_ = clients; }

  void attach(ClientId client);
  void declare_managed(ClientId client);
  // The client does something that is ordered in virtual time; undeclared, it is unmanaged from now
  // on. True if this is the first unmanaged client of the machine: nobody waits for grants any
  // more.
  bool acts(ClientId client);
  // The scenario stops the client: from now on it waits for nothing and for ever. Last resorts may
  // pass (Stuck), because somebody may wait for it who cannot see that it stands still.
  void stopped(ClientId client);
  // Left by itself or killed. Messages to it may have been lost: see settle().
  void detach(ClientId client);

  // A message to rank `to` leaves; messages are taken in. One to a rank that does not wait for it
  // now, in a driver call or because it is dead, keeps nobody from moving.
  void message_out(ClientId client, int to);
  void message_in(ClientId client, std::uint64_t count);
  // `seen`: how many unsticking notices the client had taken when it reported; a report that
  // crossed one in flight is old and counts for nothing.
  void report_stuck(ClientId client, const Stuck& stuck, std::uint64_t seen);
  void report_running(ClientId client);
  // A notice that can unstick the client has been sent: it counts as running until it reports
  // again.
  void noticed(ClientId client);
  // True if a call of the client that others can notice must wait its turn, which a serve gives it.
  // False where nobody waits for anybody, and for a client that is alone.
  bool takes_turns(ClientId client) const;
  void queued(ClientId client, Ns at) { clients_[client].calls.insert(at); }
  // A request of the client now waits in the broker, or has been answered.
  void parked(ClientId client);
  void unparked(ClientId client);
  // A call that has had its turn has been answered.
  void answered(ClientId client);

  // False once any client of the machine, gone ones included, was unmanaged.
  bool deterministic() const { return unmanaged_ == 0; }
  int unmanaged() const { return unmanaged_; }

  // What happens now, if anything; the client of a grant, deadline or look then counts as running,
  // and must be sent the notice, that of a serve must be answered or parked. `hold_waits`: a
  // scenario hold keeps a client that is parked.
  std::optional<Move> next(bool hold_waits);
  // Clients that wait in the exchange, and must look at it again because somebody has left: those
  // that left are seen to have closed their connections from this moment on. Each must be sent the
  // notice, and counts as running until it reports again.
  std::vector<ClientId> look_again();
  // True if only messages that may have died with a client keep next() from moving. If that lasts
  // although everybody has looked again, they are lost: write_off() forgets them.
  bool only_lost_messages() const;
  bool all_have_looked() const { return looked_; }
  void write_off() { in_flight_.clear(); }

  // For reports: the last report of a client that is stuck, else null.
  const Stuck* stuck(ClientId client) const;

 private:
  struct Client {
    bool managed = false;
    bool unmanaged = false;
    bool is_stuck = false;
    bool stopped = false;
    bool must_look = false;  // somebody has left since it last looked at its exchange
    Stuck stuck;
    std::uint64_t notices = 0;
    int parked = 0;
    std::multiset<Ns> calls;  // those that wait their turn
  };
  struct Earliest {
    Ns at = 0;
    int rank = 0;
    Move::Kind kind{};
    ClientId client = 0;
    auto operator<=>(const Earliest&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::optional<Earliest> earliest_event() const;
  std::optional<Earliest> earliest_deadline() const;
  bool waits(const Client& client) const;
  bool all_wait() const;
  bool message_under_way() const;
  void runs(Client& client);

  std::map<ClientId, Client> clients_;
  int expected_ = 0, attached_ = 0, unmanaged_ = 0;
  // By receiver. Below zero while a receiver has been heard before the sender: each has a socket of
  // its own.
  std::map<int, std::int64_t> in_flight_;
  bool somebody_left_ = false;
  bool somebody_stopped_ = false;
  bool looked_ = false;      // since the last message left or was taken in
  bool deadlocked_ = false;  // said so already, and nobody has moved since
};

}  // namespace symmcts::platform
