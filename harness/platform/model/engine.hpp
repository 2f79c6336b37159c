#pragma once

#include <string>
#include <vector>

#include "harness/platform/model/op.hpp"
#include "harness/platform/model/profile.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// One copy engine of one GPU: serves first in, first out, by the time at which a copy became ready,
// one copy at a time, and rests for a gap between two.
class Engine {
 public:
  Engine(const Profile& profile, std::size_t index, int device, std::string name)
      : index(index), device(device), name(std::move(name)), profile_(profile) {}

  const std::size_t index;
  const int device;
  const std::string name;

  OpPtr running;
  Ns planned_start = kNever;  // of the head of the queue; kNever where none is planned

  void enqueue(const OpPtr& op);
  bool idle() const { return queue_.empty() && running == nullptr; }
  const OpPtr* head() const { return queue_.empty() ? nullptr : &queue_.front(); }
  OpPtr take();

  // Earliest time at which the head can start if nothing runs. Precondition: head() != nullptr.
  Ns earliest_start() const;
  // Records that the engine was busy with `op`, which has ended.
  void served(const Op& op);
  // When the engine would have done all that it has been given, seen at `now`.
  Ns free_at(Ns now) const;
  void forget_before(Ns now);

 private:
  struct Busy {
    Ns start, end;
    std::uint32_t stream;
  };
  Ns gap(const Op& op, std::uint32_t other_stream) const;

  const Profile& profile_;
  std::vector<OpPtr> queue_;  // by (ready, id)
  std::vector<Busy> busy_;    // by start; always keeps the last
};

}  // namespace symmcts::platform
