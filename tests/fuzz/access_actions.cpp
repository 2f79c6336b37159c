// Access and what a pointer says: A6.8, A15 and the measured table.
#include <iterator>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

void set_access(Session& s) {
  World& w = s.world;
  if (w.mappings.empty()) return;
  Mapping& mapping = s.draw.from(w.mappings).second;
  CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE,
                         static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices)))},
                        static_cast<CUmemAccess_flags>(s.draw.of({0, 1, 3, 3, 3, 3}))};
  const CUmemAccessDesc* grants = &grant;
  std::size_t count = 1, size = mapping.size;
  CUdeviceptr at = mapping.at;
  Expect expected = Expect::invalid();
  switch (s.draw.below(16)) {
    case 0:
      grant.location.id = s.draw.of({-1, w.devices});
      break;
    case 1:
      grant.flags = static_cast<CUmemAccess_flags>(s.draw.of({2, 7}));
      break;
    case 2:
      count = 0;
      break;
    case 3:
      grants = nullptr;
      break;
    case 4:
      size = 0;
      break;
    case 5:
      if (size == kBlock) return;
      size -= kBlock;
      break;
    case 6:
      at += 4096;
      break;
    case 7:
      size = ~(kBlock - 1);
      break;
    default:
      expected = Expect::success();
      break;
  }
  const std::string what = "set access " + std::to_string(grant.flags) + " for " +
                           std::to_string(grant.location.id) + " on " +
                           name(*mapping.handle->object);
  if (s.call(what, expected, [&] { return s.cu.cuMemSetAccess(at, size, grants, count); })) {
    mapping.access[static_cast<std::size_t>(grant.location.id)] = grant.flags;
  }
}

void get_access(Session& s) {
  World& w = s.world;
  if (w.reservations.empty()) return;
  CUdeviceptr at = s.draw.from(w.reservations).first;
  if (!w.mappings.empty() && !s.draw.once_in(4)) at = s.draw.from(w.mappings).first + 4096;
  const Mapping* mapping = w.mapping_at(at);
  const CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE,
                            static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices)))};
  unsigned long long flags = 9;
  if (!s.call("get access", mapping != nullptr ? Expect::success() : Expect::invalid(),
              [&] { return s.cu.cuMemGetAccess(&flags, &place, at); })) {
    return;
  }
  s.check(flags == mapping->access[static_cast<std::size_t>(place.id)],
          "get access: not what was set");
}

void attributes(Session& s) {
  World& w = s.world;
  if (w.reservations.empty()) return;
  const CUdeviceptr at = s.draw.from(w.reservations).first + kBlock;
  const Mapping* mapping = w.mapping_at(at);
  const auto ask = [&](CUpointer_attribute which) {
    unsigned long long value = 0;
    // Reserved space: INVALID_VALUE (measured); where the range has ended nobody knows.
    const auto found = std::prev(w.reservations.upper_bound(at));
    const bool inside = at - found->first < found->second;
    s.call("attribute " + std::to_string(which),
           mapping != nullptr ? Expect::success()
           : inside           ? Expect::invalid()
                              : Expect::anything(),
           [&] { return s.cu.cuPointerGetAttribute(&value, which, at); });
    return value;
  };
  const unsigned long long allowed = ask(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES);
  const auto ordinal = static_cast<int>(ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
  if (mapping == nullptr) return;
  const Object& object = *mapping->handle->object;
  s.check(allowed == (mapping->handle->native ? object.types : 0),
          "allowed handle types");                                             // measured
  if (!object.multicast) s.check(ordinal == object.device, "device ordinal");  // measured
}

}  // namespace

std::vector<Choice> access_actions() {
  return {{set_access, 14}, {get_access, 3}, {attributes, 3}};
}

}  // namespace symmcts::fuzz
