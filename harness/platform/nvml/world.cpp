#include "harness/platform/nvml/world.hpp"

#include <dlfcn.h>

#include "harness/platform/broker/machine_view.hpp"
#include "harness/platform/model/profile_lookup.hpp"
#include "harness/platform/model/scenario.hpp"

namespace symmcts::platform::nvml {
namespace {

// No address that a process maps, so that a handle of something else is no device.
constexpr std::uintptr_t kFirstHandle = 0x6e766d6c0001;

// A private machine has one client, this process, if any. Its libcuda.so.1 is asked, where it is
// loaded; where it is not, the machine does not exist yet and nothing is in use.
std::uint64_t used_by_this_process(const std::string& libcuda, int gpu) {
  void* library = dlopen(libcuda.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return 0;
  auto* used =
      reinterpret_cast<std::uint64_t (*)(int)>(dlsym(library, "symmcts_platform_memory_used"));
  const std::uint64_t bytes = used == nullptr ? 0 : used(gpu);
  dlclose(library);
  return bytes;
}

// The faults of a machine that the first client would start with this scenario.
Result<Faults> faults_of(const std::string& scenario) {
  if (scenario.empty()) return Faults{};
  const auto file = read_text_file(scenario);
  if (!file) return Error{file.error()};
  auto parsed = parse_scenario(file.value().text, scenario);
  if (!parsed) return Error{parsed.error()};
  return std::move(parsed.value().faults);
}

}  // namespace

Result<std::unique_ptr<World>> World::look(Environment environment) {
  Profile profile;
  Faults faults;
  auto view = look_at_machine(environment.machine, environment.host);
  if (!view) return Error{view.error()};
  if (view.value()) {
    auto parsed = parse_profile(view.value()->profile_text, view.value()->profile_name);
    if (!parsed) return Error{parsed.error()};
    profile = std::move(parsed.value());
    faults.confidential_computing = view.value()->confidential_computing;
    faults.fabric_manager = view.value()->fabric_manager;
  } else {
    auto loaded = load_profile(environment.profile, environment.profiles);
    if (!loaded) return Error{loaded.error()};
    profile = std::move(loaded.value().profile);
    auto read = faults_of(environment.scenario);
    if (!read) return Error{read.error()};
    faults = std::move(read.value());
  }
  if (environment.host < 0 || environment.host >= profile.hosts.value) {
    return Error{"SYMMCTS_HOST=" + std::to_string(environment.host) + ": " + profile.name +
                 " has " + std::to_string(profile.hosts.value) + " hosts"};
  }
  return std::unique_ptr<World>(
      new World(std::move(environment), std::move(profile), std::move(faults)));
}

Device World::handle(int index) {
  return reinterpret_cast<Device>(kFirstHandle + static_cast<std::uintptr_t>(index));
}

int World::index_of(Device device) const {
  const auto number = reinterpret_cast<std::uintptr_t>(device);
  const auto count = static_cast<std::uintptr_t>(gpus());
  const bool ours = number >= kFirstHandle && number - kFirstHandle < count;
  return ours ? static_cast<int>(number - kFirstHandle) : -1;
}

Result<std::uint64_t> World::memory_used(int index) const {
  if (environment_.machine.empty()) {
    return used_by_this_process(environment_.libcuda, gpu(index));
  }
  auto view = look_at_machine(environment_.machine, environment_.host);
  if (!view) return Error{view.error()};
  if (!view.value()) return std::uint64_t{0};  // nobody has started it, or all have gone
  const auto& used = view.value()->memory_used;
  const auto at = static_cast<std::size_t>(index);
  if (at >= used.size()) return Error{"the machine has another number of GPUs than before"};
  return used[at];
}

std::array<std::uint8_t, 16> World::cluster_uuid(int index) const {
  auto uuid = profile_.cluster_uuid;
  uuid.back() = static_cast<std::uint8_t>(uuid.back() + profile_.domain_of(gpu(index)));
  return uuid;
}

}  // namespace symmcts::platform::nvml
