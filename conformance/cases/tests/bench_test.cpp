// "Agree, then fail": what one rank meets, all ranks know before anyone leaves.
#include "conformance/cases/bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <string>

#include "symm_mem/exchange_unix.hpp"

namespace symmcts::cases {
namespace {

using ::testing::HasSubstr;

class FakeBlock final : public Block {
 public:
  explicit FakeBlock(CUdeviceptr multicast) : multicast_(multicast) {}
  std::size_t bytes() const override { return 0; }
  CUdeviceptr local() const override { return 0; }
  CUdeviceptr peer(int) const override { return 0; }
  CUdeviceptr multicast() const override { return multicast_; }
  Outcome write_multicast(std::size_t, CUdeviceptr, std::size_t, CUstream) override { return {}; }
  Outcome all_gather(CUdeviceptr, std::size_t, bool, CUstream) override { return {}; }
  Outcome barrier(CUstream) override { return {}; }

 private:
  CUdeviceptr multicast_;
};

// Does on each rank what the test says.
class FakeImplementation final : public Implementation {
 public:
  std::string name() const override { return "fake"; }
  Outcome open(const RankContext&) override { return {}; }
  Outcome make_block(std::size_t, std::unique_ptr<Block>& block) override {
    if (made.ok) block = std::make_unique<FakeBlock>(multicast);
    return made;
  }
  Outcome free_block(std::unique_ptr<Block>) override { return {}; }
  Outcome close() override { return {}; }

  Outcome made;
  CUdeviceptr multicast = 0x1000;
};

class BenchTest : public ::testing::Test {
 protected:
  using Body = std::function<std::string(Bench&, FakeImplementation&)>;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "symmcts-bench-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string on_rank(int rank, const Body& body) const {
    auto exchange = symm_mem::open_unix_exchange(folder_, rank, 2);
    if (!exchange) return "no exchange";
    Agreement agreement(*exchange.value(), std::chrono::seconds(60));
    Marks marks("Area.Case", {"SM-X-1"});
    FakeImplementation implementation;
    Bench bench(agreement, marks, implementation, {}, {true, ""}, {});
    return body(bench, implementation);
  }

  // What the body returned on rank 0, a slash, what it returned on rank 1. The failures that it
  // reports to GoogleTest are what is tested here, and count as results, not as failures.
  std::string on_both(const Body& body) {
    const ::testing::ScopedFakeTestPartResultReporter intercept(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures_);
    auto second = std::async(std::launch::async, [&] { return on_rank(1, body); });
    const std::string first = on_rank(0, body);
    return first + "/" + second.get();
  }

  int failed_parts() const {
    int count = 0;
    for (int i = 0; i < failures_.size(); ++i) {
      count += failures_.GetTestPartResult(i).failed() ? 1 : 0;
    }
    return count;
  }

  std::string folder_;
  ::testing::TestPartResultArray failures_;
};

TEST_F(BenchTest, AFailureOfOneRankStopsAll) {
  EXPECT_EQ(on_both([](Bench& bench, FakeImplementation& implementation) -> std::string {
              if (bench.rank() == 1) {
                implementation.made.ok = false;
                implementation.made.text = "out of slots";
              }
              const auto block = bench.make_block(64);
              return std::string(block == nullptr ? "stopped" : "went on") +
                     (bench.failed() ? " failed" : "") + bench.error();
            }),
            "stopped failed/stopped failed");
  EXPECT_EQ(failed_parts(), 2);
  EXPECT_THAT(failures_.GetTestPartResult(0).message(), HasSubstr("rank 1: out of slots"));
}

TEST_F(BenchTest, ABlockWithoutMulticastIsAFailure) {
  EXPECT_EQ(on_both([](Bench& bench, FakeImplementation& implementation) -> std::string {
              if (bench.rank() == 0) implementation.multicast = 0;
              return bench.make_block(64) == nullptr ? "stopped" : "went on";
            }),
            "stopped/stopped");
  EXPECT_EQ(failed_parts(), 2);
}

TEST_F(BenchTest, SuccessOnAllRanksGoesOn) {
  EXPECT_EQ(on_both([](Bench& bench, FakeImplementation&) -> std::string {
              if (!bench.open()) return "not open";
              auto block = bench.make_block(64);
              if (block == nullptr || !bench.check({"SM-X-1"}, "", "right")) return "stopped";
              return bench.free_block(std::move(block)) && bench.close() ? "done" : "stopped";
            }),
            "done/done");
  EXPECT_EQ(failed_parts(), 0);
}

TEST_F(BenchTest, AWrongCheckOfOneRankStopsAll) {
  EXPECT_EQ(on_both([](Bench& bench, FakeImplementation&) -> std::string {
              const bool right =
                  bench.check({"SM-X-1"}, bench.rank() == 0 ? "byte 3 is wrong" : "", "right");
              return std::string(right ? "right" : "wrong") + bench.error();
            }),
            "wrong/wrong");
}

TEST_F(BenchTest, AnObstacleOfOneRankSkipsAllWithItsReason) {
  EXPECT_EQ(on_both([](Bench& bench, FakeImplementation&) -> std::string {
              const bool run = bench.agree_to_run(bench.rank() == 1 ? "no multicast" : "");
              return (run ? "run " : "skip ") + bench.skipped() + bench.error();
            }),
            "skip rank 1: no multicast/skip rank 1: no multicast");
  EXPECT_EQ(failed_parts(), 0);
}

TEST_F(BenchTest, OurOwnFailureIsAnErrorAndNoVerdict) {
  EXPECT_EQ(on_both([](Bench& bench, FakeImplementation&) -> std::string {
              const bool fine = bench.need(bench.rank() == 0 ? "cuMemAlloc: OUT_OF_MEMORY" : "");
              return std::string(fine ? "fine" : "") + bench.error();
            }),
            "rank 0: cuMemAlloc: OUT_OF_MEMORY/rank 0: cuMemAlloc: OUT_OF_MEMORY");
}

TEST_F(BenchTest, ARankThatIsGoneIsAnErrorForTheOthers) {
  const std::string seen = on_both([](Bench& bench, FakeImplementation&) -> std::string {
    if (!bench.meet()) return "never met";
    if (bench.rank() == 1) return "left";
    return std::string(bench.meet() ? "met" : "alone: ") + bench.error();
  });
  EXPECT_THAT(seen, HasSubstr("alone: rank 1 "));
}

}  // namespace
}  // namespace symmcts::cases
