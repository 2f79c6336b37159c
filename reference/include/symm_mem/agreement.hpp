#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "symm_mem/descriptor.hpp"
#include "symm_mem/exchange.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// The ranks that share memory with each other: some or all of an exchange's ranks, in an order on
// which all of them agree. A group rank is a position in `members`.
struct Group {
  std::uint32_t id = 0;      // told by the caller; the members are mixed into every tag as well
  std::vector<int> members;  // exchange ranks
  int me = 0;                // this rank's position
  int root = 0;              // position of the rank that creates the multicast object

  int size() const { return static_cast<int>(members.size()); }
  bool is_root() const { return me == root; }
};

// Checks that the members are distinct ranks of the exchange and that this rank is among them. An
// empty list stands for all ranks. Local.
Result<Group> make_group(const Exchange& exchange, std::uint32_t id, std::vector<int> members,
                         int root);

// "Agree, then fail": every collective carries each rank's own status, and when any rank has
// failed, all ranks get the same Error, that of the lowest failing rank; a failure that another try
// may help (is_transient) only when there is no other. No rank ever waits for something that
// another has already given up on (SM-AGRE-3, nccl#2379, pytorch#195596).
//
// Messages go through the root, which answers everyone. A wait has a deadline and its Error names
// the missing rank. After such an Error the group is broken and each later call returns it at once.
// Every call is collective over the group: all members make the same calls in the same order.
class Agreement {
 public:
  // The exchange is not owned.
  Agreement(Exchange& exchange, Group group, std::chrono::nanoseconds deadline);

  const Group& group() const { return group_; }
  std::chrono::nanoseconds deadline() const { return deadline_; }

  // Waits for `time` and nothing else: by the exchange's clock, so by virtual time where there is
  // one. Local. Messages that arrive meanwhile are kept.
  void pause(std::chrono::nanoseconds time);

  // Everyone's payload, by group rank.
  Result<std::vector<Bytes>> all_gather(Phase phase, Status mine, Bytes payload);
  // The payload of the root; what others pass is dropped.
  Result<Bytes> broadcast(Phase phase, Status mine, Bytes payload);
  Status vote(Phase phase, Status mine);
  Status barrier(Phase phase) { return vote(phase, Status()); }

  // Descriptors, sent directly. They carry no status: agree first that every sender has one, vote
  // afterwards on what came of it. The caller keeps `mine`; the results are owned by the receiver.
  // all_gather leaves this rank's own place empty; broadcast returns a closed descriptor on the
  // root; pass gives to the next group rank and takes from the one before, the first and the last
  // being neighbours.
  Result<std::vector<Descriptor>> all_gather_descriptors(Phase phase, const Descriptor& mine);
  Result<Descriptor> broadcast_descriptor(Phase phase, const Descriptor& mine);
  Result<Descriptor> pass_descriptor(Phase phase, const Descriptor& mine);

 private:
  Result<std::vector<Bytes>> collect(Phase phase, std::uint64_t tag, const Status& mine,
                                     Bytes payload);
  Result<std::vector<Bytes>> ask_root(Phase phase, std::uint64_t tag, const Status& mine,
                                      const Bytes& payload);
  std::uint64_t next_tag();
  Error broken(const ExchangeResult& result, const char* call, Phase phase, int member);

  Exchange& exchange_;
  Group group_;
  std::chrono::nanoseconds deadline_;
  std::uint64_t tag_prefix_ = 0;
  std::uint32_t sequence_ = 0;
  std::optional<Error> broken_;
};

}  // namespace symm_mem
