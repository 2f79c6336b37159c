// The size sweep, the concurrency matrix, the overlap with host transfers and the records of two
// H200s, on the platform: kinds, channel types and order exact; durations within 10 % of the median
// of repeated records, or within the measured range where they spread by 5 % and more.
#include "harness/platform/abi/tests/measured_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

constexpr std::size_t kSweep = 512 * kMiB;

// hardware: errors_latency_sizes.cpp
class Sizes : public Measured {
 protected:
  void SetUp() override {
    Measured::SetUp();
    a_ = alloc(kSweep);
    b_ = alloc(kSweep);
    handle_ = create(1, 0, kSweep);
    r_ = map(handle_, {0}, kSweep);
    h_ = pinned(kSweep);
    q_ = pinned(kSweep);
    for (CUstream& each : st_) each = stream();
  }
  void TearDown() override {
    for (CUstream each : st_) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
    for (CUdeviceptr each : {h_, q_}) free_pinned(each);
    unmap(r_, kSweep);
    EXPECT_CU(CU(cuMemRelease)(handle_));
    for (CUdeviceptr each : {a_, b_}) EXPECT_CU(CU(cuMemFree_v2)(each));
    Measured::TearDown();
  }
  void run(const std::string& label) {
    if (label == "2xH2D") {
      copy(a_, h_, 128 * kMiB, st_[0]);
      copy(b_, q_, 128 * kMiB, st_[1]);
    } else if (label == "2xD2H") {
      copy(h_, a_, 128 * kMiB, st_[0]);
      copy(q_, b_, 128 * kMiB, st_[1]);
    } else if (label == "2xPtoP write") {
      copy(r_, a_, 128 * kMiB, st_[0]);
      copy(r_ + 256 * kMiB, b_, 128 * kMiB, st_[1]);
    } else if (label == "PtoP write+read") {
      copy(r_, a_, 128 * kMiB, st_[0]);
      copy(b_, r_ + 256 * kMiB, 128 * kMiB, st_[1]);
    } else if (label == "2xDtoD") {
      copy(b_, a_, 128 * kMiB, st_[0]);
      copy(b_ + 256 * kMiB, a_ + 256 * kMiB, 128 * kMiB, st_[1]);
    } else if (label == "H2D + 4xPtoP") {
      copy(a_, h_, 256 * kMiB, st_[0]);
      for (int i = 0; i < 4; ++i) copy(r_, b_, 64 * kMiB, st_[1]);
    } else if (label == "D2H + 4xPtoP read") {
      copy(h_, a_, 256 * kMiB, st_[0]);
      for (int i = 0; i < 4; ++i) copy(b_, r_, 64 * kMiB, st_[1]);
    } else {
      FAIL() << "the file has a step that this program has not: " << label;
    }
  }
  CUdeviceptr a_ = 0, b_ = 0, r_ = 0, h_ = 0, q_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  CUstream st_[2] = {};
};

TEST_F(Sizes, SweepIsTheMeasuredOne) {
  const auto table = size_sweep();
  ASSERT_EQ(table.size(), 8U);
  for (const SweepLine& line : table) {
    SCOPED_TRACE(std::to_string(line.bytes) + " B");
    for (int i = 0; i < 3; ++i) {
      copy(b_, a_, line.bytes, st_[0]);
      copy(r_, a_, line.bytes, st_[0]);
      copy(a_, h_, line.bytes, st_[0]);
      copy(h_, a_, line.bytes, st_[0]);
    }
    const Step got = step("");
    ASSERT_EQ(got.copies.size(), 12U);
    ASSERT_EQ(line.copies.size(), 4U);
    const char* order[] = {"DtoD", "PtoP", "HtoD", "DtoH"};
    for (std::size_t i = 0; i < 12; ++i) {
      const Copy& ours = got.copies[i];
      EXPECT_EQ(ours.kind, order[i % 4]) << "one stream, in order";
      for (const Copy& measured : line.copies) {
        if (measured.kind != ours.kind) continue;
        EXPECT_EQ(ours.channel_type, measured.channel_type) << ours.kind;
        EXPECT_NEAR(ours.took(), measured.took(), 0.1 * measured.took()) << ours.kind;
      }
    }
  }
}

TEST_F(Sizes, ConcurrencyMatrixIsTheMeasuredOne) {
  const auto matrix = concurrency_matrix();
  ASSERT_EQ(matrix.size(), 14U);
  for (const Step& measured : matrix) {
    SCOPED_TRACE(measured.label);
    run(measured.label);
    Step got = step(measured.label);
    EXPECT_EQ(shape(got), shape(measured));
    Durations expected, ours;
    for (const Step& each : matrix) {
      if (each.label == measured.label) add_durations(each, expected);
    }
    for (Copy& each : got.copies) each.bytes = 0;  // the file has no sizes
    add_durations(got, ours);
    expect_durations(expected, ours);
  }
}

// hardware: provenance_and_overlap.cpp, rank 0; what its peer's memory is there is memory of device
// 1 here.
class Provenance : public Measured {
 protected:
  static constexpr std::size_t kBytes = 256 * kMiB;

  void SetUp() override {
    Measured::SetUp();
    b_ = alloc(kBytes);
    big_ = alloc(1024 * kMiB);
    native_ = create(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, kBytes);
    owned_ = create(1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, kBytes);
    self_ = import_of(native_);
    peer_ = import_of(owned_);
    to_ = {{"1_plain", alloc(kBytes)},
           {"2_native", map(native_, {0}, kBytes)},
           {"3_selfimport", map(self_, {0}, kBytes)},
           {"4_peerimport", map(peer_, {0}, kBytes)}};
    up_ = pinned(512 * kMiB);
    down_ = pinned(512 * kMiB);
    for (CUstream& each : st_) each = stream();
  }
  void TearDown() override {
    for (CUstream each : st_) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
    for (CUdeviceptr each : {up_, down_}) free_pinned(each);
    for (const char* mapped : {"2_native", "3_selfimport", "4_peerimport"}) {
      unmap(to_[mapped], kBytes);
    }
    for (auto each : {native_, owned_, self_, peer_}) EXPECT_CU(CU(cuMemRelease)(each));
    for (CUdeviceptr each : {b_, big_, to_["1_plain"]}) EXPECT_CU(CU(cuMemFree_v2)(each));
    Measured::TearDown();
  }
  static CUmemGenericAllocationHandle import_of(CUmemGenericAllocationHandle handle) {
    int fd = -1;
    EXPECT_CU(
        CU(cuMemExportToShareableHandle)(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUmemGenericAllocationHandle out = 0;
    EXPECT_CU(CU(cuMemImportFromShareableHandle)(
        &out, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    ::close(fd);
    return out;
  }
  void run(const std::string& what, CUdeviceptr to) {
    if (what == "write") {
      copy(to, b_, kBytes, st_[0]);
    } else if (what == "read") {
      copy(b_, to, kBytes, st_[0]);
    } else if (what == "writeDtoD") {
      EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(to, b_, kBytes, st_[0]));
    } else if (what == "writePeer(ctx,ctx)") {
      EXPECT_CU(CU(cuMemcpyPeerAsync)(to, context(0), b_, context(0), kBytes, st_[0]));
    } else if (what == "H2D||write") {
      EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(big_, host(up_), 512 * kMiB, st_[1]));
      for (int i = 0; i < 2; ++i) copy(to, b_, kBytes, st_[0]);
    } else if (what == "D2H||write") {
      EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(host(down_), big_, 512 * kMiB, st_[1]));
      for (int i = 0; i < 2; ++i) copy(to, b_, kBytes, st_[0]);
    } else if (what == "H2D+D2H||2write") {
      EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(big_, host(up_), kBytes, st_[0]));
      EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(host(down_), big_ + 512 * kMiB, kBytes, st_[1]));
      copy(to, b_, kBytes / 4, st_[2]);
      copy(to + kBytes / 2, b_, kBytes / 4, st_[3]);
    } else {
      FAIL() << "the file has a step that this program has not: " << what;
    }
  }
  static void* host(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

  std::map<std::string, CUdeviceptr> to_;
  CUdeviceptr b_ = 0, big_ = 0, up_ = 0, down_ = 0;
  CUmemGenericAllocationHandle native_ = 0, owned_ = 0, self_ = 0, peer_ = 0;
  CUstream st_[4] = {};
};

TEST_F(Provenance, CopiesAloneAndBesideHostTransfersAreTheMeasuredOnes) {
  const auto measured = provenance_steps();
  // Repeated records: the same step, whatever the ranks, the numbering of devices and, for local
  // memory, the way it was mapped.
  std::map<std::string, Durations> expected;
  const auto what_of = [](const Step& each) { return each.label.substr(0, each.label.find(' ')); };
  for (const auto& each : measured) add_durations(each, expected[what_of(each)]);
  int compared = 0;
  for (const auto& each : measured) {
    if (each.rank != 0 || each.remapped) continue;
    SCOPED_TRACE(each.label);
    run(what_of(each), to_[each.label.substr(each.label.find(' ') + 1)]);
    const Step got = step(each.label);
    EXPECT_EQ(shape(got), shape(each));
    ASSERT_EQ(got.copies.size(), each.copies.size());
    for (std::size_t i = 0; i < got.copies.size(); ++i) {
      const Copy &ours = got.copies[i], &theirs = each.copies[i];
      EXPECT_EQ(ours.bytes, theirs.bytes);
      EXPECT_EQ(ours.device, theirs.device);
      EXPECT_EQ(ours.source_kind, theirs.source_kind);
      EXPECT_EQ(ours.destination_kind, theirs.destination_kind);
      if (ours.kind != "PtoP") continue;
      EXPECT_EQ(ours.source, theirs.source);
      EXPECT_EQ(ours.destination, theirs.destination);
    }
    Durations ours;
    add_durations(got, ours);
    expect_durations(expected[what_of(each)], ours);
    ++compared;
  }
  EXPECT_EQ(compared, 28);
}

// hardware: copy_records.cpp, whose runtime calls are made as driver calls.
class CopyRecords : public Measured {
 protected:
  static constexpr std::size_t kBytes = 64 * kMiB;

  void SetUp() override {
    Measured::SetUp();
    EXPECT_CU(CU(cuCtxSetCurrent)(context(1)));
    a1_ = alloc(kBytes);
    EXPECT_CU(CU(cuCtxSetCurrent)(context(0)));
    a0_ = alloc(kBytes);
    b0_ = alloc(kBytes);
    h0_ = pinned(kBytes);
    h1_ = pinned(kBytes);
    local_ = create(0, 0, kBytes);
    remote_ = create(1, 0, kBytes);
    near_ = map(local_, {0}, kBytes);
    far_ = map(remote_, {0, 1}, kBytes);
    for (CUstream& each : st_) each = stream();
  }
  void TearDown() override {
    EXPECT_CU(CU(cuCtxDisablePeerAccess)(context(1)));
    for (CUstream each : st_) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
    for (CUdeviceptr each : {near_, far_}) unmap(each, kBytes);
    for (auto each : {local_, remote_}) EXPECT_CU(CU(cuMemRelease)(each));
    for (CUdeviceptr each : {h0_, h1_}) free_pinned(each);
    for (CUdeviceptr each : {a0_, a1_, b0_}) EXPECT_CU(CU(cuMemFree_v2)(each));
    Measured::TearDown();
  }
  void batch() {
    CUdeviceptr to[8], from[8];
    std::size_t sizes[8], index = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      to[i] = (i < 4 ? a1_ : b0_) + i * (kBytes / 8);
      from[i] = a0_ + i * (kBytes / 8);
      sizes[i] = kBytes / 8;
    }
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    attributes.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    EXPECT_CU(CU(cuMemcpyBatchAsync_v2)(to, from, sizes, 8, &attributes, &index, 1, st_[0]));
  }
  // False for a step that the platform does not model.
  bool run(const std::string& label) {
    const auto starts = [&](const char* with) { return label.rfind(with, 0) == 0; };
    if (starts("peer enabled")) CU(cuCtxEnablePeerAccess)(context(1), 0);  // the first one counts
    if (label == "same-device cudaMemcpyAsync D2D") {
      copy(b0_, a0_, kBytes, st_[0]);
    } else if (label == "same-device VMM D2D") {
      copy(near_, a0_, kBytes, st_[0]);
    } else if (label == "H2D pinned") {
      copy(a0_, h0_, kBytes, st_[0]);
      copy(h1_, b0_, kBytes, st_[1]);
    } else if (label == "peer, access NOT enabled, cudaMemcpyPeerAsync") {
      EXPECT_CU(CU(cuMemcpyPeerAsync)(a1_, context(1), a0_, context(0), kBytes, st_[0]));
    } else if (label == "peer enabled, cudaMemcpyPeerAsync 0->1") {
      EXPECT_CU(CU(cuMemcpyPeerAsync)(a1_, context(1), a0_, context(0), kBytes, st_[0]));
    } else if (label == "peer enabled, cudaMemcpyAsync DeviceToDevice 0->1") {
      EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(a1_, a0_, kBytes, st_[0]));
    } else if (label == "peer enabled, pull 1->0 on dev0 stream") {
      copy(a0_, a1_, kBytes, st_[0]);
    } else if (label == "VMM peer-mapped cudaMemcpyPeerAsync") {
      EXPECT_CU(CU(cuMemcpyPeerAsync)(far_, context(1), a0_, context(0), kBytes, st_[0]));
    } else if (label == "VMM peer-mapped write cuMemcpyDtoDAsync") {
      EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(far_, a0_, kBytes, st_[0]));
    } else if (label == "VMM peer-mapped write 0->1 cudaMemcpyAsync") {
      copy(far_, a0_, kBytes, st_[0]);
    } else if (starts("cudaMemcpyBatchAsync")) {
      batch();
    } else if (label == "OVERLAP") {
      for (int i = 0; i < 3; ++i) {
        copy(a1_, a0_, kBytes, st_[0]);
        copy(b0_, h0_, kBytes, st_[1]);
        copy(h1_, a0_, kBytes, st_[2]);
      }
    } else {
      EXPECT_EQ(label, "peer cudaMallocAsync pool 0->1") << "not known to this program";
      return false;
    }
    return true;
  }
  CUdeviceptr a0_ = 0, a1_ = 0, b0_ = 0, h0_ = 0, h1_ = 0, near_ = 0, far_ = 0;
  CUmemGenericAllocationHandle local_ = 0, remote_ = 0;
  CUstream st_[3] = {};
};

TEST_F(CopyRecords, AreTheMeasuredOnes) {
  auto measured = copy_records();
  // "D2H pinned" runs beside "H2D pinned": one step of two records.
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i].label != "D2H pinned") continue;
    measured[i - 1].copies.push_back(measured[i].copies.front());
    measured.erase(measured.begin() + static_cast<std::ptrdiff_t>(i));
  }
  ASSERT_EQ(measured.size(), 26U);
  std::map<std::string, Durations> expected;
  for (const Step& each : measured) add_durations(each, expected[each.label]);
  for (std::size_t i = 0; i < measured.size() / 2; ++i) {
    const Step& each = measured[i];
    SCOPED_TRACE(each.label);
    if (!run(each.label)) continue;
    const Step got = step(each.label);
    EXPECT_EQ(shape(got), shape(each));
    ASSERT_EQ(got.copies.size(), each.copies.size());
    for (std::size_t k = 0; k < got.copies.size(); ++k) {
      const Copy &ours = got.copies[k], &theirs = each.copies[k];
      EXPECT_EQ(ours.bytes, theirs.bytes);
      EXPECT_EQ(ours.source_kind, theirs.source_kind);
      EXPECT_EQ(ours.destination_kind, theirs.destination_kind);
      EXPECT_EQ(ours.copies, theirs.copies);
      // A read of a peer's cudaMalloc memory is done, and shown, by the peer's engine on hardware;
      // of mapped memory by the own one (provenance). The platform does all by the own one.
      if (each.label != "peer enabled, pull 1->0 on dev0 stream") {
        EXPECT_EQ(ours.device, theirs.device);
      }
      if (ours.kind != "PtoP") continue;
      EXPECT_EQ(ours.source, theirs.source);
      EXPECT_EQ(ours.destination, theirs.destination);
    }
    // The very first peer copy of both runs, after idle, took twice as long as all others.
    if (each.label == "peer enabled, cudaMemcpyPeerAsync 0->1") continue;
    Durations ours;
    add_durations(got, ours);
    expect_durations(expected[each.label], ours);
  }
}

}  // namespace
}  // namespace symmcts::platform::abi::test
