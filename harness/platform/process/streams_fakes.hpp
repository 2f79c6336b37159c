#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/process/memory.hpp"
#include "harness/platform/process/streams.hpp"

// A machine in one process, for tests of Streams: memory that all ranks see, a log of words, and
// the broker's rule of who moves when every rank is stuck. No sockets, no files.
namespace symmcts::platform {

class FakeRank;

// The shared half. Everything under one lock.
class FakeBroker {
 public:
  static constexpr Ns kVisible = 100;  // from a write to a waiter

  std::uint32_t word(std::uint64_t address);

  std::mutex mutex;
  std::map<std::uint64_t, std::uint8_t> bytes;  // of all memory but pageable; absent: 0
  std::vector<FakeRank*> ranks;
  int in_flight = 0;
  bool managed = true;
  std::vector<std::string> moves;  // "grant 1 @500", "deadline 0 @99", "deadlock"

 private:
  friend class FakeRank;
  struct Pending {
    FakeRank* rank;
    WordWait wait;
  };
  bool satisfied(const WordWait& wait, std::uint64_t value) const;
  // When the log satisfies the wait; the content decides where there is no log.
  std::optional<Ns> answer(const WordWait& wait);
  void answer_pending();
  void move();

  std::map<std::uint64_t, std::vector<std::pair<Ns, std::uint64_t>>> log_;
  std::vector<Pending> pending_;
};

// One rank's connection. Memory calls are not part of these tests and answer not_supported.
class FakeRank final : public Client {
 public:
  FakeRank(FakeBroker& broker, int rank);
  ~FakeRank() override;

  void word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                  std::uint64_t value, Ns at) override;
  void word_wait(const WordWait& wait) override;
  bool deterministic() const override;
  void declare_managed() override {}
  void message_out(int to) override;
  void message_in(std::uint64_t count) override;
  void report_stuck(const Stuck& stuck) override;
  void report_running() override;
  std::optional<Notice> next_notice() override;
  void wake() override;
  // A call of this rank waits in the broker, or has been answered.
  void park(bool parked);
  // The rank has ended: it keeps nobody waiting any more.
  void leave();
  void lose_broker();

  const MachineInfo& machine() const override { return info_; }
  Code create_memory(CallTime&, int, std::uint64_t, std::uint32_t, HandleInfo&) override {
    return Code::not_supported;
  }
  Code release(CallTime&, std::uint64_t) override { return Code::not_supported; }
  Code retain(CallTime&, std::uint64_t) override { return Code::not_supported; }
  Code export_fd(CallTime&, std::uint64_t, int&) override { return Code::not_supported; }
  Code export_fabric(CallTime&, std::uint64_t, std::array<std::uint8_t, 64>&) override {
    return Code::not_supported;
  }
  Code import_fd(CallTime&, int, HandleInfo&) override { return Code::not_supported; }
  Code import_fabric(CallTime&, const std::array<std::uint8_t, 64>&, HandleInfo&) override {
    return Code::not_supported;
  }
  Code map(CallTime&, std::uint64_t, Mapped&) override { return Code::not_supported; }
  Code unmap(CallTime&, std::uint64_t) override { return Code::not_supported; }
  Code memory_fd(std::uint64_t, int&, std::uint64_t&) override { return Code::not_supported; }
  Code multicast_create(CallTime&, std::uint32_t, std::uint64_t, std::uint32_t,
                        HandleInfo&) override {
    return Code::not_supported;
  }
  Code multicast_add_device(CallTime&, std::uint64_t, int) override { return Code::not_supported; }
  Code multicast_bind(CallTime&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                      std::uint64_t) override {
    return Code::not_supported;
  }
  Code multicast_unbind(CallTime&, std::uint64_t, int, std::uint64_t, std::uint64_t) override {
    return Code::not_supported;
  }
  Code replicas(std::uint64_t, std::vector<Replica>&) override { return Code::not_supported; }
  void touch_words(std::uint64_t, std::uint64_t, std::uint64_t) override {}
  void before_import(CallTime&, const char*, int, const std::array<std::uint8_t, 64>*) override {}
  void before(CallTime&, const char*, std::uint64_t) override {}
  void passed(CallTime&, const char*, std::uint64_t) override {}

 private:
  friend class FakeBroker;
  void tell(Notice notice);  // caller holds the broker's lock

  FakeBroker& broker_;
  const int rank_;
  MachineInfo info_;
  std::condition_variable arrived_;
  std::deque<Notice> notices_;
  bool woken_ = false;
  bool parked_ = false;
  std::optional<Stuck> stuck_;
};

// Addresses of the fake machine, seen from a rank whose ordinal i is GPU visible[i]: device(gpu),
// kNative and kImported (multicast mappings of GPUs 0 and 1), kPinned and up (pinned host memory).
// Anything else is a real pointer to pageable memory.
class FakeMemory final : public Memory {
 public:
  static constexpr std::uint64_t kPinned = std::uint64_t{1} << 50;
  static constexpr std::uint64_t kNative = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kImported = std::uint64_t{1} << 41;
  static std::uint64_t device(int gpu, std::uint64_t offset = 0) {
    return (static_cast<std::uint64_t>(gpu) + 1) * (std::uint64_t{1} << 32) + offset;
  }

  FakeMemory(FakeBroker& broker, FakeRank& rank, std::vector<int> visible)
      : broker_(broker), rank_(rank), visible_(std::move(visible)) {}

  AddressInfo resolve(std::uint64_t address) override;
  Code copy_bytes(std::uint64_t destination, std::uint64_t source, std::uint64_t size) override;
  Code fill_bytes(std::uint64_t destination, std::uint32_t value, int width,
                  std::uint64_t count) override;
  Code write_word(std::uint64_t destination, std::uint64_t value, int width, Ns at) override;
  void log_words(std::uint64_t destination, std::uint64_t size, Ns at) override;
  Code fail_with = Code::success;  // what copies answer

  bool usable(std::uint64_t, std::uint64_t, int, Touch) override { return true; }
  Code reserve(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t&) override { return no; }
  Code free_reservation(std::uint64_t, std::uint64_t) override { return no; }
  Code map(std::uint64_t, std::uint64_t, std::uint64_t, AppHandle) override { return no; }
  Code unmap(std::uint64_t, std::uint64_t) override { return no; }
  Code set_access(std::uint64_t, std::uint64_t, const std::vector<AccessGrant>&) override {
    return no;
  }
  Code get_access(std::uint64_t, int, std::uint32_t&) override { return no; }
  Code create(int, std::uint64_t, std::uint32_t, AppHandle&) override { return no; }
  Code release(AppHandle) override { return no; }
  Code retain(std::uint64_t, AppHandle&) override { return no; }
  Code info(AppHandle, HandleInfo&) override { return no; }
  Code export_fd(AppHandle, int&) override { return no; }
  Code export_fabric(AppHandle, std::array<std::uint8_t, 64>&) override { return no; }
  Code import_fd(int, AppHandle&) override { return no; }
  Code import_fabric(const std::array<std::uint8_t, 64>&, AppHandle&) override { return no; }
  Code multicast_create(std::uint32_t, std::uint64_t, std::uint32_t, AppHandle&) override {
    return no;
  }
  Code multicast_add_device(AppHandle, int) override { return no; }
  Code multicast_bind_mem(AppHandle, std::uint64_t, AppHandle, std::uint64_t,
                          std::uint64_t) override {
    return no;
  }
  Code multicast_bind_address(AppHandle, std::uint64_t, std::uint64_t, std::uint64_t) override {
    return no;
  }
  Code multicast_unbind(AppHandle, int, std::uint64_t, std::uint64_t) override { return no; }
  Code alloc_device(int, std::uint64_t, std::uint64_t&) override { return no; }
  Code free_device(std::uint64_t) override { return no; }
  Code alloc_host(std::uint64_t, void*&) override { return no; }
  Code free_host(void*) override { return no; }
  Code register_host(void*, std::uint64_t) override { return no; }
  Code unregister_host(void*) override { return no; }
  void used(int, std::uint64_t&) override {}

 private:
  static constexpr Code no = Code::not_supported;
  static std::vector<std::uint64_t> places(std::uint64_t address);

  FakeBroker& broker_;
  FakeRank& rank_;
  std::vector<int> visible_;
};

// Keeps what it is given, in order.
class FakeSink final : public RecordSink {
 public:
  void on_copy(const CopyRecord& record) override;
  void on_fill(const FillRecord& record) override;
  std::vector<CopyRecord> copies();
  std::vector<FillRecord> fills();

 private:
  std::mutex mutex_;
  std::vector<CopyRecord> copies_;
  std::vector<FillRecord> fills_;
};

}  // namespace symmcts::platform
