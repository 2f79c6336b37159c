#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/broker/last_calls.hpp"
#include "harness/platform/broker/machine_page.hpp"
#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/protocol.hpp"
#include "harness/platform/broker/wire.hpp"

namespace symmcts::platform {

// A Client over one socket. Everything this process tells the broker leaves through it in the order
// of the calls; a thread of its own takes what comes back.
class SocketClient : public Client {
 public:
  // `socket` has been welcomed.
  SocketClient(UniqueFd socket, MachineInfo machine, bool has_holds, bool managed, SeenPage page);
  ~SocketClient() override;

  const MachineInfo& machine() const override { return machine_; }

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
  std::vector<std::uint64_t> open_words(std::uint64_t allocation, std::uint64_t offset,
                                        std::uint64_t size) override;
  void word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                  std::uint64_t value, Ns at) override;
  void word_wait(const WordWait& wait) override;

  void declare_managed() override;
  bool deterministic() const override;
  void message_out(int to) override;
  void message_in(std::uint64_t count) override;
  void report_stuck(const Stuck& stuck) override;
  void report_running() override;
  void misused(const Misuse& misuse) override;
  void races(const Bytes& records, bool last) override;
  void calls(const char* function) override { last_calls_.note(function); }

  void before(CallTime& time, const char* function, std::uint64_t handle) override;
  void passed(CallTime& time, const char* function, std::uint64_t handle) override;
  void before_import(CallTime& time, const char* function, int fd,
                     const std::array<std::uint8_t, 64>* fabric) override;

  void befallen(const RankFault& fault, std::uint64_t number, Ns now) override;

  std::optional<Notice> next_notice() override;
  void wake() override;

 private:
  struct Reply {
    bool done = false;
    Code code = Code::unknown;
    Ns at = 0;
    Bytes fields;
    UniqueFd fd;
  };
  struct Binding {
    std::uint64_t generation = 0;
    std::vector<Replica> ranges;
  };

  // Sends a request and waits for its answer. not_initialized in a forked child, as the driver.
  Reply ask(Op op, const WireWriter& fields, int fd = -1, Ns now = 0);
  // The same, for calls that carry a clock.
  Reply ask(CallTime& time, Op op, const WireWriter& fields, int fd = -1);
  Code ask_for_handle(CallTime& time, Op op, const WireWriter& fields, HandleInfo& out,
                      int fd = -1);
  // Sends a message that has no answer.
  void tell(Op op, const WireWriter& fields, Ns now = 0);
  bool send(Op op, std::uint32_t request, Ns now, const WireWriter& fields, int fd);
  Code fetch_replicas(std::uint64_t object, Binding& out);

  void read_packets();
  void take_reply(WireReader& in, UniqueFd fd, const Bytes& packet);
  void take_notice(WireReader& in);
  void broker_gone();

  UniqueFd socket_;
  MachineInfo machine_;
  bool has_holds_;
  SeenPage page_;
  pid_t process_;  // the one that joined
  std::atomic<bool> managed_;
  std::atomic<std::uint64_t> notices_taken_{0};  // of those that can unstick
  LastCalls last_calls_;

  std::mutex send_mutex_;  // makes the order of packets that of the calls

  std::mutex mutex_;  // what follows
  std::condition_variable replied_, noticed_;
  std::map<std::uint32_t, Reply*> waiting_;
  std::uint32_t next_request_ = 1;
  std::deque<Notice> notices_;
  bool woken_ = false, gone_ = false;

  std::mutex cache_mutex_;  // what follows
  std::map<std::uint64_t, Binding> bindings_;
  // Words of four bytes that this process knows, by allocation and offset: true once the broker is
  // known to have opened them.
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> words_;

  std::thread reader_;
};

}  // namespace symmcts::platform
