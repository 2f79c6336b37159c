#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/platform/abi/tests/cupti_library.hpp"
#include "harness/platform/abi/tests/measured_tables.hpp"

// The programs that measured two H200s, run again on the platform with the profile hgx-h200 (set by
// CMakeLists.txt). One process that declares itself managed: times are then a function of the
// calls.
namespace symmcts::platform::abi::test {

inline std::vector<Copy> taken;

inline std::string kind_name(int kind) {
  const char* names[] = {"UNK",  "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                         "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  return names[kind];
}

template <typename Record>
Copy copy_of(const Record& from) {
  Copy out;
  out.kind = kind_name(from.copyKind);
  out.channel_type = from.channelType;
  out.bytes = from.bytes;
  out.start = static_cast<double>(from.start) / 1000;
  out.end = static_cast<double>(from.end) / 1000;
  out.device = static_cast<int>(from.deviceId);
  out.source_kind = from.srcKind;
  out.destination_kind = from.dstKind;
  return out;
}

inline void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = std::size_t{1} << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}

inline void CUPTIAPI on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                 std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto& from = *reinterpret_cast<CUpti_ActivityMemcpy6*>(record);
      taken.push_back(copy_of(from));
      taken.back().copies = from.copyCount;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
      const auto& from = *reinterpret_cast<CUpti_ActivityMemcpyPtoP4*>(record);
      taken.push_back(copy_of(from));
      taken.back().source = static_cast<int>(from.srcDeviceId);
      taken.back().destination = static_cast<int>(from.dstDeviceId);
    }
  }
  std::free(buffer);
}

class Measured : public World {
 protected:
  static void SetUpTestSuite() {
    static bool done = false;
    if (done) return;
    done = true;
    find<void (*)()>("symmcts_platform_managed")();
    EXPECT_CUPTI(CUPTI(cuptiActivityRegisterCallbacks)(on_request, on_complete));
    EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
    EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY2));
  }
  void SetUp() override {
    World::SetUp();
    taken.clear();
  }

  // Everything since the last call, by start, from 0 on.
  static Step step(const std::string& label) {
    EXPECT_CU(CU(cuCtxSynchronize)());
    EXPECT_CUPTI(CUPTI(cuptiActivityFlushAll)(1));
    Step out{label, {}};
    out.copies.swap(taken);
    std::stable_sort(out.copies.begin(), out.copies.end(),
                     [](const Copy& a, const Copy& b) { return a.start < b.start; });
    const double zero = out.copies.empty() ? 0 : out.copies.front().start;
    for (Copy& copy : out.copies) {
      copy.start -= zero;
      copy.end -= zero;
    }
    return out;
  }
  static CUstream stream() {
    CUstream out = nullptr;
    EXPECT_CU(CU(cuStreamCreate)(&out, CU_STREAM_NON_BLOCKING));
    return out;
  }
  static CUdeviceptr pinned(std::size_t bytes) {
    void* out = nullptr;
    EXPECT_CU(CU(cuMemHostAlloc)(&out, bytes, 0));
    return reinterpret_cast<CUdeviceptr>(out);
  }
  static void free_pinned(CUdeviceptr at) {
    EXPECT_CU(CU(cuMemFreeHost)(reinterpret_cast<void*>(at)));
  }
  static void copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream on) {
    EXPECT_CU(CU(cuMemcpyAsync)(to, from, bytes, on));
  }
};

// Kinds and channel types in the order of the starts, and which records ran side by side: more than
// a quarter of the shorter one.
inline std::string shape(const Step& step) {
  std::string out;
  for (std::size_t i = 0; i < step.copies.size(); ++i) {
    const Copy& copy = step.copies[i];
    out += copy.kind + "/" + std::to_string(copy.channel_type);
    for (std::size_t j = 0; j < i; ++j) {
      const Copy& other = step.copies[j];
      const double both = std::min(copy.end, other.end) - std::max(copy.start, other.start);
      if (both > 0.25 * std::min(copy.took(), other.took())) out += "|" + std::to_string(j);
    }
    out += " ";
  }
  return out;
}

inline void expect_durations(const Durations& measured, const Durations& ours) {
  for (const auto& [key, durations] : ours) {
    const auto found = measured.find(key);
    ASSERT_NE(found, measured.end()) << key.first << " of " << key.second << " was not measured";
    const Expectation range = expect_from(found->second);
    for (const double each : durations) {
      EXPECT_GE(each, range.least) << key.first << " " << key.second;
      EXPECT_LE(each, range.most) << key.first << " " << key.second;
    }
  }
}

}  // namespace symmcts::platform::abi::test
