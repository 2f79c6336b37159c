#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/process/memory.hpp"

// A machine within one process, for unit tests of the process side: real memory files and real
// descriptors, no broker, no time. It knows enough of handles, exports and multicast teams that the
// process side can be tested without the broker's rules, and it records what it was asked.
namespace symmcts::platform {

struct FakeObject {
  ObjectKind kind = ObjectKind::memory;
  std::uint64_t size = 0;
  std::uint32_t types = 0;
  int gpu = -1;
  int file = -1;              // memory: its memory file
  std::uint64_t inode = 0;    // of the exported descriptor
  std::uint32_t devices = 0;  // multicast: how many make the team complete
  std::vector<int> team;
  std::vector<Replica> bound;
};

struct FakeMachine {
  ~FakeMachine();
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t next = 100;
  std::map<std::uint64_t, FakeObject> objects;
  std::vector<std::string> broken_rules;  // calls that no correct client makes
};

struct LoggedWord {
  std::uint64_t allocation = 0, offset = 0;
  int width = 0;
  std::uint64_t value = 0;
  Ns at = 0;
};

// One process of the machine. Everything public is for the test to look at.
class FakeClient final : public Client {
 public:
  explicit FakeClient(FakeMachine& machine) : shared_(machine) {}

  std::vector<std::string> gates;  // "before cuMemCreate", "passed cuMemCreate", in order
  std::vector<LoggedWord> words;
  std::vector<std::uint32_t> touched;  // what the word was when it was opened
  Ns call_ns = 10;                     // what each call adds to the host clock
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> handles;  // → object, references
  std::map<std::uint64_t, std::uint64_t> mappings;                           // → handle

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
  void word_wait(const WordWait&) override {}
  void declare_managed() override {}
  bool deterministic() const override { return true; }
  void message_out() override {}
  void message_in(std::uint64_t) override {}
  void report_stuck(const Stuck&) override {}
  void report_running() override {}
  void before(CallTime& time, const char* function, std::uint64_t handle) override;
  void passed(CallTime& time, const char* function, std::uint64_t handle) override;
  void before_import(CallTime& time, const char* function, int fd,
                     const std::array<std::uint8_t, 64>* fabric) override;
  std::optional<Notice> next_notice() override { return std::nullopt; }
  void wake() override {}

 private:
  FakeObject* object_of(std::uint64_t handle, const char* function);
  Code hand_out(std::uint64_t object, bool native, HandleInfo& out);

  FakeMachine& shared_;
  MachineInfo info_;
};

// A host clock that only counts.
class FakeClock final : public HostClock {
 public:
  Ns now() const override;
  void advance_to(Ns at) override;
  void enter_blocking(const char*) override;
  void leave_blocking(Ns at) override;
  int depth() const;

 private:
  mutable std::mutex mutex_;
  Ns now_ = 0;
  int depth_ = 0;
};

}  // namespace symmcts::platform
