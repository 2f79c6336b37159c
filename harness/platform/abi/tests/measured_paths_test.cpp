// Single copies, batches and graphs of two H200s (copy-paths.txt), on the platform: which records
// there are, of which kind, over how many bytes, on which type of channel.
#include "harness/platform/abi/tests/measured_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

constexpr std::size_t kMost = 16 * kMiB;

std::string tell(const Step& step) {
  std::string out;
  for (const Copy& copy : step.copies) {
    out += copy.kind + " " + std::to_string(copy.bytes) + " B channel type " +
           std::to_string(copy.channel_type) + " memory " + std::to_string(copy.source_kind) + "," +
           std::to_string(copy.destination_kind);
    if (copy.kind != "PtoP") out += " of " + std::to_string(copy.copies);
    out += "\n";
  }
  return out;
}

bool one_type(const Step& step) {
  return std::all_of(step.copies.begin(), step.copies.end(), [&](const Copy& copy) {
    return copy.channel_type == step.copies.front().channel_type;
  });
}

class Paths : public Measured {
 protected:
  void SetUp() override {
    Measured::SetUp();
    EXPECT_CU(CU(cuCtxSetCurrent)(context(1)));
    far_ = alloc(kMost);
    EXPECT_CU(CU(cuCtxSetCurrent)(context(0)));
    a_ = alloc(kMost);
    b_ = alloc(kMost);
    handle_ = create(1, 0, kMost);
    peer_ = map(handle_, {0}, kMost);
    pinned_ = pinned(kMost);
    pageable_.resize(kMost);
    stream_ = stream();
  }
  void TearDown() override {
    EXPECT_CU(CU(cuStreamDestroy_v2)(stream_));
    free_pinned(pinned_);
    unmap(peer_, kMost);
    EXPECT_CU(CU(cuMemRelease)(handle_));
    for (CUdeviceptr each : {a_, b_, far_}) EXPECT_CU(CU(cuMemFree_v2)(each));
    Measured::TearDown();
  }
  void single(const std::string& what, std::size_t bytes) {
    void* const plain = pageable_.data();
    void* const fixed = reinterpret_cast<void*>(pinned_);
    if (what == "pinned up async") {
      EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(a_, fixed, bytes, stream_));
    }
    if (what == "pageable up async") {
      EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(a_, plain, bytes, stream_));
    }
    if (what == "pageable up sync") {
      EXPECT_CU(CU(cuMemcpyHtoD_v2)(a_, plain, bytes));
    }
    if (what == "pinned down async") {
      EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(fixed, a_, bytes, stream_));
    }
    if (what == "pageable down async") {
      EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(plain, a_, bytes, stream_));
    }
    if (what == "local") copy(b_, a_, bytes, stream_);
    if (what == "peer write") copy(peer_, a_, bytes, stream_);
    if (what == "peer read") copy(a_, peer_, bytes, stream_);
  }
  void batch(std::vector<CUdeviceptr> to, std::vector<CUdeviceptr> from, std::size_t bytes) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] += i * bytes;
      from[i] += i * bytes;
    }
    std::vector<std::size_t> sizes(to.size(), bytes);
    std::size_t index = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    EXPECT_CU(CU(cuMemcpyBatchAsync_v2)(to.data(), from.data(), sizes.data(), to.size(),
                                        &attributes, &index, 1, stream_));
  }
  CUdeviceptr a_ = 0, b_ = 0, far_ = 0, peer_ = 0, pinned_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  std::vector<char> pageable_;
  CUstream stream_ = nullptr;
};

TEST_F(Paths, SingleCopiesAreTheMeasuredOnes) {
  int compared = 0, unknown = 0;
  for (const auto& [label, measured] : copy_paths()) {
    const auto last = label.find_last_of(' ');
    const std::string what = label.substr(0, last);
    for (const char* known :
         {"pinned up async", "pageable up async", "pageable up sync", "pinned down async",
          "pageable down async", "local", "peer write", "peer read"}) {
      if (what != known) continue;
      SCOPED_TRACE(label);
      // Of three equal uploads in a row some rode one channel and some the other: by which rule is
      // not known (copy-paths.txt, pinned, 1280 to 4096 B).
      if (!one_type(measured)) {
        ++unknown;
        continue;
      }
      for (std::size_t i = 0; i < measured.copies.size(); ++i) {
        single(what, std::stoull(label.substr(last + 1)));
      }
      EXPECT_EQ(tell(step(label)), tell(measured));
      ++compared;
    }
  }
  EXPECT_EQ(unknown, 8);
  EXPECT_GE(compared, 50);
}

TEST_F(Paths, BatchesAreTheMeasuredOnes) {
  auto paths = copy_paths();
  const auto expect = [&](const std::string& label) {
    SCOPED_TRACE(label);
    ASSERT_TRUE(paths.contains(label));
    EXPECT_EQ(tell(step(label)), tell(paths[label]));
  };
  batch({b_, b_, b_, b_}, {a_, a_, a_, a_}, kMiB);
  expect("batch 4 local");
  batch({a_, a_, a_, a_}, {pinned_, pinned_, pinned_, pinned_}, kMiB);
  expect("batch 4 up");
  batch({pinned_, pinned_, pinned_, pinned_}, {a_, a_, a_, a_}, kMiB);
  expect("batch 4 down");
  batch({a_, a_, a_, a_}, {pinned_, pinned_, pinned_, pinned_}, 256);
  expect("batch 4 up small");
  batch({peer_, peer_, peer_, peer_}, {a_, a_, a_, a_}, kMiB);
  expect("batch 4 peer");
  batch({a_, a_}, {peer_, peer_}, kMiB);
  expect("batch peer reads");
  batch({peer_, b_, peer_, a_}, {a_, a_, a_, pinned_}, kMiB);
  expect("batch mixed: peer, local, peer, up");
  batch({peer_}, {a_}, kMiB);
  expect("batch 1 peer");
  batch({peer_, peer_}, {a_, a_}, 256);
  expect("batch 2 peer small");
}

TEST_F(Paths, PeerCopiesWithAndWithoutAccessAreTheMeasuredOnes) {
  auto paths = copy_paths();
  const auto expect = [&](const std::string& label) {
    SCOPED_TRACE(label);
    ASSERT_TRUE(paths.contains(label));
    const Step got = step(label);
    EXPECT_EQ(tell(got), tell(paths[label]));
    ASSERT_EQ(got.copies.size(), paths[label].copies.size());
    for (std::size_t i = 0; i < got.copies.size(); ++i) {
      if (got.copies[i].kind != "PtoP") {
        EXPECT_EQ(got.copies[i].device, paths[label].copies[i].device);
      }
    }
  };
  const auto peer = [&](CUdeviceptr to, int to_device, CUdeviceptr from, int from_device,
                        std::size_t bytes) {
    EXPECT_CU(
        CU(cuMemcpyPeerAsync)(to, context(to_device), from, context(from_device), bytes, stream_));
  };
  for (const std::size_t bytes : {std::size_t{256}, kMiB, 16 * kMiB}) {
    peer(far_, 1, a_, 0, bytes);
    expect("peer copy without access " + std::to_string(bytes));
  }
  copy(far_, a_, kMiB, stream_);
  expect("plain copy without access");
  EXPECT_CU(CU(cuCtxEnablePeerAccess)(context(1), 0));
  peer(far_, 1, a_, 0, kMiB);
  expect("peer copy with access");
  peer(a_, 0, far_, 1, kMiB);
  expect("peer read with access");
  peer(b_, 0, a_, 0, kMiB);
  expect("peer copy within one device");
  EXPECT_CU(CU(cuCtxDisablePeerAccess)(context(1)));
}

TEST_F(Paths, UploadsOfGraphsAreTheMeasuredOnes) {
  auto paths = copy_paths();
  for (const std::size_t bytes : {256, 1024, 4096, 16384, 65536}) {
    const std::string label = "graph of an upload and a local copy " + std::to_string(bytes);
    SCOPED_TRACE(label);
    ASSERT_TRUE(paths.contains(label));
    EXPECT_CU(CU(cuStreamBeginCapture_v2)(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    copy(a_, pinned_, bytes, stream_);
    copy(b_, a_, bytes, stream_);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_CU(CU(cuStreamEndCapture)(stream_, &graph));
    EXPECT_CU(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0));
    EXPECT_CU(CU(cuGraphLaunch)(exec, stream_));
    EXPECT_EQ(tell(step(label)), tell(paths[label]));
    EXPECT_CU(CU(cuGraphExecDestroy)(exec));
    EXPECT_CU(CU(cuGraphDestroy)(graph));
  }
}

}  // namespace
}  // namespace symmcts::platform::abi::test
