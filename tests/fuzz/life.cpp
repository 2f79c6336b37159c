// How a rank begins, what it does next, and what must be left when it has given everything up.
#include <dirent.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <numeric>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

using List = std::vector<Choice> (*)();

constexpr std::array<List, 13> kLists = {
    reservation_actions, handle_actions,  mapping_actions, access_actions, sharing_actions,
    multicast_actions,   binding_actions, context_actions, stream_actions, copy_actions,
    word_actions,        capture_actions, block_actions};

const std::vector<Action>& weighted() {
  static const std::vector<Action> all = [] {
    std::vector<Action> out;
    for (const List list : kLists) {
      for (const Choice& choice : list()) out.insert(out.end(), choice.weight, choice.action);
    }
    return out;
  }();
  return all;
}

// One thing less; false where nothing is left.
bool give_up_one(Session& s) {
  World& w = s.world;
  std::vector<int> kinds;
  const std::array<std::size_t, 7> left = {
      w.mappings.size(), w.handles.size(), w.descriptors.size(), w.blocks.size(),
      w.pinned.size(),   w.streams.size(), w.events.size()};
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] != 0) kinds.push_back(static_cast<int>(i));
  }
  if (kinds.empty()) return false;
  const Expect success = Expect::success();
  switch (s.draw.from(kinds)) {
    case 0: {
      const Mapping mapping = s.draw.from(w.mappings).second;
      s.call("unmap", success, [&] { return s.cu.cuMemUnmap(mapping.at, mapping.size); });
      w.mappings.erase(mapping.at);
      break;
    }
    case 1: {
      const HandlePtr handle = s.draw.from(w.handles).second;
      s.call("release", success, [&] { return s.cu.cuMemRelease(handle->value); });
      if (--handle->references == 0) w.handles.erase(handle->value);
      break;
    }
    case 2: {
      const int fd = s.draw.from(w.descriptors).first;
      ::close(fd);
      w.descriptors.erase(fd);
      break;
    }
    case 3: {
      const CUdeviceptr at = s.draw.from(w.blocks).first;
      s.call("free", success, [&] { return s.cu.cuMemFree(at); });
      w.blocks.erase(at);
      break;
    }
    case 4: {
      void* at = s.draw.from(w.pinned).first;
      s.call("host free", success, [&] { return s.cu.cuMemFreeHost(at); });
      w.pinned.erase(at);
      break;
    }
    case 5: {
      s.call("destroy stream", success,
             [&] { return s.cu.cuStreamDestroy(w.streams.back().value); });
      w.streams.pop_back();
      break;
    }
    default:
      s.call("destroy event", success, [&] { return s.cu.cuEventDestroy(w.events.back().value); });
      w.events.pop_back();
  }
  return true;
}

// Entries of a file or folder of this process that `wanted` accepts.
std::size_t lines_with(const char* path, const std::string& text) {
  std::ifstream in(path);
  std::size_t found = 0;
  for (std::string line; std::getline(in, line);)
    found += line.find(text) != std::string::npos ? 1 : 0;
  return found;
}

}  // namespace

std::size_t open_descriptors() {
  std::size_t found = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder != nullptr && readdir(folder) != nullptr) ++found;
  if (folder != nullptr) closedir(folder);
  return found;
}

std::size_t mapped_memory_files() { return lines_with("/proc/self/maps", "memfd:"); }

void start(Session& s) {
  World& w = s.world;
  s.call("init", Expect::success(), [&] { return s.cu.cuInit(0); });
  s.call("count", Expect::success(), [&] { return s.cu.cuDeviceGetCount(&w.devices); });
  s.check(w.devices >= 2 && w.devices <= 8, "2 to 8 devices are needed");
  w.contexts.resize(static_cast<std::size_t>(w.devices));
  for (int device = 0; device < w.devices; ++device) {
    s.call("retain primary", Expect::success(), [&] {
      return s.cu.cuDevicePrimaryCtxRetain(&w.contexts[static_cast<std::size_t>(device)], device);
    });
  }
  std::size_t granularity = 0;
  CUmulticastObjectProp prop{};
  s.call("granularity", Expect::success(), [&] {
    return s.cu.cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_MINIMUM);
  });
  s.check(granularity == kBlock, "the fuzzer knows machines of 2 MiB granularity");
  use(s, 0);
}

void step(Session& session) {
  session.draw.from(weighted())(session);
  session.journal.step();
}

void give_up(Session& s) {
  settle_all(s);
  while (give_up_one(s)) {
  }
  for (const auto& [at, size] : s.world.reservations) {
    s.call("free range", Expect::success(),
           [&, at = at, size = size] { return s.cu.cuMemAddressFree(at, size); });
  }
  s.world.reservations.clear();
}

bool all_memory_is_free(Session& s, int device) {
  use(s, device);
  std::size_t free = 0, total = 0;
  s.call("memory info", Expect::success(), [&] { return s.cu.cuMemGetInfo(&free, &total); });
  s.check(free == total,
          "memory is in use that nobody holds: " + std::to_string(total - free) + " bytes");
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemGenericAllocationHandle handle = 0;
  if (s.cu.cuMemCreate(&handle, total / kBlock * kBlock, &prop, 0) != CUDA_SUCCESS) return false;
  s.call("release all memory", Expect::success(), [&] { return s.cu.cuMemRelease(handle); });
  return true;
}

void check_slots(Session& s) {
  const std::size_t slots = s.world.slots;
  std::vector<CUmemGenericAllocationHandle> teams;
  CUmulticastObjectProp prop{};
  prop.numDevices = 2;
  prop.size = kBlock;
  CUdeviceptr at = 0;
  s.call("reserve", Expect::success(),
         [&] { return s.cu.cuMemAddressReserve(&at, kBlock, 0, 0, 0); });
  for (std::size_t i = 0; i <= slots; ++i) {
    CUmemGenericAllocationHandle team = 0;
    s.call("multicast", Expect::success(), [&] { return s.cu.cuMulticastCreate(&team, &prop); });
    for (int device = 0; device < 2; ++device) {
      s.call("add device", Expect::success(),
             [&] { return s.cu.cuMulticastAddDevice(team, device); });
    }
    const Expect expected =
        i < slots ? Expect::success() : Expect::exactly(CUDA_ERROR_OUT_OF_MEMORY);
    const std::string what =
        "map of team " + std::to_string(i + 1) + " of " + std::to_string(slots) + " slots";
    if (s.call(what, expected, [&] { return s.cu.cuMemMap(at, kBlock, 0, team, 0); })) {
      s.call("unmap", Expect::success(), [&] { return s.cu.cuMemUnmap(at, kBlock); });
    }
    teams.push_back(team);
  }
  for (const auto team : teams)
    s.call("release", Expect::success(), [&] { return s.cu.cuMemRelease(team); });
  s.call("free range", Expect::success(), [&] { return s.cu.cuMemAddressFree(at, kBlock); });
}

void release_contexts(Session& s) {
  s.call("no context", Expect::success(), [&] { return s.cu.cuCtxSetCurrent(nullptr); });
  for (int device = 0; device < s.world.devices; ++device) {
    s.call("release primary", Expect::success(),
           [&] { return s.cu.cuDevicePrimaryCtxRelease(device); });
  }
}

}  // namespace symmcts::fuzz
