#include "harness/cli/machine.hpp"

#include <algorithm>

#include "harness/platform/model/profile_lookup.hpp"

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

// One folder a GPU that the NVIDIA driver of this host has claimed.
constexpr char kDriverGpus[] = "/proc/driver/nvidia/gpus";

Result<Machine> system_machine() {
  Machine machine;
  machine.software = false;
  machine.name = kSystem;
  std::error_code error;
  for (fs::directory_iterator it(kDriverGpus, error), end; !error && it != end; ++it) {
    ++machine.gpus_per_host;
  }
  if (machine.gpus_per_host == 0) {
    return Error{"--platform system: this host has no NVIDIA GPU (" + std::string(kDriverGpus) +
                 ")"};
  }
  return machine;
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000.0));
}

}  // namespace

Result<Machine> find_machine(const std::string& name, const Locations& at) {
  if (name == kSystem) return system_machine();
  auto file = find_named(name, at.platforms(), "platform");
  if (!file) return Error{file.error()};
  auto loaded = platform::load_profile(file.value().string(), {at.platforms().string()});
  if (!loaded) return Error{loaded.error()};
  const platform::Profile& profile = loaded.value().profile;
  Machine machine;
  machine.name = name;
  machine.platform = file.value().string();
  machine.hosts = profile.hosts.value;
  machine.gpus_per_host = profile.gpus_per_host.value;
  machine.fabric = profile.fabric.value && profile.imex_channel.value;
  return machine;
}

Result<launch::UnitRequest> make_request(const Machine& machine, const Placement& placement,
                                         int ranks, std::uint64_t seed, const Locations& at,
                                         const launch::Variables& host) {
  launch::UnitRequest request;
  request.programs = at.programs;
  request.software = machine.software;
  request.platform = machine.platform;
  if (placement.launcher == "fork") {
    request.launcher = launch::Launcher::fork;
  } else if (placement.launcher == "mpirun") {
    request.launcher = launch::Launcher::mpirun;
  } else if (placement.launcher == "srun") {
    return Error{"--launcher srun is not supported yet; use fork or mpirun"};
  } else {
    return Error{"--launcher " + placement.launcher + ": must be fork or mpirun"};
  }
  if (request.launcher == launch::Launcher::fork && !placement.launch_args.empty()) {
    return Error{"--launch-arg needs --launcher mpirun"};
  }
  request.launch_args = placement.launch_args;

  launch::PlacementOptions seats;
  seats.ranks = ranks;
  seats.hosts = machine.hosts;
  seats.gpus_per_host = machine.gpus_per_host;
  seats.root_ordinal = placement.root_ordinal;
  seats.one_visible_gpu = placement.one_visible_gpu;
  const auto visible = host.find("CUDA_VISIBLE_DEVICES");
  if (!machine.software && visible != host.end()) {
    seats.visible = visible->second;
    const auto listed = std::count(seats.visible.begin(), seats.visible.end(), ',') + 1;
    seats.gpus_per_host = std::min(seats.gpus_per_host, static_cast<int>(listed));
  }
  auto placed = launch::place_ranks(seats);
  if (!placed) return Error{placed.error()};
  request.seats = std::move(placed.value());
  auto scratch = launch::find_scratch(host);
  if (!scratch) return Error{scratch.error()};
  request.scratch = std::move(scratch.value());
  request.root_ordinal = placement.root_ordinal;
  request.one_visible_gpu = placement.one_visible_gpu;
  request.allow_multicast = placement.allow_multicast;
  request.seed = seed;
  request.patience.stall = milliseconds_of(placement.stall_seconds);
  request.patience.total = milliseconds_of(placement.unit_seconds);
  return request;
}

}  // namespace symmcts::cli
