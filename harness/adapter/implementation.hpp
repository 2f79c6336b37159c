#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symm_mem/exchange.hpp"

namespace symmcts {

// How a call of an implementation ended. `ok` false: the call failed as a value, with what the
// implementation said about it.
struct Outcome {
  bool ok = true;
  std::string call;   // driver call or step that failed
  int code = 0;       // CUresult
  int rank = -1;      // rank on which it failed, where known
  std::string phase;  // rendezvous phase
  std::string text;
  explicit operator bool() const { return ok; }
};

// What an implementation is given on each rank. The harness has called cuInit, retained the primary
// context of `device` and made it current.
struct RankContext {
  symm_mem::Exchange* exchange = nullptr;  // not owned
  int rank = 0;
  int size = 1;
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::vector<int> members;          // exchange ranks of the group, in its order; empty: all
  int root = 0;                      // group rank that creates the multicast object
  bool multicast_permitted = false;  // the harness's permit (harness/permit)
  std::uint32_t handle_types = 0;    // allowed routes: bit 1 POSIX_FD, bit 8 FABRIC
  // Named progress, for hang reports: "allocate", "export", "import", "add-device", "bind", "map",
  // "ready", "teardown", ... Called before the phase starts.
  std::function<void(std::string_view)> on_phase;
};

// One symmetric block: the same number of bytes on every rank of the group.
class Block {
 public:
  virtual ~Block() = default;  // frees what is left; never throws, never collective
  virtual std::size_t bytes() const = 0;
  virtual CUdeviceptr local() const = 0;
  virtual CUdeviceptr peer(int rank) const = 0;  // own rank: local()
  virtual CUdeviceptr multicast() const = 0;     // 0 where there is none

  // Stream-ordered; no host synchronization. Offsets and sizes in bytes.
  virtual Outcome write_multicast(std::size_t offset, CUdeviceptr source, std::size_t bytes,
                                  CUstream stream) = 0;
  // Each rank's `bytes_per_rank` at `source` land at slot rank * bytes_per_rank of every replica.
  // Ready for use on `stream` when the call's work is done on every rank.
  virtual Outcome all_gather(CUdeviceptr source, std::size_t bytes_per_rank, bool use_multicast,
                             CUstream stream) = 0;
  virtual Outcome barrier(CUstream stream) = 0;
};

// An implementation under test. Calls are collective over the group unless they say otherwise.
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string name() const = 0;
  virtual Outcome open(const RankContext& context) = 0;
  virtual Outcome make_block(std::size_t bytes, std::unique_ptr<Block>& block) = 0;
  virtual Outcome free_block(std::unique_ptr<Block> block) = 0;
  virtual Outcome close() = 0;
};

struct ImplementationEntry {
  std::string name;  // "reference", "defect:root-keeps-native"
  std::string summary;
  std::string caught_by;  // defects: the requirement that must fail; else empty
  std::string source;     // defects: the public bug, e.g. "pytorch#192530"
  std::string needs;      // defects: handles without which it does no harm: "fabric", or empty
  std::function<std::unique_ptr<Implementation>()> make;
};

// All built-in implementations: the reference, then the defects, sorted by name.
const std::vector<ImplementationEntry>& implementations();

}  // namespace symmcts
