#pragma once

#include <cstdint>
#include <vector>

#include "harness/platform/model/objects.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// The GPUs of one multicast object and the memory bound on them. Devices are never removed
// (cuda.h:cuMulticastAddDevice); the team is set up once, when the last one is added, and the
// switch may have no slot left then: that too is final for this object (open kernel modules: one
// request to the fabric manager at the last attach).
class MulticastTeam {
 public:
  // `devices` that must be added; 0: no number ever completes it, as a late FABRIC import gets
  // (torchcomms#3506).
  explicit MulticastTeam(std::uint32_t devices) : wanted_(devices) {}

  // invalid_value for a device that is in the team and for one too many (inferred: the open kernel
  // modules refuse both). `now` is the adder's host clock.
  Code add(int gpu, Ns now);
  // All devices are there; the next step is set_up().
  bool gathered() const { return wanted_ != 0 && gpus_.size() == wanted_; }
  // When the last device was added, in virtual time.
  Ns gathered_at() const { return gathered_at_; }
  void set_up(bool slot) { state_ = slot ? State::ready : State::no_slot; }
  bool holds_slot() const { return state_ == State::ready; }

  // Nobody will ever bind to it or map it.
  void spoil() { spoiled_ = true; }
  bool spoiled() const { return spoiled_; }

  bool has(int gpu) const;
  std::uint32_t wanted() const { return wanted_; }
  bool unlimited() const { return wanted_ == 0; }
  // In ascending order.
  const std::vector<int>& gpus() const { return gpus_; }

  // Adds a range. False where it overlaps one of the same GPU.
  bool bind(const Replica& range);
  // Removes the range that equals (gpu, mc_offset, size). False where none does.
  bool unbind(int gpu, std::uint64_t mc_offset, std::uint64_t size);
  // Size of the range that begins at (gpu, mc_offset); 0 where none does.
  std::uint64_t bound_at(int gpu, std::uint64_t mc_offset) const;
  // Removes every range of an allocation that goes away. True if there was one.
  bool detach(std::uint64_t allocation);
  // In order of (gpu, mc_offset).
  const std::vector<Replica>& bound() const { return bound_; }

 private:
  enum class State : std::uint8_t { gathering, ready, no_slot };

  std::uint32_t wanted_;
  State state_ = State::gathering;
  bool spoiled_ = false;
  Ns gathered_at_ = 0;
  std::vector<int> gpus_;
  std::vector<Replica> bound_;
};

}  // namespace symmcts::platform
