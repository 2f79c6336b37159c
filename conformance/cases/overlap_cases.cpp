// All-gathers by copy engine beside pinned transfers of the same device. The judge reads from the
// records whether they ran side by side.
#include <algorithm>
#include <array>
#include <utility>

#include "conformance/cases/case.hpp"
#include "conformance/cases/device.hpp"
#include "conformance/cases/overlap_sizes.hpp"
#include "conformance/cases/pattern.hpp"

namespace symmcts::cases {
namespace {

enum class Transfer { upload, download };

// A transfer is twice a write, and at least this: links to the host are no faster than those
// between devices (H200: 55 against 395 GB/s), and submitting an operation takes the host some 15
// us, so each write finds a transfer at work, from the first to the last.
constexpr std::size_t kTransferFactor = 2;
constexpr std::size_t kTransferMinimum = std::size_t{8} << 20;

// Submitting a barrier takes the host a call for each rank: so many transfers in a row are at work
// meanwhile.
constexpr int kRanksPerTransfer = 6;

struct Resources {
  Stream gathers, transfers;
  DeviceBuffer source;  // what this rank contributes: one part an operation
  DeviceBuffer device;  // the transfers' end on the device
  PinnedBuffer pinned;  // ... and on the host

  std::string make(const Content& content, std::size_t transfer_bytes) {
    std::string failure = gathers.make();
    if (failure.empty()) failure = transfers.make();
    if (failure.empty()) failure = source.make(content.size());
    if (failure.empty()) failure = device.make(transfer_bytes);
    if (failure.empty()) failure = pinned.make(transfer_bytes);
    if (failure.empty()) failure = upload(source.get(), content.data(), content.size());
    return failure;
  }

  std::string transfer(Transfer direction, std::size_t bytes) const {
    if (direction == Transfer::upload) {
      return failure_of(cuMemcpyHtoDAsync(device.get(), pinned.get(), bytes, transfers.get()),
                        "cuMemcpyHtoDAsync");
    }
    return failure_of(cuMemcpyDtoHAsync(pinned.get(), device.get(), bytes, transfers.get()),
                      "cuMemcpyDtoHAsync");
  }

  // Work may be left that waits for a rank that has given up: nothing may wait for it.
  void abandon() {
    gathers.abandon();
    transfers.abandon();
    source.abandon();
    device.abandon();
    pinned.abandon();
  }
};

// What is wrong with this rank's replica after the last operation, or "".
std::string gathered_wrongly(const Bench& bench, const Block& block, std::size_t bytes) {
  const int last = bench.settings().operations - 1;
  Content actual(bytes);
  for (int writer = 0; writer < bench.size(); ++writer) {
    const std::size_t slot = bytes * static_cast<std::size_t>(writer);
    const std::string failure = download(actual.data(), block.local() + slot, bytes);
    if (!failure.empty()) return failure;
    const Content expected = pattern(bench.settings().seed, writer, last, bytes);
    if (const auto at = first_difference(expected, actual)) {
      return "after all-gather " + std::to_string(last + 1) + " byte " +
             std::to_string(slot + *at) + " of the replica of rank " +
             std::to_string(bench.rank()) + ", written by rank " + std::to_string(writer) +
             ", is " + std::to_string(actual[*at]) + " instead of " + std::to_string(expected[*at]);
    }
  }
  return "";
}

// In each operation a rank writes its part once, through the multicast address; nothing waits on
// the host between the first operation and the last, so that writes and transfers meet.
void gather_beside(Bench& bench, Transfer direction, const char* label) {
  const int operations = bench.settings().operations;
  const auto ranks = static_cast<std::size_t>(bench.size());
  const std::size_t bytes =
      bench.settings().bytes != 0 ? bench.settings().bytes : overlap_bytes(ranks);
  if (!bench.open()) return;
  std::unique_ptr<Block> block = bench.make_block(bytes * ranks);
  if (block == nullptr) return;

  Content content;
  for (int operation = 0; operation < operations; ++operation) {
    const Content part = pattern(bench.settings().seed, bench.rank(), operation, bytes);
    content.insert(content.end(), part.begin(), part.end());
  }
  Resources own;
  const std::size_t transfer_bytes = std::max(kTransferFactor * bytes, kTransferMinimum);
  if (!bench.need(own.make(content, transfer_bytes))) return;
  const int transfers = std::max(1, bench.size() / kRanksPerTransfer);

  bench.marks().measure_begin(label);
  Outcome outcome;
  std::string failure;
  for (int operation = 0; operation < operations && failure.empty() && outcome.ok; ++operation) {
    for (int n = 0; n < transfers && failure.empty(); ++n) {
      failure = own.transfer(direction, transfer_bytes);
    }
    const CUdeviceptr part = own.source.get() + bytes * static_cast<std::size_t>(operation);
    if (failure.empty()) outcome = block->all_gather(part, bytes, true, own.gathers.get());
  }
  // Before waiting: a rank that could not submit would leave the others' streams waiting for ever.
  if (!bench.need(failure) || !bench.step("all_gather", outcome)) {
    own.abandon();
    bench.abandon(std::move(block));
    return;
  }
  failure = own.transfers.synchronize();
  outcome.text = own.gathers.synchronize();
  outcome.ok = outcome.text.empty();
  bench.marks().measure_end(label);
  if (!bench.step("all_gather", outcome) || !bench.need(failure)) return;

  if (!bench.check({"SM-DATA-1"}, gathered_wrongly(bench, *block, bytes),
                   "all parts are in this rank's replica")) {
    return;
  }
  if (!bench.free_block(std::move(block))) return;
  bench.close();
}

void uploads_beside_all_gather(Bench& bench) {
  gather_beside(bench, Transfer::upload, "all-gathers beside uploads");
}

void downloads_beside_all_gather(Bench& bench) {
  gather_beside(bench, Transfer::download, "all-gathers beside downloads");
}

}  // namespace

std::span<const Case> overlap_cases() {
  static const std::array cases = {
      Case{"Overlap",
           "UploadsBesideAllGather",
           {"SM-OVLP-1", "SM-KIND-1", "SM-KIND-2", "SM-PROV-1", "SM-PROV-2", "SM-DATA-1"},
           2,
           true,
           uploads_beside_all_gather},
      Case{"Overlap",
           "DownloadsBesideAllGather",
           {"SM-OVLP-2", "SM-KIND-1", "SM-KIND-2", "SM-PROV-1", "SM-PROV-2", "SM-DATA-1"},
           2,
           true,
           downloads_beside_all_gather},
  };
  return cases;
}

}  // namespace symmcts::cases
