// Maps: A6 and the measured table.
#include <iterator>
#include <tuple>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

// A free place of `size` in a reservation, or 0.
CUdeviceptr free_place(Session& s, std::size_t size) {
  World& w = s.world;
  for (int attempt = 0; attempt < 8 && !w.reservations.empty(); ++attempt) {
    const auto& [at, length] = s.draw.from(w.reservations);
    if (length < size) continue;
    const CUdeviceptr place = at + kBlock * s.draw.below((length - size) / kBlock + 1);
    if (!w.mapped_in(place, size)) return place;
  }
  return 0;
}

// What a whole object may answer: a multicast object without its devices would wait for ever.
bool mappable(const Object& object, Expect& expected) {
  if (object.multicast && !object.complete()) return false;
  if (object.out_of_slots) expected = Expect::exactly(CUDA_ERROR_OUT_OF_MEMORY);  // A9.10
  return true;
}

void map(Session& s) {
  World& w = s.world;
  if (w.handles.empty()) return;
  const HandlePtr handle = s.draw.from(w.handles).second;
  Object& object = *handle->object;
  Expect expected = Expect::success();
  if (!mappable(object, expected)) return;
  std::size_t size = object.size, offset = 0;
  CUdeviceptr at = free_place(s, size);
  if (at == 0) return;
  unsigned long long flags = 0;
  CUmemGenericAllocationHandle value = handle->value;
  if (object.multicast && s.draw.once_in(3)) size = kBlock;  // a part of it, from its start (A6.5)
  const bool memory = !object.multicast;
  const Expect unlike = memory ? Expect::exactly(CUDA_ERROR_NOT_SUPPORTED) : Expect::failure();
  switch (s.draw.below(20)) {
    case 0:
      flags = 1;
      expected = Expect::invalid();
      break;
    case 1:
      size = 0;
      expected = Expect::invalid();
      break;
    case 2:
      size = object.size + kBlock;
      expected = unlike;
      break;
    case 3:
      size -= 4096;
      expected = unlike;
      break;
    case 4:
      offset = kBlock;
      expected = Expect::exactly(CUDA_ERROR_NOT_SUPPORTED);
      break;
    case 5:
      at += 4096;
      expected = Expect::invalid();
      break;
    case 6:
      at = 0;
      expected = Expect::invalid();
      break;
    case 7:
      if (w.mappings.empty()) return;
      at = s.draw.from(w.mappings).first;
      expected = Expect::invalid();
      break;
    case 8:
      value = 12345;
      expected = Expect::invalid();
      break;
    case 9:
      size = ~(kBlock - 1);
      expected = unlike;
      break;
    default:
      break;
  }
  // A failed team answers before a place is looked at, or after: nobody has measured that.
  if (object.out_of_slots && expected.code != CUDA_ERROR_OUT_OF_MEMORY)
    expected = Expect::failure();
  if (!s.call("map " + name(object) + " of " + std::to_string(size), expected,
              [&] { return s.cu.cuMemMap(at, size, offset, value, flags); })) {
    return;
  }
  w.mappings[at] = {at, size, handle, {}};
}

void unmap(Session& s) {
  World& w = s.world;
  if (w.reservations.empty()) return;
  const bool one = !w.mappings.empty() && !s.draw.once_in(4);
  CUdeviceptr at = 0;
  std::size_t size = 0;
  Expect expected = Expect::success();
  if (one) {
    const Mapping& mapping = s.draw.from(w.mappings).second;
    at = mapping.at;
    size = mapping.size;
    if (s.draw.once_in(8) && size > kBlock) {
      size -= kBlock;  // a part: measured
      expected = Expect::invalid();
    }
  } else {  // a whole reservation, with or without mappings inside: measured
    std::tie(at, size) = s.draw.from(w.reservations);
    if (s.draw.once_in(8)) size = 0, expected = Expect::invalid();
    if (s.draw.once_in(8)) at = kBlock * 7, expected = Expect::invalid();  // no reservation
  }
  const bool done = s.call("unmap of " + std::to_string(size), expected,
                           [&] { return s.cu.cuMemUnmap(at, size); });
  for (int device = 0; device < w.devices; ++device) w.settle(w.bits_of(device));  // A6.11
  if (!done) return;
  for (auto mapping = w.mappings.begin(); mapping != w.mappings.end();) {
    const bool inside = mapping->first >= at && mapping->first - at < size;
    mapping = inside ? w.mappings.erase(mapping) : std::next(mapping);
  }
  w.collect();
}

}  // namespace

std::vector<Choice> mapping_actions() { return {{map, 14}, {unmap, 7}}; }

}  // namespace symmcts::fuzz
