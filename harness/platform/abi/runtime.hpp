#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/platform/abi/environment.hpp"
#include "harness/platform/abi/graph_handles.hpp"
#include "harness/platform/abi/handles.hpp"
#include "harness/platform/broker/client.hpp"
#include "harness/platform/model/fault_plan.hpp"
#include "harness/platform/model/profile.hpp"
#include "harness/platform/process/capture.hpp"
#include "harness/platform/process/memory.hpp"
#include "harness/platform/process/streams.hpp"

namespace symmcts::platform::abi {

// Hands finished device work to CUPTI, if there is one, with the context that the stream belongs
// to.
class Records : public RecordSink {
 public:
  void on_copy(const CopyRecord& record) override;
  void on_fill(const FillRecord& record) override;
  // Remembers whose stream this is; kept after the stream's end, because records come later.
  void belongs(StreamId stream, std::uint32_t context);
  // Remembers the first context of a device: it owns what belongs to no stream of the application.
  void first_context(int ordinal, std::uint32_t context);

 private:
  std::uint32_t context_of(StreamId stream, int ordinal);
  std::mutex mutex_;
  std::map<StreamId, std::uint32_t> contexts_;
  std::map<int, std::uint32_t> first_;
};

// A block that cuMemAlloc gave out: its owner decides who may use it (cuCtxEnablePeerAccess).
struct DeviceBlock {
  std::uint64_t size = 0;
  std::shared_ptr<Context> context;
};

// Pinned host memory, allocated or registered.
struct HostBlock {
  std::uint64_t size = 0;
  std::shared_ptr<Context> context;
  unsigned flags = 0;
  bool registered = false;
};

// The one run context of the process: what cuInit has built. It is never destroyed, because calls
// may come as late as the exit handlers of the client.
struct Runtime {
  Environment environment;
  std::unique_ptr<Client> client;
  Profile profile;
  std::unique_ptr<FaultPlan> faults;  // of the scenario, for this rank
  std::vector<int> visible;           // machine-wide GPU index by ordinal
  Records records;
  std::unique_ptr<Streams> streams;
  std::unique_ptr<Memory> memory;

  HandleTable<Context, CUcontext> contexts{0xc0de000000, "context"};
  HandleTable<Stream, CUstream> stream_handles{0x57e4000000, "stream"};
  HandleTable<Event, CUevent> events{0xe7e7000000, "event"};
  Captures captures;
  GraphHandles graphs;
  std::vector<std::shared_ptr<Context>> primary;  // by ordinal
  std::atomic<std::uint32_t> next_context_id{0};

  std::mutex blocks_mutex;
  std::map<std::uint64_t, DeviceBlock> blocks;     // by address
  std::map<std::uint64_t, HostBlock> host_blocks;  // by address

  // Has cuInit succeeded, and is this the process that called it (not a fork of it)?
  static Runtime* get();
  // What cuInit does. On failure one line on stderr says why. Blocks while the machine is joined.
  static CUresult start();

  // Ordinal of a GPU by its machine-wide index; -1 if this process does not see it.
  int ordinal_of(int gpu) const;
  bool valid_ordinal(int ordinal) const;
  std::shared_ptr<Context> make_context(int ordinal, bool primary_context, unsigned flags);
  // Ends what belongs to the context: waits for its device's work, destroys its streams and events,
  // frees its blocks.
  void end_context(const std::shared_ptr<Context>& context);
  // The cuMemAlloc block that holds `address`, if any: fills its start.
  std::shared_ptr<Context> block_owner(std::uint64_t address, std::uint64_t& start,
                                       std::uint64_t& size);
};

// One line on stderr, with the platform's name in front.
void say(const std::string& line);

// The driver's number for a code of the model, and nothing else: the numbers agree.
constexpr CUresult to_result(Code code) { return static_cast<CUresult>(code); }

}  // namespace symmcts::platform::abi
