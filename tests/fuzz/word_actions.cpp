// Stream memory operations on the watched words, and waits that another stream ends.
#include <algorithm>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

struct Place {
  Mapping* mapping = nullptr;
  const Stream* stream = nullptr;
  CUdeviceptr at = 0;
  std::vector<Cell*> cells;
};

// A word that the stream's device may read and write; no mapping where there is none.
Place some_place(Session& s, bool multicast) {
  World& w = s.world;
  Place place;
  if (w.streams.empty()) return place;
  place.stream = &s.draw.from(w.streams);
  std::vector<Mapping*> found;
  for (auto& [at, mapping] : w.mappings) {
    if (mapping.access[static_cast<std::size_t>(place.stream->device)] == 3 &&
        (multicast || !mapping.handle->object->multicast)) {
      found.push_back(&mapping);
    }
  }
  if (found.empty()) return place;
  place.mapping = s.draw.from(found);
  const std::size_t offset = kCell * s.draw.below(place.mapping->size / kCell);
  place.at = place.mapping->at + offset;
  place.cells = w.cells(*place.mapping, offset, 8);
  use(s, place.stream->device);
  return place;
}

void write_word(Session& s) {
  const Place place = some_place(s, true);
  if (place.mapping == nullptr) return;
  const CUstream stream = place.stream->value;
  const std::uint64_t word = s.draw.next();
  CUdeviceptr at = place.at;
  unsigned flags = 0;
  Expect expected = Expect::success();
  switch (s.draw.below(10)) {
    case 0:
      at += 4;
      expected = Expect::invalid();
      break;
    case 1:
      at = 0;
      expected = Expect::invalid();
      break;
    case 2:
      flags = 0x40;
      expected = Expect::invalid();
      break;
    case 3:
      flags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
      expected = Expect::invalid();
      break;  // measured
    default:
      break;
  }
  const std::string what = "write word to " + name(*place.mapping->handle->object);
  if (s.call(what, expected, [&] { return s.cu.cuStreamWriteValue64(stream, at, word, flags); })) {
    put(place.cells, place.stream->bit, word);
  }
}

void write_half(Session& s) {
  const Place place = some_place(s, true);
  if (place.mapping == nullptr) return;
  const auto half = static_cast<std::uint32_t>(s.draw.next());
  touch(place.cells, place.stream->bit);
  s.call("write half to " + name(*place.mapping->handle->object), Expect::success(),
         [&] { return s.cu.cuStreamWriteValue32(place.stream->value, place.at, half, 0); });
  for (Cell* cell : place.cells) {
    if (cell->value) cell->value = (*cell->value >> 32 << 32) | half;
  }
}

bool quiet(const Place& place) {
  return place.cells.size() == 1 && place.cells.front()->value && place.cells.front()->users == 0;
}

void refused_wait(Session& s) {
  const Place place = some_place(s, false);
  if (place.mapping == nullptr) return;
  const CUstream stream = place.stream->value;
  switch (s.draw.below(3)) {
    case 0:
      s.call("wait with unknown flags", Expect::invalid(),
             [&] { return s.cu.cuStreamWaitValue32(stream, place.at, 0, 0x40); });
      break;
    case 1:
      s.call("wait with flush", Expect::exactly(CUDA_ERROR_NOT_SUPPORTED), [&] {
        return s.cu.cuStreamWaitValue32(stream, place.at, 0, CU_STREAM_WAIT_VALUE_FLUSH);
      });
      break;
    default:
      s.call("wait at an unaligned address", Expect::invalid(),
             [&] { return s.cu.cuStreamWaitValue64(stream, place.at + 4, 0, 0); });
  }
}

// A wait for what is there already, or for what a later write of another stream brings.
void wait_word(Session& s) {
  World& w = s.world;
  settle_all(s);
  const Place place = some_place(s, false);
  if (place.mapping == nullptr || !quiet(place)) return;
  const std::uint64_t there = *place.cells.front()->value;
  const std::uint64_t wanted = s.draw.once_in(3) ? there : there + 1 + s.draw.below(1000);
  const CUstream stream = place.stream->value;
  s.call("wait for a word", Expect::success(), [&] {
    return s.cu.cuStreamWaitValue64(stream, place.at, wanted, CU_STREAM_WAIT_VALUE_EQ);
  });
  if (wanted != there) {
    const Stream* other = nullptr;
    for (const Stream& each : w.streams) {
      if (each.value != stream && place.mapping->access[static_cast<std::size_t>(each.device)] == 3)
        other = &each;
    }
    if (other == nullptr) {  // the program's own stream can still let it go on: a copy to it from
                             // the default stream
      const std::size_t device = static_cast<std::size_t>(place.stream->device);
      s.check(place.mapping->access[device] == 3, "access");
      s.call("end the wait by a fresh stream", Expect::success(), [&] {
        CUstream made = nullptr;
        CUresult code = s.cu.cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
        if (code == CUDA_SUCCESS) code = s.cu.cuStreamWriteValue64(made, place.at, wanted, 0);
        if (code == CUDA_SUCCESS) code = s.cu.cuStreamDestroy(made);
        return code;
      });
    } else {
      use(s, other->device);
      s.call("end the wait", Expect::success(),
             [&] { return s.cu.cuStreamWriteValue64(other->value, place.at, wanted, 0); });
    }
    place.cells.front()->value = wanted;
  }
  s.call("synchronize stream", Expect::success(), [&] { return s.cu.cuStreamSynchronize(stream); });
  settle_all(s);
}

void batch(Session& s) {
  const Place place = some_place(s, false);
  if (place.mapping == nullptr) return;
  const std::uint64_t word = s.draw.next();
  CUstreamBatchMemOpParams params[3] = {};
  params[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, place.at, {}, 0, 0};
  params[0].writeValue.value64 = word;
  params[1].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, 0};
  params[2] = params[0];
  unsigned count = 3;
  Expect expected = Expect::success();
  switch (s.draw.below(6)) {
    case 0:
      count = 0;
      break;
    case 1:
      params[2].operation = static_cast<CUstreamBatchMemOpType>(77);
      expected = Expect::invalid();
      break;
    case 2:
      params[2].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
      expected = Expect::exactly(CUDA_ERROR_NOT_SUPPORTED);
      break;
    default:
      break;
  }
  // Whether a refused batch has written is not measured.
  const std::size_t bit = place.stream->bit;
  if (s.call("batch of words", expected,
             [&] { return s.cu.cuStreamBatchMemOp(place.stream->value, count, params, 0); })) {
    if (count != 0) put(place.cells, bit, word);
  } else {
    put(place.cells, bit, std::nullopt);
  }
}

}  // namespace

std::vector<Choice> word_actions() {
  return {{write_word, 6}, {write_half, 3}, {refused_wait, 2}, {wait_word, 6}, {batch, 3}};
}

}  // namespace symmcts::fuzz
