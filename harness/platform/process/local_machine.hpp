#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/model/machine.hpp"
#include "harness/platform/process/memory.hpp"

// For tests of the process side: the machine model, reached without a broker. Several clients in
// one test process share it, with the rules, memory files and waiting of the real thing.
namespace symmcts::platform {

struct LocalMachine {
  LocalMachine(const Profile& profile, std::uint64_t seed) : model(profile, seed) {}

  std::mutex mutex;
  std::condition_variable changed;
  Machine model;
  std::map<std::uint64_t, std::uint64_t> descriptors;  // inode of an exported file → descriptor
  std::vector<std::string> violations;                 // calls that no correct process side makes
};

struct LoggedWord {
  std::uint64_t allocation = 0, offset = 0;
  int width = 0;
  std::uint64_t value = 0;
  Ns at = 0;
};

// One process of the machine, which must outlive it. What is public is for the test to look at.
class LocalClient final : public Client {
 public:
  LocalClient(LocalMachine& machine, int rank);
  ~LocalClient() override;

  static constexpr Ns kCallNs = 10;  // what each call takes

  std::vector<std::string> gates;  // "before cuMemCreate", "passed cuMemCreate", in order
  std::vector<LoggedWord> words;
  std::vector<std::uint32_t> touched;  // what each word was when it was opened

  const MachineInfo& machine() const override { return info_; }
  Code create_memory(CallTime& time, int gpu, std::uint64_t size, std::uint32_t handle_types,
                     HandleInfo& out) override;
  Code release(CallTime& time, std::uint64_t handle) override;
  Code retain(CallTime& time, std::uint64_t handle) override;
  Code export_fd(CallTime& time, std::uint64_t handle, int& fd) override;
  Code export_fabric(CallTime& time, std::uint64_t handle,
                     std::array<std::uint8_t, 64>& out) override;
  Code import_fd(CallTime& time, int fd, HandleInfo& out) override;
  Code import_fabric(CallTime& time, const std::array<std::uint8_t, 64>& bytes,
                     HandleInfo& out) override;
  Code map(CallTime& time, std::uint64_t handle, Mapped& out) override;
  Code unmap(CallTime& time, std::uint64_t mapping) override;
  Code memory_fd(std::uint64_t allocation, int& fd, std::uint64_t& size) override;
  Code multicast_create(CallTime& time, std::uint32_t devices, std::uint64_t size,
                        std::uint32_t handle_types, HandleInfo& out) override;
  Code multicast_add_device(CallTime& time, std::uint64_t handle, int gpu) override;
  Code multicast_bind(CallTime& time, std::uint64_t handle, std::uint64_t mc_offset,
                      std::uint64_t allocation, std::uint64_t mem_offset,
                      std::uint64_t size) override;
  Code multicast_unbind(CallTime& time, std::uint64_t handle, int gpu, std::uint64_t mc_offset,
                        std::uint64_t size) override;
  Code replicas(std::uint64_t object, std::vector<Replica>& out) override;
  void touch_words(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size) override;
  void word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                  std::uint64_t value, Ns at) override;
  void before(CallTime& time, const char* function, std::uint64_t handle) override;
  void passed(CallTime& time, const char* function, std::uint64_t handle) override;
  void before_import(CallTime& time, const char* function, int fd,
                     const std::array<std::uint8_t, 64>* fabric) override;

  // Nothing of this orders device work: waits are the business of other tests.
  void word_wait(const WordWait&) override;
  void declare_managed() override {}
  bool deterministic() const override { return true; }
  void message_out(int) override {}
  void message_in(std::uint64_t) override {}
  void report_stuck(const Stuck&) override {}
  void report_running() override {}
  std::optional<Notice> next_notice() override { return std::nullopt; }
  void wake() override {}

 private:
  // Locks the machine and lets the call take its time.
  std::unique_lock<std::mutex> enter(CallTime& time);
  // Notes a refusal that a correct process side never provokes.
  Code expected(Code code, const char* call);

  LocalMachine& shared_;
  ClientId id_ = 0;
  MachineInfo info_;
};

// A host clock that only counts.
class LocalClock final : public HostClock {
 public:
  Ns now() const override;
  void advance_to(Ns at) override;
  void enter_blocking(const char*) override;
  void leave_blocking(Ns at) override;
  int depth() const;  // calls that are between enter and leave

 private:
  mutable std::mutex mutex_;
  Ns now_ = 0;
  int depth_ = 0;
};

}  // namespace symmcts::platform
