// Physical memory: A2, A4.7, A5 and the measured table.
#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

constexpr std::size_t kMost = 20;

CUmemAllocationProp property(int device, unsigned types) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(types);
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return prop;
}

struct CreateCall {
  CUmemGenericAllocationHandle handle = 0, *out = &handle;
  std::size_t size = 0;
  CUmemAllocationProp prop{};
  const CUmemAllocationProp* props = &prop;
  unsigned long long flags = 0;
  Expect expected;
};

// One argument that the driver refuses, with the measured code.
void spoil(Session& s, CreateCall& c) {
  c.expected = Expect::invalid();
  switch (s.draw.below(12)) {
    case 0:
      c.size = s.draw.of<std::size_t>({0, c.size + 4096, c.size + 1, ~std::size_t{0}});
      break;
    case 1:
      c.flags = 1;
      break;
    case 2:
      c.out = nullptr;
      break;
    case 3:
      c.props = nullptr;
      break;
    case 4:
      c.size = std::size_t{1} << s.draw.of({50, 58, 63});
      c.expected = Expect::exactly(CUDA_ERROR_OUT_OF_MEMORY);
      break;
    case 5:
      c.prop.location.id = s.draw.of({-1, s.world.devices, 1000});
      c.expected = Expect::exactly(CUDA_ERROR_INVALID_DEVICE);
      break;
    case 6:
      c.prop.type = static_cast<CUmemAllocationType>(s.draw.of({0, 77}));
      break;
    case 7:
      c.prop.location.type = static_cast<CUmemLocationType>(s.draw.of({0, 99}));
      break;
    case 8:
      c.prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
      break;
    case 9:
      c.prop.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
      c.prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
      break;
    case 10:
      c.prop.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
      break;
    default:
      c.prop.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(kFd | kFabric);
      c.expected = s.world.fabric ? Expect::success() : Expect::exactly(CUDA_ERROR_NOT_PERMITTED);
      break;
  }
}

void create(Session& s) {
  World& w = s.world;
  if (w.handles.size() >= kMost) return;
  CreateCall c;
  c.size = kBlock * (1 + s.draw.below(3));
  const unsigned types = s.draw.of({0U, kFd, kFd, kFabric});
  c.prop = property(static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices))), types);
  if (types == kFabric && !w.fabric) c.expected = Expect::exactly(CUDA_ERROR_NOT_PERMITTED);
  if (s.draw.once_in(4)) {
    c.prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    spoil(s, c);
  }
  const std::string what = "create " + std::to_string(c.size) + " on " +
                           std::to_string(c.prop.location.id) + " types " +
                           std::to_string(c.prop.requestedHandleTypes);
  if (!s.call(what, c.expected, [&] { return s.cu.cuMemCreate(c.out, c.size, c.props, c.flags); }))
    return;
  s.check(w.handles.count(c.handle) == 0, what + ": a handle that is held already");
  auto object = std::make_shared<Object>();
  object->number = ++w.made;
  object->size = c.size;
  object->types = c.prop.requestedHandleTypes;
  object->device = c.prop.location.id;
  object->cells.resize(c.size / kCell);
  w.handles[c.handle] = std::make_shared<Handle>(Handle{c.handle, object, true, 1});
}

// A handle that names nothing here: never given out, or given back. Answers INVALID_VALUE, where a
// real driver crashes (harness/platform/README.md).
CUmemGenericAllocationHandle no_handle(Session& s) {
  auto& released = s.world.released;
  const CUmemGenericAllocationHandle value =
      released.empty() || s.draw.once_in(2)
          ? s.draw.of<CUmemGenericAllocationHandle>({0, 1, 0x7e8000000000, ~0ULL})
          : s.draw.from(released);
  return s.world.handles.count(value) == 0 ? value : 0;
}

void release(Session& s) {
  World& w = s.world;
  if (s.draw.once_in(8)) {
    const auto none = no_handle(s);
    s.call("release of no handle", Expect::invalid(), [&] { return s.cu.cuMemRelease(none); });
    return;
  }
  if (w.handles.empty()) return;
  const HandlePtr handle = s.draw.from(w.handles).second;
  s.call("release " + name(*handle->object), Expect::success(),
         [&] { return s.cu.cuMemRelease(handle->value); });
  if (--handle->references > 0) return;
  w.handles.erase(handle->value);
  w.released.push_back(handle->value);
  w.collect();
}

void retain(Session& s) {
  World& w = s.world;
  CUmemGenericAllocationHandle got = 0, *out = &got;
  CUdeviceptr at = 0;
  Mapping* mapping = nullptr;
  if (!w.mappings.empty()) {
    mapping = &s.draw.from(w.mappings).second;
    at = mapping->at + s.draw.of<std::size_t>({0, 4096, mapping->size - 1});
  }
  Expect expected = mapping != nullptr ? Expect::success() : Expect::invalid();
  int local = 0;
  switch (s.draw.below(12)) {
    case 0:
      out = nullptr;
      expected = Expect::invalid();
      break;
    case 1:
      at = reinterpret_cast<CUdeviceptr>(&local);
      expected = Expect::invalid();
      break;
    case 2:
      if (w.blocks.empty()) return;
      at = s.draw.from(w.blocks).first;
      expected = Expect::invalid();
      break;
    case 3:
      if (w.reservations.empty()) return;
      at = s.draw.from(w.reservations).first;
      mapping = w.mapping_at(at);
      expected = mapping != nullptr ? Expect::success() : Expect::invalid();
      break;
    default:
      break;
  }
  if (!s.call("retain", expected,
              [&] { return s.cu.cuMemRetainAllocationHandle(out, reinterpret_cast<void*>(at)); }))
    return;
  s.check(mapping != nullptr && got == mapping->handle->value,
          "retain: not the handle that was mapped (A5.1)");
  w.handles[got] = mapping->handle;
  ++mapping->handle->references;
}

void properties(Session& s) {
  World& w = s.world;
  CUmemAllocationProp prop{};
  if (w.handles.empty() || s.draw.once_in(8)) {
    const auto none = no_handle(s);
    s.call("properties of no handle", Expect::invalid(),
           [&] { return s.cu.cuMemGetAllocationPropertiesFromHandle(&prop, none); });
    return;
  }
  const HandlePtr handle = s.draw.from(w.handles).second;
  const bool memory = !handle->object->multicast;  // of multicast objects nobody has said (A5.4)
  if (s.call("properties", memory ? Expect::success() : Expect::anything(),
             [&] { return s.cu.cuMemGetAllocationPropertiesFromHandle(&prop, handle->value); }) &&
      memory) {
    const unsigned types = handle->native ? handle->object->types : 0;  // measured
    s.check(static_cast<unsigned>(prop.requestedHandleTypes) == types, "properties: handle types");
    s.check(prop.location.id == handle->object->device, "properties: device");
  }
}

}  // namespace

std::vector<Choice> handle_actions() {
  return {{create, 10}, {release, 8}, {retain, 3}, {properties, 2}};
}

}  // namespace symmcts::fuzz
