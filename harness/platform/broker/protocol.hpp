#pragma once

#include <cstdint>

#include "harness/platform/broker/wire.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// What travels between a client and its broker. One socket a client, packets in both directions:
//   client → broker: Op, u32 request id (0: no answer wanted), u64 host clock, fields
//   broker → client: ToClient::reply,  u32 request id, i32 code, u64 at, fields
//                    ToClient::notice, u8 kind, u64 id, u64 at, text
// The order of a client's packets is the order of its calls. Fields are listed beside each Op,
// those of the reply after the arrow; HandleInfo and the like travel as they lie in memory.
inline constexpr std::uint32_t kProtocolVersion = 4;

enum class Op : std::uint8_t {
  hello = 1,             // u32 version, i32 rank, i32 host, u8 managed [pidfd, if any] → Welcome,
                         // or text on refusal
  create_memory,         // i32 gpu, u64 size, u32 types → HandleInfo
  release,               // u64 handle
  retain,                // u64 handle
  export_fd,             // u64 handle → [descriptor]
  export_fabric,         // u64 handle → 64 bytes
  import_fd,             // [descriptor] → HandleInfo
  import_fabric,         // 64 bytes → HandleInfo
  map,                   // u64 handle → u64 mapping [descriptor of memory]
  unmap,                 // u64 mapping
  memory_fd,             // u64 allocation → u64 size [descriptor]
  multicast_create,      // u32 devices, u64 size, u32 types → HandleInfo
  multicast_add_device,  // u64 handle, i32 gpu
  multicast_bind,        // u64 handle, u64 mc offset, u64 allocation, u64 offset, u64 size
  multicast_unbind,      // u64 handle, i32 gpu, u64 mc offset, u64 size
  replicas,              // u64 object, u64 first → u64 generation, u64 total, Replica…
  touch_words,           // u64 allocation, u64 offset, u64 size
  word_write,            // u64 allocation, u64 offset, u8 width, u64 value, u64 at (no answer)
  word_wait,             // u64 id, u64 allocation, u64 offset, u8 width, u8 test, u64 value,
                         // u64 ready (no answer)
  declare_managed,       // (no answer)
  message_out,           // i32 rank of the receiver (no answer)
  message_in,            // u64 count (no answer)
  stuck,                 // u64 next, u64 deadline, u8 last resort, u8 in call, u8 in exchange,
                         // u64 notices seen, text, text last calls (no answer)
  running,               // (no answer)
  before,                // u64 handle, text function
  before_import,         // u8 fabric, 64 bytes, text function [descriptor]
  passed,                // u64 handle, text function (no answer)
  befallen,              // u64 number, text entry of the scenario: a fault has befallen this rank
  misuse,                // u64 at, u64 count, text kind, text what, text call (no answer)
  races,                 // race_wire.hpp: records… (answered only when the process ends)
  look,                  // instead of a hello: u32 version, i32 host → u64 seed, text profile,
         // text name, u8 confidential computing, u8 FabricManager, u32 GPUs, u64 used…; or text
         // on refusal
};

// What every packet to the broker begins with.
struct PacketHead {
  Op op{};
  std::uint32_t request = 0;
  Ns now = 0;  // the sender's host clock
};

inline PacketHead take_head(WireReader& in) {
  PacketHead head;
  head.op = in.take<Op>();
  head.request = in.take<std::uint32_t>();
  head.now = in.take<Ns>();
  return head;
}

enum class ToClient : std::uint8_t { reply = 1, notice = 2 };

// Fixed fields of a welcome; the profile's text and name and the scenario's text follow, and the
// descriptor of the machine page comes along.
struct Welcome {
  std::uint64_t seed = 0;
  std::int32_t rank = 0, host = 0, first_gpu = 0, gpu_count = 0;
  std::uint8_t has_holds = 0;
  std::uint8_t confidential_computing = 0;
  std::uint8_t race_check = 0;
};

// Ranges in one reply about replicas.
inline constexpr std::uint64_t kReplicasAPacket = 2000;

// The page that the broker publishes and every client reads without asking.
struct MachinePage {
  std::uint64_t generation;  // of the bound ranges
  std::uint64_t unmanaged;   // clients, gone ones too, that were not managed
};

}  // namespace symmcts::platform
