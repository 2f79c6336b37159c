#pragma once

#include <cuda.h>

#include <cstdint>

#include "harness/platform/process/streams.hpp"

// The private way between our libcupti.so.13 and our libcuda.so.1. Both come from one build; the
// number changes whenever a structure here does, and a library of another build is refused.
namespace symmcts::platform::abi {

inline constexpr std::uint32_t kCuptiLinkVersion = 2;

// A driver call begins or ends.
struct ApiEvent {
  bool exit = false;
  const char* function = nullptr;
  std::uint32_t cbid = 0;
  const void* params = nullptr;  // the struct of generated_cuda_meta.h, or null
  CUresult* result = nullptr;    // meaningful on exit
  CUcontext context = nullptr;
  std::uint32_t context_id = 0;
  std::uint32_t correlation = 0;
  std::uint64_t* scratch = nullptr;  // the client's; survives from enter to exit
  std::uint64_t* start = nullptr;    // libcupti's own; likewise
};

// What libcupti gives to libcuda. Plain functions, called on the thread of the driver call (api) or
// on the executor (copy, fill) with no lock held.
struct CuptiHooks {
  void (*api)(ApiEvent& event);
  void (*copy)(const CopyRecord& record);
  void (*fill)(const FillRecord& record);
};

// What libcuda gives to libcupti.
struct DriverLink {
  std::uint32_t version;
  void (*attach)(const CuptiHooks* hooks);  // hooks stay valid until the process ends
  Ns (*now)();                              // the host clock; 0 before cuInit
  // Each answers false for a handle that means nothing. A null context is the current one.
  bool (*context_id)(CUcontext context, std::uint32_t* id);
  bool (*context_device)(CUcontext context, int* ordinal);
  bool (*stream_id)(CUcontext context, CUstream stream, bool per_thread, std::uint32_t* id);
  bool (*graph_id)(CUgraph graph, std::uint32_t* id);
  bool (*graph_node_id)(CUgraphNode node, std::uint64_t* id);
  bool (*graph_exec_id)(CUgraphExec exec, std::uint32_t* id);
};

// The attached hooks, or null: the only cost of CUPTI where nobody uses it.
const CuptiHooks* cupti_hooks();

}  // namespace symmcts::platform::abi

// Exported by libcuda.so.1.
extern "C" const symmcts::platform::abi::DriverLink* symmcts_driver_link();
