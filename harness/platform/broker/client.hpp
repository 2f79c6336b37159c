#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/platform/broker/wire.hpp"
#include "harness/platform/model/misuse.hpp"
#include "harness/platform/model/objects.hpp"
#include "harness/platform/model/rank_faults.hpp"
#include "harness/platform/model/units.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform {

// How this process joins a virtual machine.
struct JoinOptions {
  std::string machine;         // broker socket to join or create; empty: a private broker
  std::string profile;         // name or path of the profile; used only by the one that creates
  std::string scenario;        // path of a scenario file for the broker, or empty
  std::string broker_program;  // symmcts-broker
  std::uint64_t seed = 0;
  int rank = -1;           // -1: not told; the broker numbers clients in order of arrival
  int host = 0;            // virtual host
  bool managed = false;    // symmcts_platform_managed was called before cuInit
  bool race_check = true;  // a broker that this process starts looks for races
};

struct MachineInfo {
  std::string profile_text;  // the TOML text, so that all clients read the same profile
  std::string profile_name;
  std::string scenario_text;  // TOML too; nothing on a quiet machine
  std::uint64_t seed = 0;
  int rank = 0;
  int host = 0;
  int first_gpu = 0;                    // machine-wide index of this host's GPU 0
  int gpu_count = 0;                    // GPUs of this host
  bool confidential_computing = false;  // multicast is off, and its attribute says so (A0.4)
  bool race_check = false;              // the broker looks for races: tell it (race_wire.hpp)
};

struct Mapped {
  std::uint64_t mapping = 0;  // id to give back to unmap
  int memory_fd = -1;         // memory: a descriptor of the memory file, owned by the caller
};

struct CallTime {
  Ns now = 0;  // in: the caller's host clock
  Ns at = 0;   // out: host clock after the call; later than now where the call had to wait
};

// One process's connection to the broker. Calls may be made from any thread; they block only where
// the driver's own call would (bind and map of a multicast object). A broker that is gone makes
// every call return Code::unknown and queues a broker_gone notice.
class Client {
 public:
  static Result<std::unique_ptr<Client>> join(const JoinOptions& options);
  virtual ~Client() = default;

  virtual const MachineInfo& machine() const = 0;

  // Memory objects and handles.
  virtual Code create_memory(CallTime& time, int gpu, std::uint64_t size,
                             std::uint32_t handle_types, HandleInfo& out) = 0;
  virtual Code release(CallTime& time, std::uint64_t handle) = 0;
  virtual Code retain(CallTime& time, std::uint64_t handle) = 0;
  virtual Code export_fd(CallTime& time, std::uint64_t handle, int& fd) = 0;
  virtual Code export_fabric(CallTime& time, std::uint64_t handle,
                             std::array<std::uint8_t, 64>& out) = 0;
  virtual Code import_fd(CallTime& time, int fd, HandleInfo& out) = 0;
  virtual Code import_fabric(CallTime& time, const std::array<std::uint8_t, 64>& bytes,
                             HandleInfo& out) = 0;
  // Multicast: blocks until every device has been added, then says how the team came out.
  virtual Code map(CallTime& time, std::uint64_t handle, Mapped& out) = 0;
  virtual Code unmap(CallTime& time, std::uint64_t mapping) = 0;
  // A descriptor of an allocation's memory file, for replicas that this process has not mapped.
  // Owned by the caller.
  virtual Code memory_fd(std::uint64_t allocation, int& fd, std::uint64_t& size) = 0;

  // Multicast objects.
  virtual Code multicast_create(CallTime& time, std::uint32_t devices, std::uint64_t size,
                                std::uint32_t handle_types, HandleInfo& out) = 0;
  virtual Code multicast_add_device(CallTime& time, std::uint64_t handle, int gpu) = 0;
  virtual Code multicast_bind(CallTime& time, std::uint64_t handle, std::uint64_t mc_offset,
                              std::uint64_t allocation, std::uint64_t mem_offset,
                              std::uint64_t size) = 0;
  virtual Code multicast_unbind(CallTime& time, std::uint64_t handle, int gpu,
                                std::uint64_t mc_offset, std::uint64_t size) = 0;
  // The ranges bound at this moment, in order of (gpu, mc_offset). Cached by a generation counter
  // that the broker publishes in shared memory, so that a write costs no round trip.
  virtual Code replicas(std::uint64_t object, std::vector<Replica>& out) = 0;

  // Opens the words of [offset, offset + size): the broker takes their present content as what a
  // wait sees before the first logged write. Call before the first store that will be logged
  // (word_write does it too, for stores that come after it), so that an answer never depends on
  // whether the broker looked before or after a store. A round trip the first time a word is seen,
  // else free.
  virtual void touch_words(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size) = 0;
  // Offsets of the words in [offset, offset + size) that this process has touched or waited for. A
  // long store over them must be logged too, word by word; no message.
  virtual std::vector<std::uint64_t> open_words(std::uint64_t allocation, std::uint64_t offset,
                                                std::uint64_t size) {
    (void)allocation, (void)offset, (void)size;
    return {};
  }
  // Memory words that order device work. A write is logged with the time at which it lands; a wait
  // is answered by a word_done notice. One-way messages: neither blocks. A log that is empty for
  // the word lets the memory's own content decide.
  virtual void word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                          std::uint64_t value, Ns at) = 0;
  virtual void word_wait(const WordWait& wait) = 0;

  // The count of who can move. `managed` as symmcts_platform_managed says; message_in closes what
  // message_out opened, `count` messages at once.
  virtual void declare_managed() = 0;
  virtual bool deterministic() const = 0;  // every client so far is managed
  virtual void message_out(int to) = 0;
  virtual void message_in(std::uint64_t count) = 0;
  virtual void report_stuck(const Stuck& stuck) = 0;
  virtual void report_running() = 0;

  // Scenario gates: `before` blocks while a hold of the scenario applies to this call of this rank;
  // `passed` tells that the call has returned success. `handle` (0: none) lets a hold name the kind
  // of object. Both are no-ops, without a message, when the scenario has no holds.
  virtual void before(CallTime& time, const char* function, std::uint64_t handle) = 0;
  virtual void passed(CallTime& time, const char* function, std::uint64_t handle) = 0;

  // The same for an import, whose object only the broker can tell from the descriptor or the token:
  // a hold that names the kind of object applies to imports through this call only. `fabric` is
  // null for a descriptor; `fd` is -1 for a token.
  virtual void before_import(CallTime& time, const char* function, int fd,
                             const std::array<std::uint8_t, 64>* fabric) = 0;

  // What this process did wrong, for the evidence; whoever found it has told people. One way.
  virtual void misused(const Misuse& misuse) { (void)misuse; }
  // A fault of the scenario befalls this rank now, in call (or phase) `number`. When it returns,
  // the evidence has it; after a stop nobody waits for this rank any more.
  virtual void befallen(const RankFault& fault, std::uint64_t number, Ns now) {
    (void)fault, (void)number, (void)now;
  }
  // What this process's devices did (race_wire.hpp). One way; the `last` one waits until the broker
  // has taken it, and has told what it found if nobody else is to come.
  virtual void races(const Bytes& records, bool last) { (void)records, (void)last; }
  // A driver call begins: reports on a deadlock name the last ones. `function` is a literal.
  virtual void calls(const char* function) { (void)function; }

  // Blocks until a notice or until wake() was called (then empty).
  virtual std::optional<Notice> next_notice() = 0;
  virtual void wake() = 0;
};

}  // namespace symmcts::platform
