#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/platform/model/units.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform {

// How we know a number. The words are not interchangeable: measured means by this project, on the
// hardware that the profile names.
enum class Mark : std::uint8_t { measured, documented, reported, inferred };

template <typename T>
struct Marked {
  T value{};
  Mark mark = Mark::inferred;
  std::string source;
};

// Classes of device work that an engine serves. multicast_native is a copy whose destination is a
// multicast mapping of native provenance while the source's ordinal is the one that the aperture
// reports (it shows as DtoD); every other multicast write is peer. small_htod and inline_htod are
// uploads that ride the compute channel: small ones from pinned memory; from pageable memory, or in
// a graph. peer_read has no table of its own in a profile: it is peer at another rate.
enum class CopyClass : std::uint8_t {
  htod,
  dtoh,
  dtod,
  peer,
  multicast_native,
  small_htod,
  inline_htod,
  peer_read
};
inline constexpr int kCopyClasses = 8;

inline constexpr int kMostHosts = 64;  // of a machine

struct CopyRule {
  Marked<std::string> engine;  // classes with the same engine name queue behind each other
  Marked<int> channel_base;    // first channel id; one per stream follows
  Marked<int> channel_count;   // ids are reused after so many streams
  Marked<int> channel_type;    // 1 compute, 2 asynchronous copy
  Marked<int> gap_ns;          // idle time of the engine between two copies of one stream
  Marked<int> switch_gap_ns;   // the same where the copy before came from another stream
  // (bytes, ns) ascending; constant before the first point (the fixed cost), linear in between,
  // proportional beyond the last.
  Marked<std::vector<std::pair<std::uint64_t, std::uint64_t>>> duration;
  // Name of an engine that shares this one's link, and the factor (over 1) by which a copy takes
  // longer while that engine works too. Empty: none.
  Marked<std::string> contends_with;
  Marked<double> contended_factor;
};

// What only the management library shows. Absent: nobody knows it.
struct Management {
  Marked<std::string> driver;             // version of the driver package
  Marked<std::uint64_t> memory_reserved;  // of the GPU's memory, for the driver itself
  Marked<int> nvlinks, nvlink_version;    // links of a GPU; NVML's number of their generation
  Marked<std::string> nvlink_remote;      // "gpu" or "switch"
  Marked<int> common_ancestor;            // NVML's topology level of two GPUs of one host
  std::optional<Marked<std::uint64_t>> pci_device_id, pci_subsystem_id;
};

// The NVLink domain of a GPU where each holds `a_domain` GPUs; 0: all are in one.
constexpr int domain_of_gpu(int gpu, int a_domain) { return a_domain > 0 ? gpu / a_domain : 0; }

struct Profile {
  std::string name, summary;
  Marked<int> hosts, gpus_per_host;
  Marked<std::string> gpu_name;
  Marked<std::uint64_t> gpu_memory;
  Marked<int> compute_major, compute_minor, async_engines, multiprocessors, driver_version;
  Marked<bool> multicast, fabric, posix_fd;
  Marked<bool> imex_channel;  // without it FABRIC is not permitted
  Marked<std::uint64_t> granularity, granularity_recommended;
  Marked<std::uint64_t> multicast_granularity, multicast_granularity_recommended;
  Marked<std::uint64_t> multicast_slots;
  Marked<int> aperture_ordinal;         // what a native multicast mapping reports; a GPU of a host
  Marked<std::uint64_t> small_upload;   // uploads below this many bytes are small_htod
  Marked<std::uint64_t> inline_upload;  // the largest one from pageable memory
  Marked<std::uint64_t> inline_graph_upload;  // the largest one of a graph, from pinned memory
  Marked<int> default_compute_channel;        // of the default stream, for what rides compute
  Marked<std::uint64_t> staging_chunk;  // piece of a peer copy that goes over the host's memory
  Marked<double> peer_read_factor;      // time of a read from a peer over that of a write to it
  // Which host-transfer engine serves multicast_native: "htod", "dtoh", or "either" (the one that
  // is free first, htod on a tie). The engine of the multicast_native rule repeats it.
  Marked<std::string> dtod_engine;
  CopyRule copies[kCopyClasses];
  std::map<std::string, Marked<std::uint64_t>, std::less<>> call_ns;  // "default", "poll", names
  Marked<std::uint64_t> word_write_ns, word_visible_ns;  // a stream write; its way to a waiter
  // NVLink domains: so many GPUs in a row, in the order of hosts, reach each other.
  Marked<int> gpus_per_domain;
  Marked<std::string> fabric_state;  // of a GPU's registration: "completed", ...
  Marked<std::string> cluster_uuid_text;
  std::array<std::uint8_t, 16> cluster_uuid{};  // of the first domain
  Marked<int> clique_id;
  Management management;

  const CopyRule& rule(CopyClass c) const { return copies[static_cast<int>(c)]; }
  // The NVLink domain of a GPU, by its machine-wide index.
  int domain_of(int gpu) const { return domain_of_gpu(gpu, gpus_per_domain.value); }
  // Engine time of a copy that has the engine's link for itself; at least 1.
  Ns duration(CopyClass c, std::uint64_t bytes) const;
  // Host time of a driver call: the entry of that name, else of the name without its version and
  // stream suffixes (_v2, _ptsz, _ptds), else "default".
  Ns call_cost(std::string_view function) const;
};

// Reads a profile from TOML text. `origin` names it in errors ("file:line:column: what").
// Every number must carry its mark and its source; a key that is missing, unknown or of the wrong
// type is an error, and so is a number that no machine has, or with which times could overflow. A
// text that extends another profile is for load_profile (profile_lookup.hpp).
Result<Profile> parse_profile(std::string_view text, std::string_view origin);

}  // namespace symmcts::platform
