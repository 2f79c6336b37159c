#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symmcts::evidence {

// Nanoseconds of the clock that the header names. Signed, so that differences need no care.
using Ns = std::int64_t;

// Stands for "the source does not say" wherever a number is optional.
inline constexpr std::int64_t kAbsent = -1;

// What a profiler calls a copy: CUpti_ActivityMemcpyKind, reduced to the kinds that matter here.
enum class CopyKind : std::uint8_t { htod, dtoh, dtod, ptop, htoh, other };
const char* name(CopyKind kind);  // "HtoD", ...; "other"
std::optional<CopyKind> copy_kind(std::string_view name);
inline bool is_device_copy(CopyKind kind) {
  return kind == CopyKind::dtod || kind == CopyKind::ptop;
}
inline bool is_host_copy(CopyKind kind) {
  return kind == CopyKind::htod || kind == CopyKind::dtoh || kind == CopyKind::htoh;
}

enum class MemoryKind : std::uint8_t { unknown, pageable, pinned, device };

// Where a pointer argument points: into a mapping, a cuMemAlloc block, host memory, or unknown.
struct Place {
  enum class Kind : std::uint8_t { unknown, mapping, alloc, pinned, pageable };
  Kind kind = Kind::unknown;
  std::int64_t number = kAbsent;  // mapping or alloc
  std::int64_t offset = 0;
};

// One memory operation of a cuStreamBatchMemOp call.
struct WordOp {
  bool write = false;  // else a wait
  Place at;
  std::uint64_t value = 0;
};

// The arguments of a driver call that the judge reads; which are set depends on the call (README).
struct CallArgs {
  std::int64_t handle = kAbsent;
  std::int64_t mem_handle = kAbsent;
  std::int64_t bytes = kAbsent;
  std::int64_t device = kAbsent;
  std::int64_t devices = kAbsent;  // cuMulticastCreate: how many
  std::int64_t types = kAbsent;
  std::int64_t range = kAbsent;
  std::int64_t mapping = kAbsent;
  std::int64_t offset = kAbsent;
  std::int64_t mc_offset = kAbsent;
  std::int64_t mem_offset = kAbsent;
  std::int64_t stream = kAbsent;
  std::int64_t event = kAbsent;
  std::optional<std::uint64_t> value;
  std::string route;  // "fd", "fabric"
  std::string token;  // identifies a fabric handle; empty for fd
  Place at, dst, src;
  std::vector<std::int64_t> mappings;  // cuMemUnmap
  std::vector<WordOp> words;           // cuStreamBatchMemOp, where listed
  std::vector<Place> batch;            // destinations of a batch of copies, where listed
};

// A driver or runtime call that has ended. `line` orders all lines of one rank as they were
// written.
struct Call {
  std::int64_t seq = kAbsent;
  Ns t0 = 0;
  Ns t1 = 0;
  std::string name;
  int result = 0;
  std::int64_t corr = kAbsent;
  CallArgs args;
  std::size_t line = 0;
  bool ok() const { return result == 0; }
};

// A call that may block has begun. One without a Call of the same `seq` never came back.
struct Enter {
  std::int64_t seq = kAbsent;
  Ns t = 0;
  std::string name;
  std::size_t line = 0;
};

// One activity record of a copy.
struct Copy {
  std::int64_t corr = kAbsent;
  CopyKind kind = CopyKind::other;
  std::int64_t bytes = 0;
  Ns start = 0;
  Ns end = 0;
  int device = -1;
  std::int64_t context = kAbsent;
  std::int64_t stream = kAbsent;
  std::int64_t channel = kAbsent;
  std::int64_t channel_type = kAbsent;  // CUpti_ChannelType: 1 compute, 2 async, 3 decompression
  MemoryKind src_kind = MemoryKind::unknown;
  MemoryKind dst_kind = MemoryKind::unknown;
  int src_device = -1;  // PtoP only
  int dst_device = -1;
  std::int64_t copies = 1;                    // more where a batch was merged into one record
  bool graph = false;                         // replayed from a CUDA graph
  bool timed() const { return end > start; }  // start = end = 0: the profiler had no timestamp
};

// Other work that occupies a stream: a memset or a kernel.
struct Work {
  std::int64_t corr = kAbsent;
  std::int64_t bytes = 0;  // memset; 0 for a kernel
  Ns start = 0;
  Ns end = 0;
  int device = -1;
  std::int64_t stream = kAbsent;
  bool kernel = false;
};

// A line of the rank program; `what` says which of the other members are set (README).
struct Mark {
  std::string what;
  Ns t = 0;
  std::string case_name;
  std::vector<std::string> ids;
  std::string group;
  std::vector<int> ranks;
  int root = -1;
  std::string phase;
  std::string label;
  std::string call;
  int code = 0;
  bool ok = true;
  std::string text;  // also the reason of a skip
  std::size_t line = 0;
};

struct DeviceInfo {
  int ordinal = -1;
  std::string uuid;
  std::string name;
};

inline constexpr const char* kProfilerClock = "profiler";

struct Header {
  int rank = -1;
  int world = -1;  // -1: not told
  int host = 0;
  std::string driver;  // "software", "real", or empty
  std::string driver_version;
  std::string platform;
  std::string clock;  // "virtual", "cupti", kProfilerClock
  std::optional<std::uint64_t> seed;
  std::string run;  // what the ranks of one run have in common; empty: not told
  std::vector<DeviceInfo> devices;
};

struct Footer {
  std::int64_t seq = 0;  // calls that were entered; the others count lines of the file
  std::int64_t enters = 0;
  std::int64_t calls = 0;
  std::int64_t copies = 0;
  std::int64_t fills = 0;
  std::int64_t marks = 0;
  bool deterministic = false;
};

// What the source of one rank's evidence can show. The judge gives `unknown` for what needs more,
// and never asks which source it was.
struct Capabilities {
  bool provenance = false;    // handles, imports and mappings are recorded
  bool targets = false;       // a copy's destination mapping is known
  bool stream_waits = false;  // waits are recorded with the stream that waits
  bool marks = false;         // the rank program's own checks are there
  bool peer_kind = true;      // peer copies have a kind of their own (not on ROCm)
  Ns resolution = 1;          // of timestamps
};

// Everything known of one rank.
struct RankEvidence {
  std::string file;
  Header header;
  Capabilities shows;
  std::vector<Call> calls;
  std::vector<Enter> enters;
  std::vector<Copy> copies;
  std::vector<Work> works;
  std::vector<Mark> marks;
  std::int64_t dropped = 0;        // records that the profiler lost
  std::int64_t lost_copies = 0;    // of `broken`: those that may have been copies
  std::int64_t broken = 0;         // events or lines that could not be read
  std::optional<Footer> footer;    // absent: the rank did not end by itself
  std::string cut;                 // why this is not everything; empty: it is, as far as it says
  std::vector<std::string> notes;  // what a reader must know: truncation, damage
  int rank() const { return header.rank; }
};

}  // namespace symmcts::evidence
