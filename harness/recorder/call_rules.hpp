#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "harness/recorder/json.hpp"
#include "harness/recorder/numbering.hpp"

namespace symmcts::recorder {

// One driver call, seen from a callback.
struct CallView {
  const void* params = nullptr;    // the generated parameter struct of the function
  bool ok = true;                  // returned CUDA_SUCCESS; true before the call
  bool per_thread_stream = false;  // a _ptsz or _ptds function: a null stream is per thread
  CUcontext context = nullptr;
  Number last = 0;  // of a release: the newest number when the call began

  template <typename Params>
  const Params& as() const {
    return *static_cast<const Params*>(params);
  }
};

// How to record one function. Its name is complete, version included (cuMemAlloc_v2), without the
// suffixes _ptsz and _ptds, whose parameters are the same.
struct CallRule {
  std::string_view name;
  bool may_block = false;  // gets an `enter` line
  // Writes the arguments after the call, or, for a release, before it: afterwards the driver may
  // already have given the value to another thread.
  void (*describe)(Numbering&, const CallView&, JsonObject&) = nullptr;
  // Releases only: the newest number now, and what to forget after success.
  Number (*newest)(const Numbering&) = nullptr;
  void (*forget)(Numbering&, const CallView&) = nullptr;
};

// The rules of one family, one file each.
std::span<const CallRule> memory_rules();  // physical memory, reservations, mappings
std::span<const CallRule> multicast_rules();
std::span<const CallRule> copy_rules();
std::span<const CallRule> fill_rules();
std::span<const CallRule> stream_rules();  // streams, events, stream memory operations
std::span<const CallRule> alloc_rules();   // device and pinned host memory

// The rule of a function as CUPTI names it, or null. A version of a known function that these
// headers do not describe gets a rule without arguments, so that the call is at least seen.
const CallRule* find_rule(std::string_view function);

bool is_per_thread(std::string_view function);
// cuMemAlloc_v2_ptsz → cuMemAlloc: what evidence calls the function.
std::string_view base_name(std::string_view function);

// A place (evidence/README.md). A host pointer that is not known to be pinned is pageable; of a
// unified address that is not known nothing is said.
std::string place(const Numbering& numbering, std::uint64_t address);
std::string host_place(const Numbering& numbering, const void* address);

// Streams by number; the legacy and the per-thread null stream are one each of every context.
Number stream_number(Numbering& numbering, const CallView& view, CUstream stream);

}  // namespace symmcts::recorder
