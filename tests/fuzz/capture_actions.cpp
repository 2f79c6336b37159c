// Captures and graphs. A capture lies within one action, so that it forbids nothing to the others.
#include <array>
#include <functional>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

// What a launch does to the words, in the graph's order.
using Effects = std::vector<std::function<void()>>;

const Stream* stream_here(Session& s) {
  std::vector<const Stream*> found;
  for (const Stream& stream : s.world.streams) {
    if (stream.device == s.world.current) found.push_back(&stream);
  }
  return found.empty() ? nullptr : s.draw.from(found);
}

std::vector<Mapping*> writable(Session& s) {
  std::vector<Mapping*> found;
  for (auto& [at, mapping] : s.world.mappings) {
    if (mapping.access[static_cast<std::size_t>(s.world.current)] == 3) found.push_back(&mapping);
  }
  return found;
}

void add_work(Session& s, const Stream& stream, const std::vector<Mapping*>& places,
              Effects& effects) {
  const Mapping& mapping = *s.draw.from(places);
  const std::size_t offset = kCell * s.draw.below(mapping.size / kCell);
  const CUdeviceptr at = mapping.at + offset;
  const std::size_t bit = stream.bit;
  const auto cells = s.world.cells(mapping, offset, 8);
  if (s.draw.once_in(2)) {
    const auto byte = static_cast<unsigned char>(s.draw.below(256));
    s.call("captured fill", Expect::success(),
           [&] { return s.cu.cuMemsetD8Async(at, byte, 8, stream.value); });
    effects.push_back([=] { put(cells, bit, 0x0101010101010101U * byte); });
  } else {
    const std::uint64_t word = s.draw.next();
    s.call("captured word", Expect::success(),
           [&] { return s.cu.cuStreamWriteValue64(stream.value, at, word, 0); });
    effects.push_back([=] { put(cells, bit, word); });
  }
}

CUstreamCaptureMode some_mode(Session& s) {
  return s.draw.of({CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                    CU_STREAM_CAPTURE_MODE_RELAXED});
}

void graph(Session& s) {
  const Stream* stream = stream_here(s);
  const auto places = writable(s);
  if (stream == nullptr || places.empty()) return;
  Effects effects;
  s.call("begin capture", Expect::success(),
         [&] { return s.cu.cuStreamBeginCapture(stream->value, some_mode(s)); });
  for (std::size_t i = s.draw.below(5); i > 0; --i) add_work(s, *stream, places, effects);
  CUgraph made = nullptr;
  CUgraphExec exec = nullptr;
  s.call("end capture", Expect::success(),
         [&] { return s.cu.cuStreamEndCapture(stream->value, &made); });
  s.call("instantiate", Expect::success(),
         [&] { return s.cu.cuGraphInstantiateWithFlags(&exec, made, 0); });
  const bool early = s.draw.once_in(2);  // an executable graph outlives the graph (cuda.h)
  if (early) s.call("destroy graph", Expect::success(), [&] { return s.cu.cuGraphDestroy(made); });
  for (std::size_t i = s.draw.below(4); i > 0; --i) {
    s.call("launch", Expect::success(), [&] { return s.cu.cuGraphLaunch(exec, stream->value); });
    for (const auto& effect : effects) effect();
  }
  s.call("synchronize stream", Expect::success(),
         [&] { return s.cu.cuStreamSynchronize(stream->value); });
  s.world.settle(std::uint64_t{1} << stream->bit);
  s.call("destroy exec", Expect::success(), [&] { return s.cu.cuGraphExecDestroy(exec); });
  if (!early) s.call("destroy graph", Expect::success(), [&] { return s.cu.cuGraphDestroy(made); });
}

// What spoils a capture, and what it answers then: the measured table.
void spoilt(Session& s) {
  const Stream* stream = stream_here(s);
  if (stream == nullptr) return;
  const CUstream value = stream->value;
  CUgraph made = nullptr;
  const auto end = [&](const char* what, Expect expected) {
    s.call(what, expected, [&] { return s.cu.cuStreamEndCapture(value, &made); });
  };
  const Expect unsupported = Expect::exactly(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const auto begin = [&](CUstreamCaptureMode mode, Expect expected) {
    s.call("begin capture", expected, [&] { return s.cu.cuStreamBeginCapture(value, mode); });
  };
  switch (s.draw.below(6)) {
    case 0:
      end("end of no capture", Expect::exactly(CUDA_ERROR_ILLEGAL_STATE));
      return;
    case 1:
      begin(static_cast<CUstreamCaptureMode>(9), Expect::invalid());
      return;
    case 2:
      s.call("capture of the default stream", unsupported,
             [&] { return s.cu.cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL); });
      return;
    case 3:
      begin(some_mode(s), Expect::success());
      begin(some_mode(s), Expect::exactly(CUDA_ERROR_ILLEGAL_STATE));
      end("end capture",
          Expect::anything());  // whether the second call spoils it is not in the table
      break;
    case 4:
      begin(CU_STREAM_CAPTURE_MODE_GLOBAL, Expect::success());
      s.call("synchronize while capturing", unsupported,
             [&] { return s.cu.cuStreamSynchronize(value); });
      end("end of a spoilt capture", Expect::exactly(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
      break;
    default: {
      CUdeviceptr at = 0;
      begin(CU_STREAM_CAPTURE_MODE_GLOBAL, Expect::success());
      s.call("alloc while capturing", unsupported, [&] { return s.cu.cuMemAlloc(&at, 4096); });
      end("end of a spoilt capture", Expect::exactly(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
    }
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  s.call("is capturing", Expect::success(),
         [&] { return s.cu.cuStreamIsCapturing(value, &status); });
  s.check(status == CU_STREAM_CAPTURE_STATUS_NONE, "a capture goes on after its end");
  if (made != nullptr)
    s.call("destroy graph", Expect::success(), [&] { return s.cu.cuGraphDestroy(made); });
}

void garbage(Session& s) {
  CUgraphExec exec = nullptr;
  const auto none = reinterpret_cast<CUgraph>(std::uintptr_t{0x40});
  s.call("instantiate garbage", Expect::failure(),
         [&] { return s.cu.cuGraphInstantiateWithFlags(&exec, none, 0); });
  s.call("destroy garbage", Expect::failure(), [&] { return s.cu.cuGraphDestroy(none); });
}

}  // namespace

std::vector<Choice> capture_actions() { return {{graph, 5}, {spoilt, 3}, {garbage, 1}}; }

}  // namespace symmcts::fuzz
