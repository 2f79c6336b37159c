#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/platform/model/units.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform {

// How this process joins a virtual machine.
struct JoinOptions {
  std::string machine;        // broker socket to join or create; empty: a private broker
  std::string profile;        // name or path of the profile; used only by the one that creates
  std::string scenario;       // path of a scenario file for the broker, or empty
  std::string broker_program; // symmcts-broker
  std::uint64_t seed = 0;
  int rank = -1;              // -1: not told; the broker numbers clients in order of arrival
  int host = 0;               // virtual host
};

struct MachineInfo {
  std::string profile_text;   // the TOML text, so that all clients read the same profile
  std::string profile_name;
  std::uint64_t seed = 0;
  int rank = 0;
  int host = 0;
  int first_gpu = 0;          // machine-wide index of this host's GPU 0
  int gpu_count = 0;          // GPUs of this host
};

// A broker-side object that a handle refers to.
enum class ObjectKind : std::uint8_t { memory, multicast };

struct HandleInfo {
  std::uint64_t handle = 0;   // broker-wide handle id (not the number the application sees)
  std::uint64_t object = 0;   // allocation or multicast object id
  ObjectKind kind = ObjectKind::memory;
  bool native = true;         // false: came from an import
  std::uint64_t size = 0;     // allocation size; effective size of a multicast object
  int gpu = -1;               // machine-wide index; -1 for host memory and multicast
  std::uint32_t handle_types = 0;  // as requested at creation; 0 for an imported handle (measured)
};

struct Mapped {
  std::uint64_t mapping = 0;  // id to give back to unmap
  int memory_fd = -1;         // memory: a descriptor of the memory file, owned by the caller
};

// One bound range of a multicast object.
struct Replica {
  int gpu = -1;
  std::uint64_t mc_offset = 0;
  std::uint64_t allocation = 0;
  std::uint64_t mem_offset = 0;
  std::uint64_t size = 0;
};

struct CallTime {
  Ns now = 0;    // in: the caller's host clock
  Ns at = 0;     // out: host clock after the call; later than now where the call had to wait
};

// Conditions of a wait on a memory word, with the numbers of cuda.h:CUstreamWaitValue_flags.
enum class WordTest : std::uint8_t { geq = 0, eq = 1, bit_and = 2, nor = 3 };

struct WordWait {
  std::uint64_t id = 0;       // chosen by the client, unique in it
  std::uint64_t allocation = 0;
  std::uint64_t offset = 0;
  std::uint8_t width = 4;     // 4 or 8 bytes
  WordTest test = WordTest::geq;
  std::uint64_t value = 0;
  Ns ready = 0;               // when the stream reached the wait
};

// What the broker tells a client that has not asked.
struct Notice {
  enum class Kind {
    word_done,   // id, at: the wait is satisfied at that time
    granted,     // at: no event anywhere is earlier, device work up to `at` may run
    deadline,    // at: the exchange deadline of the last stuck report has passed
    deadlock,    // text: no rank of the machine can ever move again
    broker_gone,
  };
  Kind kind{};
  std::uint64_t id = 0;
  Ns at = 0;
  std::string text;
};

// Where a blocked rank stands, for the broker's count of who can still move.
struct Stuck {
  Ns next_event = kNever;     // earliest device event that is not certain yet
  Ns deadline = kNever;       // absolute virtual time of an exchange deadline
  std::string where;          // "exchange", "cuStreamSynchronize", ...: for deadlock reports
  // The host is about to make, or waits in, a call of this client that may block (map, bind, before).
  // Such a report counts only while that request is pending in the broker: the report and the request
  // travel separately, and a call that returns at once never was a reason to move the machine.
  bool in_call = false;
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

  // Memory words that order device work. A write is logged with the time at which it lands; a wait
  // is answered by a word_done notice. One-way messages: neither blocks. A log that is empty for the
  // word lets the memory's own content decide.
  virtual void word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                          std::uint64_t value, Ns at) = 0;
  virtual void word_wait(const WordWait& wait) = 0;

  // The count of who can move. `managed` as symmcts_platform_managed says; message_in closes what
  // message_out opened, `count` messages at once.
  virtual void declare_managed() = 0;
  virtual bool deterministic() const = 0;   // every client so far is managed
  virtual void message_out() = 0;
  virtual void message_in(std::uint64_t count) = 0;
  virtual void report_stuck(const Stuck& stuck) = 0;
  virtual void report_running() = 0;

  // Scenario gates: `before` blocks while a hold of the scenario applies to this call of this rank;
  // `passed` tells that the call has returned success. `handle` (0: none) lets a hold name the kind
  // of object. Both are no-ops, without a message, when the scenario has no holds.
  virtual void before(CallTime& time, const char* function, std::uint64_t handle) = 0;
  virtual void passed(CallTime& time, const char* function, std::uint64_t handle) = 0;

  // Blocks until a notice or until wake() was called (then empty).
  virtual std::optional<Notice> next_notice() = 0;
  virtual void wake() = 0;
};

}  // namespace symmcts::platform
