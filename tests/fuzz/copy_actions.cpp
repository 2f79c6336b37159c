// Fills and copies, and what they leave in memory.
#include <algorithm>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

// What the current device may do behind a mapping: cuda.h's access flags.
unsigned access(const Session& s, const Mapping& mapping) {
  return mapping.access[static_cast<std::size_t>(s.world.current)];
}

// A stream of the current device, or null for its default one.
const Stream* some_stream(Session& s) {
  std::vector<const Stream*> found{nullptr};
  for (const Stream& stream : s.world.streams) {
    if (stream.device == s.world.current) found.push_back(&stream);
  }
  return s.draw.from(found);
}

CUstream value_of(const Stream* stream) { return stream == nullptr ? nullptr : stream->value; }

std::uint64_t repeated(unsigned byte) { return 0x0101010101010101U * byte; }

void fill(Session& s) {
  World& w = s.world;
  if (w.mappings.empty()) return;
  const Mapping& mapping = s.draw.from(w.mappings).second;
  const Stream* stream = some_stream(s);
  const auto byte = static_cast<unsigned char>(s.draw.below(256));
  std::size_t offset = kCell * s.draw.below(mapping.size / kCell);
  std::size_t size =
      kCell * (1 + s.draw.below(std::min<std::size_t>(4, (mapping.size - offset) / kCell)));
  Expect expected = Expect::success();
  if (s.draw.once_in(12))
    offset = 0, size = mapping.size + 64 * kBlock, expected = Expect::failure();
  if (s.draw.once_in(24)) size = 0, expected = Expect::success();
  // "memset without access" and "of a peer without access": INVALID_VALUE (measured). Through a
  // mapping that may only be read: not measured, but no success.
  if (size != 0 && access(s, mapping) == 0) expected = Expect::invalid();
  if (size != 0 && access(s, mapping) == 1) expected = Expect::failure();
  const CUdeviceptr at = mapping.at + offset;
  const std::string what = "fill " + name(*mapping.handle->object) + "+" + std::to_string(offset) +
                           " " + std::to_string(size);
  const bool done = s.call(what, expected, [&] {
    return s.draw.once_in(3) && stream == nullptr
               ? s.cu.cuMemsetD8(at, byte, size)
               : s.cu.cuMemsetD8Async(at, byte, size, value_of(stream));
  });
  if (done) put(w.cells(mapping, offset, size), bit_of(s, stream), repeated(byte));
}

void upload(Session& s) {
  World& w = s.world;
  if (w.mappings.empty()) return;
  const Mapping& mapping = s.draw.from(w.mappings).second;
  const Stream* stream = some_stream(s);
  const std::size_t offset = kCell * s.draw.below(mapping.size / kCell);
  const std::uint64_t word = s.draw.next();
  const unsigned may = access(s, mapping);
  // Without access a copy may go through the host (measured for peers): not settled for a host's
  // end.
  const Expect expected = may == 3   ? Expect::success()
                          : may == 1 ? Expect::failure()
                                     : Expect::anything();
  const std::string what =
      "upload to " + name(*mapping.handle->object) + "+" + std::to_string(offset);
  const bool done = s.call(what, expected, [&] {
    return stream == nullptr
               ? s.cu.cuMemcpyHtoD(mapping.at + offset, &word, sizeof word)
               : s.cu.cuMemcpyHtoDAsync(mapping.at + offset, &word, sizeof word, stream->value);
  });
  if (done) put(w.cells(mapping, offset, sizeof word), bit_of(s, stream), word);
}

void download(Session& s) {
  World& w = s.world;
  if (w.mappings.empty()) return;
  const Mapping& mapping = s.draw.from(w.mappings).second;
  if (mapping.handle->object->multicast) return;  // undefined (A12.12)
  const std::size_t offset = kCell * s.draw.below(mapping.size / kCell);
  std::uint64_t word = 0x5a5a5a5a5a5a5a5aU;
  // To read is what CU_MEM_ACCESS_FLAGS_PROT_READ allows (cuda.h).
  const Expect expected = access(s, mapping) == 0 ? Expect::anything() : Expect::success();
  const std::string what =
      "download from " + name(*mapping.handle->object) + "+" + std::to_string(offset);
  const bool done = s.call(
      what, expected, [&] { return s.cu.cuMemcpyDtoH(&word, mapping.at + offset, sizeof word); });
  if (!done) return;
  const auto cells = w.cells(mapping, offset, sizeof word);
  touch(cells, bit_of(s, nullptr));
  const auto& known = cells.front()->value;
  s.check(!known || *known == word,
          what + ": " + std::to_string(word) + " instead of " + std::to_string(known.value_or(0)));
}

void copy(Session& s) {
  World& w = s.world;
  if (w.mappings.size() < 2) return;
  const Mapping& to = s.draw.from(w.mappings).second;
  const Mapping& from = s.draw.from(w.mappings).second;
  const Stream* stream = some_stream(s);
  if (from.handle->object->multicast) return;  // undefined
  const std::size_t to_offset = kCell * s.draw.below(to.size / kCell),
                    from_offset = kCell * s.draw.below(from.size / kCell);
  const std::size_t room = std::min(to.size - to_offset, from.size - from_offset) / kCell;
  const std::size_t size = kCell * (1 + s.draw.below(std::min<std::size_t>(4, room)));
  auto targets = w.cells(to, to_offset, size);
  const auto sources = w.cells(from, from_offset, size);
  // Onto itself: undefined.
  for (const Cell* cell : sources) {
    if (std::find(targets.begin(), targets.end(), cell) != targets.end()) return;
  }
  const bool through_own = access(s, to) == 3 && (access(s, from) & 1) != 0;
  // Where another device owns the memory it may go through the host, as without access (measured).
  const bool refused = access(s, to) == 1 && to.handle->object->device == w.current;
  const Expect expected = through_own ? Expect::success()
                          : refused   ? Expect::failure()
                                      : Expect::anything();
  const std::string what = "copy " + name(*from.handle->object) + "+" +
                           std::to_string(from_offset) + " to " + name(*to.handle->object) + "+" +
                           std::to_string(to_offset) + " " + std::to_string(size);
  const bool done = s.call(what, expected, [&] {
    return s.cu.cuMemcpyDtoDAsync(to.at + to_offset, from.at + from_offset, size, value_of(stream));
  });
  if (!done) return;
  const std::size_t bit = bit_of(s, stream);
  touch(sources, bit);
  // Each replica takes the same words.
  for (std::size_t i = 0; i < sources.size(); ++i) {
    put(w.cells(to, to_offset + i * kCell, kCell), bit, sources[i]->value);
  }
}

void refused(Session& s) {
  World& w = s.world;
  char word[8] = {};
  switch (s.draw.below(5)) {
    case 0:
      s.call("upload to address 0", Expect::invalid(),
             [&] { return s.cu.cuMemcpyHtoD(0, word, 8); });
      break;
    case 1:
      s.call("copy of size 0", Expect::success(), [&] { return s.cu.cuMemcpyDtoD(0, 0, 0); });
      break;
    case 2:
      s.call("fill of address 0", Expect::invalid(), [&] { return s.cu.cuMemsetD8(0, 1, 8); });
      break;
    case 3:
      s.call("unaligned fill", Expect::invalid(),
             [&] { return s.cu.cuMemsetD32(0x7e8000000001, 1, 8); });
      break;
    default: {
      if (w.reservations.empty()) return;
      const auto [at, size] = s.draw.from(w.reservations);
      if (w.mapped_in(at, size)) return;  // measured: reserved space
      s.call("upload to reserved space", Expect::invalid(),
             [&] { return s.cu.cuMemcpyHtoD(at, word, 8); });
    }
  }
}

}  // namespace

std::vector<Choice> copy_actions() {
  return {{fill, 12}, {upload, 10}, {download, 16}, {copy, 12}, {refused, 2}};
}

}  // namespace symmcts::fuzz
