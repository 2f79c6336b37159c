// Multicast objects: A7 to A10. Nobody of this project has measured one; where a code is only
// inferred, any failure will do.
#include <algorithm>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

constexpr std::size_t kMost = 20;

void create(Session& s) {
  World& w = s.world;
  if (w.handles.size() >= kMost) return;
  CUmulticastObjectProp prop{};
  prop.numDevices =
      static_cast<unsigned>(2 + s.draw.below(static_cast<std::size_t>(w.devices) - 1));
  prop.size = kBlock * (1 + s.draw.below(4));
  prop.handleTypes = s.draw.of<unsigned long long>({0, kFd, kFd, kFabric});
  CUmemGenericAllocationHandle value = 0, *out = &value;
  const CUmulticastObjectProp* props = &prop;
  Expect expected = Expect::success();
  if (prop.handleTypes == kFabric && !w.fabric)
    expected = Expect::exactly(CUDA_ERROR_NOT_PERMITTED);
  const auto spoilt = [&] {
    if (expected.code == CUDA_ERROR_NOT_PERMITTED)
      expected = Expect::failure();
    else
      expected = Expect::invalid();
  };
  switch (s.draw.below(16)) {
    case 0:
      prop.numDevices = s.draw.of({0U, 1U});
      spoilt();
      break;  // A7.4
    case 1:
      prop.size = s.draw.of<std::size_t>({0, kBlock / 2, kBlock + 4096});
      spoilt();
      break;
    case 2:
      prop.flags = 1;
      spoilt();
      break;
    case 3:
      out = nullptr;
      spoilt();
      break;
    case 4:
      props = nullptr;
      spoilt();
      break;
    default:
      break;
  }
  if (!s.call("multicast of " + std::to_string(prop.numDevices) + " size " +
                  std::to_string(prop.size) + " types " + std::to_string(prop.handleTypes),
              expected, [&] { return s.cu.cuMulticastCreate(out, props); })) {
    return;
  }
  auto object = std::make_shared<Object>();
  object->number = ++w.made;
  object->multicast = true;
  object->size = prop.size;
  object->types = static_cast<unsigned>(prop.handleTypes);
  object->wanted = prop.numDevices;
  w.handles[value] = std::make_shared<Handle>(Handle{value, object, true, 1});
}

void add_device(Session& s) {
  World& w = s.world;
  const HandlePtr handle = handle_of(s, !s.draw.once_in(10));
  if (!handle) return;
  Object& object = *handle->object;
  int device = static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices)));
  if (s.draw.once_in(16)) device = s.draw.of({-1, w.devices});
  const bool known = device >= 0 && device < w.devices;
  const bool legal =
      object.multicast && known && !object.complete() && object.devices.count(device) == 0;
  if (!s.call("add device " + std::to_string(device) + " to " + name(object),
              legal ? Expect::success() : Expect::failure(),
              [&] { return s.cu.cuMulticastAddDevice(handle->value, device); })) {
    return;
  }
  const std::size_t used = w.slots_used();
  object.devices.insert(device);
  if (!object.complete()) return;
  object.has_slot = used < w.slots;  // the last device takes a slot of the switch (A7.5, A8.6)
  object.out_of_slots = !object.has_slot;
}

}  // namespace

HandlePtr handle_of(Session& s, bool multicast) {
  std::vector<HandlePtr> found;
  for (const auto& [value, handle] : s.world.handles) {
    if (handle->object->multicast == multicast) found.push_back(handle);
  }
  return found.empty() ? nullptr : s.draw.from(found);
}

std::vector<Choice> multicast_actions() { return {{create, 5}, {add_device, 16}}; }

}  // namespace symmcts::fuzz
