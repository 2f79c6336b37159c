// cuMemcpyBatchAsync: facts A12.11, and the codes that two H200s gave
// (fixtures/oracles/h200-x2/copy-paths.txt).
#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class Batches : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    a_ = alloc(64);
    b_ = alloc(64);
    EXPECT_CU(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING));
    attributes_.resize(1);
    attributes_[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    to_ = {b_, b_ + 16, b_ + 32};
    from_ = {a_, a_ + 16, a_ + 32};
  }
  void TearDown() override {
    EXPECT_CU(CU(cuStreamDestroy_v2)(stream_));
    for (CUdeviceptr each : {a_, b_}) EXPECT_CU(CU(cuMemFree_v2)(each));
    World::TearDown();
  }
  CUresult batch() { return batch(stream_); }
  CUresult batch(CUstream stream) {
    failed_ = 77;
    const CUresult first =
        CU(cuMemcpyBatchAsync)(to_.data(), from_.data(), sizes_.data(), count_, attributes_.data(),
                               indices_.data(), indices_.size(), &failed_, stream);
    EXPECT_EQ(
        CU(cuMemcpyBatchAsync_v2)(to_.data(), from_.data(), sizes_.data(), count_,
                                  attributes_.data(), indices_.data(), indices_.size(), stream),
        first)
        << "the form of CUDA 13 differs by failIdx alone";
    return first;
  }
  CUdeviceptr a_ = 0, b_ = 0;
  CUstream stream_ = nullptr;
  std::vector<CUdeviceptr> to_, from_;
  std::vector<std::size_t> sizes_ = {16, 16, 16}, indices_ = {0};
  std::vector<CUmemcpyAttributes> attributes_;
  std::size_t count_ = 3, failed_ = 0;
};

// facts A12.11
TEST_F(Batches, CopyInStreamOrder) {
  write(a_, std::string(16, 'a') + std::string(16, 'b') + std::string(16, 'c'));
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 'A', 8, stream_));
  EXPECT_CU(batch());
  EXPECT_CU(CU(cuStreamSynchronize)(stream_));
  EXPECT_EQ(read(b_, 48), "AAAAAAAAaaaaaaaa" + std::string(16, 'b') + std::string(16, 'c'));
  EXPECT_CU(batch(CU_STREAM_PER_THREAD));
  EXPECT_CU(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD));
}

TEST_F(Batches, HostMemoryIsReadWhenTheAttributeSays) {
  std::string now(16, 'n'), later(16, 'l');
  from_ = {reinterpret_cast<CUdeviceptr>(now.data()), reinterpret_cast<CUdeviceptr>(later.data()),
           a_};
  attributes_.resize(2, attributes_[0]);
  attributes_[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  indices_ = {0, 1};
  CUevent gate = nullptr;
  EXPECT_CU(CU(cuEventCreate)(&gate, CU_EVENT_DISABLE_TIMING));
  // Nothing of the stream runs before the word is written.
  EXPECT_CU(CU(cuMemsetD8_v2)(a_ + 60, 0, 4));
  EXPECT_CU(CU(cuStreamWaitValue32_v2)(stream_, a_ + 60, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(batch());
  now.assign(16, '-');
  later.assign(16, 'L');
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(CU_STREAM_PER_THREAD, a_ + 60, 1, 0));
  EXPECT_CU(CU(cuStreamSynchronize)(stream_));
  EXPECT_EQ(read(b_, 32), std::string(16, 'n') + std::string(16, 'L'));
  EXPECT_CU(CU(cuEventDestroy_v2)(gate));
}

// facts A12.11
TEST_F(Batches, WrongCallsGiveTheMeasuredCode) {
  EXPECT_EQ(batch(nullptr), CUDA_ERROR_INVALID_VALUE) << "on the legacy stream";
  EXPECT_EQ(failed_, SIZE_MAX) << "about no copy";
  count_ = 0;
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "of 0";
  count_ = 3;
  indices_ = {1};
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "whose first index is 1";
  indices_ = {};
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "without attributes";
  attributes_.resize(2, attributes_[0]);
  for (std::size_t second : {0U, 3U}) {
    indices_ = {0, second};
    EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "indices rise and stay below the count";
  }
  indices_ = {0};
  attributes_[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "with access order 0";
  attributes_[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  attributes_[0].flags = 2;
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "unknown flags";
  attributes_[0].flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  EXPECT_CU(batch());
  sizes_[1] = 0;
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE) << "with a copy of size 0";
  EXPECT_EQ(failed_, 1U);
  sizes_[1] = 16;
  to_[2] = 0;
  EXPECT_EQ(batch(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed_, 2U) << "nothing of it was enqueued";
  EXPECT_CU(CU(cuStreamSynchronize)(stream_));
}

}  // namespace
}  // namespace symmcts::platform::abi::test
