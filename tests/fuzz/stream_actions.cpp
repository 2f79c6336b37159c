// Streams and events: their codes as measured.
#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

constexpr std::size_t kMost = 6;

void create_stream(Session& s) {
  World& w = s.world;
  if (w.streams.size() >= kMost) return;
  unsigned flags = s.draw.of({0U, 1U});
  Stream stream;
  CUstream* out = &stream.value;
  Expect expected = Expect::success();
  if (s.draw.once_in(8)) flags = 6, expected = Expect::invalid();
  if (s.draw.once_in(8)) out = nullptr, expected = Expect::invalid();
  if (!s.call("create stream", expected, [&] { return s.cu.cuStreamCreate(out, flags); })) return;
  stream.device = w.current;
  std::uint64_t taken = 0xff;
  for (const Stream& other : w.streams) taken |= std::uint64_t{1} << other.bit;
  while ((taken >> stream.bit & 1) != 0) ++stream.bit;
  w.streams.push_back(stream);
}

// Work of a destroyed stream goes on; nobody can wait for it alone, so wait before.
void destroy_stream(Session& s) {
  World& w = s.world;
  if (w.streams.empty()) return;
  const std::size_t i = s.draw.below(w.streams.size());
  const Stream stream = w.streams[i];
  if (s.draw.once_in(2)) {
    s.call("destroy stream at work", Expect::success(),
           [&] { return s.cu.cuStreamDestroy(stream.value); });
    const int before = w.current;
    use(s, stream.device);
    s.call("synchronize context", Expect::success(), [&] { return s.cu.cuCtxSynchronize(); });
    w.settle(w.bits_of(stream.device));
    use(s, before);
  } else {
    s.call("synchronize stream", Expect::success(),
           [&] { return s.cu.cuStreamSynchronize(stream.value); });
    w.settle(std::uint64_t{1} << stream.bit);
    s.call("destroy stream", Expect::success(), [&] { return s.cu.cuStreamDestroy(stream.value); });
  }
  w.streams.erase(w.streams.begin() + static_cast<std::ptrdiff_t>(i));
  if (s.draw.once_in(4)) {  // the platform names it where a real driver crashes
    s.call("use of a destroyed stream", Expect::failure(),
           [&] { return s.cu.cuStreamSynchronize(stream.value); });
  }
}

void synchronize_stream(Session& s) {
  World& w = s.world;
  if (w.streams.empty()) return;
  const Stream& stream = s.draw.from(w.streams);
  if (s.draw.once_in(3)) {
    s.call("query stream", Expect::anything(), [&] {
      const CUresult code = s.cu.cuStreamQuery(stream.value);
      s.check(code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY,
              "query: " + std::to_string(code));
      return code;
    });
    return;
  }
  s.call("synchronize stream", Expect::success(),
         [&] { return s.cu.cuStreamSynchronize(stream.value); });
  w.settle(std::uint64_t{1} << stream.bit);
}

void create_event(Session& s) {
  World& w = s.world;
  if (w.events.size() >= kMost) return;
  Event event;
  unsigned flags = s.draw.of({0U, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING)});
  Expect expected = Expect::success();
  if (s.draw.once_in(8)) flags = s.draw.of({4U, 0x100U}), expected = Expect::invalid();  // measured
  if (!s.call("create event", expected, [&] { return s.cu.cuEventCreate(&event.value, flags); }))
    return;
  event.device = w.current;
  event.timing = flags == 0;
  w.events.push_back(event);
}

void destroy_event(Session& s) {
  World& w = s.world;
  if (w.events.empty()) return;
  const std::size_t i = s.draw.below(w.events.size());
  const CUevent value = w.events[i].value;
  s.call("destroy event", Expect::success(), [&] { return s.cu.cuEventDestroy(value); });
  w.events.erase(w.events.begin() + static_cast<std::ptrdiff_t>(i));
  if (!s.draw.once_in(4)) return;
  s.call("use of a destroyed event", Expect::exactly(CUDA_ERROR_INVALID_HANDLE),
         [&] { return s.cu.cuEventQuery(value); });
}

void record(Session& s) {
  World& w = s.world;
  if (w.events.empty() || w.streams.empty()) return;
  Event& event = s.draw.from(w.events);
  const Stream& stream = s.draw.from(w.streams);
  // Of one context (cuda.h:cuEventRecord).
  const bool same = event.device == stream.device;
  if (s.call("record event", same ? Expect::success() : Expect::exactly(CUDA_ERROR_INVALID_HANDLE),
             [&] { return s.cu.cuEventRecord(event.value, stream.value); })) {
    event.recorded = true;
  }
}

void wait_event(Session& s) {
  World& w = s.world;
  if (w.events.empty() || w.streams.empty()) return;
  const Event& event = s.draw.from(w.events);
  const Stream& stream = s.draw.from(w.streams);
  const unsigned flags = s.draw.once_in(8) ? 2 : 0;
  s.call("wait for event", flags == 0 ? Expect::success() : Expect::invalid(),
         [&] { return s.cu.cuStreamWaitEvent(stream.value, event.value, flags); });
}

void ask_event(Session& s) {
  World& w = s.world;
  if (w.events.empty()) return;
  const Event& first = s.draw.from(w.events);
  const Event& last = s.draw.from(w.events);
  if (s.draw.once_in(2)) {
    s.call("synchronize event", Expect::success(),
           [&] { return s.cu.cuEventSynchronize(first.value); });
  }
  if (!first.recorded) {
    s.call("query event", Expect::success(), [&] { return s.cu.cuEventQuery(first.value); });
  }
  float milliseconds = -1;
  float* out = s.draw.once_in(8) ? nullptr : &milliseconds;
  const bool times =
      first.recorded && last.recorded && first.timing && last.timing && out != nullptr;
  if (times) {
    for (const Event* event : {&first, &last}) {
      s.call("synchronize event", Expect::success(),
             [&] { return s.cu.cuEventSynchronize(event->value); });
    }
  }
  // Events of two devices: not measured.
  const Expect expected = !times                        ? Expect::exactly(CUDA_ERROR_INVALID_HANDLE)
                          : first.device == last.device ? Expect::success()
                                                        : Expect::anything();
  if (s.call("elapsed", expected,
             [&] { return s.cu.cuEventElapsedTime(out, first.value, last.value); })) {
    s.check(&first != &last || milliseconds == 0, "elapsed: an event with itself");
  }
}

}  // namespace

std::size_t bit_of(const Session& session, const Stream* stream) {
  return stream == nullptr ? static_cast<std::size_t>(session.world.current) : stream->bit;
}

std::vector<Choice> stream_actions() {
  return {{create_stream, 4}, {destroy_stream, 2}, {synchronize_stream, 8}, {create_event, 3},
          {destroy_event, 2}, {record, 6},         {wait_event, 6},         {ask_event, 4}};
}

}  // namespace symmcts::fuzz
