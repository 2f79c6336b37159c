// Where the bytes of a multicast write land, and when they are there.
#include <algorithm>
#include <array>
#include <utility>

#include "conformance/cases/case.hpp"
#include "conformance/cases/device.hpp"
#include "conformance/cases/pattern.hpp"

namespace symmcts::cases {
namespace {

// An odd size: the last bytes share their page with what no write may touch.
constexpr std::size_t kBytes = (std::size_t{192} << 10) + 13;

struct Span {
  std::size_t offset, bytes;
};

// First and last byte, odd offsets and sizes, across page boundaries of 4 and 64 KiB, everything.
constexpr std::array<Span, 9> kSpans = {{
    {0, 1},
    {1, 1},
    {3, 5},
    {4095, 2},
    {65535, 4099},
    {4096, 65536},
    {kBytes - 1, 1},
    {kBytes - 4097, 4097},
    {0, kBytes},
}};

// One block beside another: a write to the first must leave the second alone.
struct Blocks {
  std::unique_ptr<Block> written, bystander;
  Content expected_written, expected_bystander;
};

std::string describe(const Span& span, int writer) {
  return "multicast write of " + std::to_string(span.bytes) + " bytes at offset " +
         std::to_string(span.offset) + " by rank " + std::to_string(writer);
}

// Compares a whole replica with what it must hold: "" or the first wrong byte.
std::string replica_differs(CUdeviceptr replica, const Content& expected, const Span& span,
                            int writer, const std::string& where) {
  Content actual(expected.size());
  const std::string failure = download(actual.data(), replica, actual.size());
  if (!failure.empty()) return describe(span, writer) + ": " + failure;
  const auto at = first_difference(expected, actual);
  if (!at) return "";
  const bool inside = *at >= span.offset && *at - span.offset < span.bytes;
  return describe(span, writer) + ": " + where + " byte " + std::to_string(*at) +
         (inside ? ", which was written, is " : ", which was not written, is ") +
         std::to_string(actual[*at]) + " instead of " + std::to_string(expected[*at]);
}

// One write by one rank, then every rank looks at its own replica of both blocks, and at the
// next rank's through its peer mapping.
bool one_write(Bench& bench, Blocks& blocks, const Span& span, int writer, int round,
               const Stream& stream, const DeviceBuffer& source) {
  const Content content = pattern(bench.settings().seed, writer, round, span.bytes);
  const bool mine = bench.rank() == writer;
  if (!bench.need(mine ? upload(source.get(), content.data(), content.size()) : "")) return false;
  Outcome outcome;
  if (mine) {
    outcome = blocks.written->write_multicast(span.offset, source.get(), span.bytes, stream.get());
    if (outcome.ok) {
      outcome.text = stream.synchronize();
      outcome.ok = outcome.text.empty();
    }
  }
  if (!bench.step("write_multicast", outcome)) return false;

  std::copy(content.begin(), content.end(),
            blocks.expected_written.begin() + static_cast<std::ptrdiff_t>(span.offset));
  const std::string self = "rank " + std::to_string(bench.rank());
  const int next = (bench.rank() + 1) % bench.size();
  std::string wrong = replica_differs(blocks.written->local(), blocks.expected_written, span,
                                      writer, "in the replica of " + self);
  if (wrong.empty() && next != bench.rank()) {
    wrong = replica_differs(
        blocks.written->peer(next), blocks.expected_written, span, writer,
        "in the replica of rank " + std::to_string(next) + ", read by " + self + ",");
  }
  if (wrong.empty()) {
    wrong = replica_differs(blocks.bystander->local(), blocks.expected_bystander, Span{0, 0},
                            writer, "in another block of " + self);
  }
  return bench.check({"SM-DATA-1"}, wrong, describe(span, writer) + " landed where it should");
}

void multicast_write_reaches_every_replica(Bench& bench) {
  if (!bench.open()) return;
  Blocks blocks;
  blocks.written = bench.make_block(kBytes);
  if (blocks.written == nullptr) return;
  blocks.bystander = bench.make_block(kBytes);
  if (blocks.bystander == nullptr) return;

  // The same background on every rank, so that what each replica must hold is known everywhere.
  const int everybody = bench.size();
  blocks.expected_written = pattern(bench.settings().seed, everybody, 0, kBytes);
  blocks.expected_bystander = pattern(bench.settings().seed, everybody, 1, kBytes);
  Stream stream;
  DeviceBuffer source;
  std::string failure = stream.make();
  if (failure.empty()) failure = source.make(kBytes);
  if (failure.empty()) {
    failure = upload(blocks.written->local(), blocks.expected_written.data(), kBytes);
  }
  if (failure.empty()) {
    failure = upload(blocks.bystander->local(), blocks.expected_bystander.data(), kBytes);
  }
  if (!bench.need(failure)) return;

  int round = 0;
  for (const Span& span : kSpans) {
    for (int writer = 0; writer < bench.size(); ++writer) {
      if (!one_write(bench, blocks, span, writer, round++, stream, source)) return;
    }
  }
  if (!bench.free_block(std::move(blocks.written))) return;
  if (!bench.free_block(std::move(blocks.bystander))) return;
  bench.close();
}

// Sizes at which a copy takes less, about as much, and more than the signals around it.
constexpr std::array<std::size_t, 5> kParts = {64, 4096, std::size_t{64} << 10,
                                               std::size_t{1} << 20, std::size_t{8} << 20};
constexpr int kRounds = 6;
constexpr std::size_t kMostGathered = std::size_t{32} << 20;  // of all ranks
// Of what the next rank contributes, the end is read first, because a read as long as the write
// would end behind it in any case.
constexpr std::size_t kTail = 64;

std::string differing(const Bench& bench, const Content& expected, const Content& actual,
                      int writer, int round, std::size_t bytes) {
  const auto differs = first_difference(expected, actual);
  if (!differs) return "";
  // A tail ends where its part does.
  const std::size_t at = bytes - expected.size() + *differs;
  return "all-gather " + std::to_string(round + 1) + " of " + std::to_string(bytes) +
         " bytes a rank: rank " + std::to_string(bench.rank()) + " read byte " +
         std::to_string(at) + " of rank " + std::to_string(writer) + " as " +
         std::to_string(actual[*differs]) + " instead of " + std::to_string(expected[*differs]);
}

// All-gathers without a pause, each read on the same stream: nothing but what the implementation
// enqueues keeps a read from coming before the bytes, or the next write before the read.
bool gather_and_read(Bench& bench, std::unique_ptr<Block>& block, std::size_t bytes) {
  const std::size_t all = bytes * static_cast<std::size_t>(bench.size());
  Stream stream;
  DeviceBuffer source;
  PinnedBuffer seen, tails;
  std::string failure = stream.make();
  if (failure.empty()) failure = source.make(bytes * kRounds);
  if (failure.empty()) failure = seen.make(all * kRounds);
  if (failure.empty()) failure = tails.make(kTail * kRounds);
  Content content;
  for (int round = 0; round < kRounds; ++round) {
    const Content part = pattern(bench.settings().seed, bench.rank(), round, bytes);
    content.insert(content.end(), part.begin(), part.end());
  }
  if (failure.empty()) failure = upload(source.get(), content.data(), content.size());
  if (!bench.need(failure)) return false;

  Outcome outcome;
  auto* const read = static_cast<unsigned char*>(seen.get());
  auto* const ends = static_cast<unsigned char*>(tails.get());
  const int next = (bench.rank() + 1) % bench.size();
  const std::size_t tail = bytes * static_cast<std::size_t>(next) + bytes - kTail;
  for (std::size_t round = 0; round < kRounds && failure.empty() && outcome.ok; ++round) {
    outcome = block->all_gather(source.get() + bytes * round, bytes, true, stream.get());
    if (!outcome.ok) break;
    failure = failure_of(
        cuMemcpyDtoHAsync(ends + kTail * round, block->local() + tail, kTail, stream.get()),
        "cuMemcpyDtoHAsync");
    if (!failure.empty()) break;
    failure = failure_of(cuMemcpyDtoHAsync(read + all * round, block->local(), all, stream.get()),
                         "cuMemcpyDtoHAsync");
  }
  // Before waiting: a rank that could not submit would leave the others' streams waiting for ever.
  if (!bench.need(failure) || !bench.step("all_gather", outcome)) {
    stream.abandon();
    source.abandon();
    seen.abandon();
    tails.abandon();
    bench.abandon(std::move(block));
    return false;
  }
  outcome.text = stream.synchronize();
  outcome.ok = outcome.text.empty();
  if (!bench.step("all_gather", outcome)) return false;

  std::string wrong;
  for (int round = 0; round < kRounds && wrong.empty(); ++round) {
    const Content last = pattern(bench.settings().seed, next, round, bytes);
    const auto* const end = ends + kTail * static_cast<std::size_t>(round);
    wrong = differing(bench, Content(last.end() - kTail, last.end()), Content(end, end + kTail),
                      next, round, bytes);
    for (int writer = 0; writer < bench.size() && wrong.empty(); ++writer) {
      const std::size_t at =
          all * static_cast<std::size_t>(round) + bytes * static_cast<std::size_t>(writer);
      wrong = differing(bench, pattern(bench.settings().seed, writer, round, bytes),
                        Content(read + at, read + at + bytes), writer, round, bytes);
    }
  }
  return bench.check({"SM-DATA-3"}, wrong,
                     "reads right behind all-gathers of " + std::to_string(bytes) +
                         " bytes a rank saw all of them");
}

void reads_behind_all_gathers(Bench& bench) {
  if (!bench.open()) return;
  std::unique_ptr<Block> block = bench.make_block(kMostGathered);
  if (block == nullptr) return;
  for (const std::size_t part : kParts) {
    if (part * static_cast<std::size_t>(bench.size()) > kMostGathered) break;
    if (!gather_and_read(bench, block, part)) return;
  }
  if (!bench.free_block(std::move(block))) return;
  bench.close();
}

}  // namespace

std::span<const Case> data_cases() {
  static const std::array cases = {
      Case{"Data",
           "MulticastWriteReachesEveryReplica",
           {"SM-DATA-1"},
           2,
           true,
           multicast_write_reaches_every_replica},
      Case{"Data", "ReadsBehindAllGathers", {"SM-DATA-3"}, 2, true, reads_behind_all_gathers},
  };
  return cases;
}

}  // namespace symmcts::cases
