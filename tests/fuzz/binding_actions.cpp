// Binds: A9, A10.1 to A10.3. Nobody of this project has measured one; where a code is only
// inferred, any failure will do.
#include <algorithm>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

bool overlaps(const Object& object, int device, std::size_t offset, std::size_t size) {
  return std::any_of(object.bindings.begin(), object.bindings.end(),
                     [&](const Object::Binding& other) {
                       return other.device == device && other.offset < offset + size &&
                              offset < other.offset + other.size;
                     });
}

void bind(Session& s) {
  const HandlePtr handle = handle_of(s, true);
  const HandlePtr memory = handle_of(s, false);
  if (!handle || !memory) return;
  Object& object = *handle->object;
  // It would wait for ever.
  if (!object.complete()) return;
  settle_all(s);  // writes reach what is bound when they happen (A12.14)
  std::size_t size = std::min(object.size, memory->object->size), offset = 0, memory_offset = 0;
  if (s.draw.once_in(2)) size = kBlock;
  if (s.draw.once_in(2)) offset = (object.size - size) / kBlock * kBlock;
  if (s.draw.once_in(2)) memory_offset = memory->object->size - size;
  unsigned long long flags = 0;
  CUmemGenericAllocationHandle value = handle->value, bound = memory->value;
  const int device = memory->object->device;
  const bool shares = object.types == 0 || memory->object->types != 0;  // A9.3
  Expect expected = Expect::success();
  if (object.devices.count(device) == 0 || overlaps(object, device, offset, size) || !shares)
    expected = Expect::failure();
  if (object.out_of_slots) expected = Expect::exactly(CUDA_ERROR_OUT_OF_MEMORY);
  const bool clean = expected.kind == Expect::Kind::code && expected.code == CUDA_SUCCESS;
  const Expect spoilt = clean ? Expect::invalid() : Expect::failure();
  switch (s.draw.below(16)) {
    case 0:
      flags = 1;
      expected = spoilt;
      break;
    case 1:
      size = s.draw.of<std::size_t>({0, 4096, size - 4096});
      expected = spoilt;
      break;
    case 2:
      offset += 4096;
      expected = spoilt;
      break;
    case 3:
      memory_offset += 4096;
      expected = spoilt;
      break;
    case 4:
      offset = object.size;
      expected = spoilt;
      break;
    case 5:
      memory_offset = memory->object->size;
      expected = spoilt;
      break;
    case 6:
      size = ~(kBlock - 1);
      expected = spoilt;
      break;
    case 7:
      bound = handle->value;
      expected = Expect::failure();
      break;
    case 8:
      value = memory->value;
      expected = Expect::failure();
      break;
    case 9:
      offset = ~(kBlock - 1);
      expected = spoilt;
      break;
    default:
      break;
  }
  const std::string what = "bind " + name(*memory->object) + " to " + name(object);
  if (s.call(what, expected, [&] {
        return s.cu.cuMulticastBindMem(value, offset, bound, memory_offset, size, flags);
      })) {
    object.bindings.push_back({device, offset, size, memory_offset, memory->object});
  }
}

void bind_address(Session& s) {
  World& w = s.world;
  const HandlePtr handle = handle_of(s, true);
  if (!handle || w.mappings.empty() || !handle->object->complete()) return;
  settle_all(s);
  const Mapping& mapping = s.draw.from(w.mappings).second;
  Object& object = *handle->object;
  const ObjectPtr memory = mapping.handle->object;
  const std::size_t size = kBlock, inside = mapping.size - kBlock;
  const std::size_t offset = (object.size - size) / kBlock * kBlock;
  bool legal = !memory->multicast && object.devices.count(memory->device) != 0 &&
               !overlaps(object, memory->device, offset, size) &&
               (object.types == 0 || memory->types != 0);
  if (s.call("bind an address to " + name(object),
             object.out_of_slots && !memory->multicast ? Expect::exactly(CUDA_ERROR_OUT_OF_MEMORY)
             : legal && !object.out_of_slots           ? Expect::success()
                                                       : Expect::failure(),
             [&] {
               return s.cu.cuMulticastBindAddr(handle->value, offset, mapping.at + inside, size, 0);
             })) {
    object.bindings.push_back({memory->device, offset, size, inside, memory});
  }
}

void unbind(Session& s) {
  const HandlePtr handle = handle_of(s, true);
  if (!handle) return;
  settle_all(s);
  Object& object = *handle->object;
  int device = 0;
  std::size_t offset = 0, size = kBlock;
  auto found = object.bindings.end();
  if (!object.bindings.empty() && !s.draw.once_in(4)) {
    found =
        object.bindings.begin() + static_cast<std::ptrdiff_t>(s.draw.below(object.bindings.size()));
    device = found->device, offset = found->offset, size = found->size;
    if (s.draw.once_in(8)) size += kBlock, found = object.bindings.end();
  } else {
    offset = kBlock * 16;
  }
  // What was not bound is undefined by the manual (A10.1); the platform refuses it.
  if (s.call("unbind from " + name(object),
             found != object.bindings.end() ? Expect::success() : Expect::failure(),
             [&] { return s.cu.cuMulticastUnbind(handle->value, device, offset, size); })) {
    object.bindings.erase(found);
  }
}

}  // namespace

std::vector<Choice> binding_actions() { return {{bind, 12}, {bind_address, 4}, {unbind, 3}}; }

}  // namespace symmcts::fuzz
