#include "sweep_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symmcts::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTrace[] =
    "symm-cts trace: rank - t=0..0 cuInit(flags=0) = 0\n"
    "symm-cts trace: rank 1 t=0..5 cuMemCreate(handle=0x1) = 0\n"
    "sweep: rendezvous begins\n"
    "symm-cts trace: rank 1 t=5..9 cuMemCreate(handle=0x1) = 0\n"
    "symm-cts trace: rank 1 t=9..9 cuGetErrorName(error=1) = 0\n"
    "something else\n"
    "symm-cts trace: rank 1 t=9..9 cuMemsetD8Async_ptsz(ptr=0x1) = 0\n"
    "symm-cts trace: rank 1 t=9..9 cuStreamDestroy_v2(stream=0x1) = 0\n"
    "sweep: rendezvous ends\n"
    "symm-cts trace: rank 1 t=9..9 cuMemRelease(handle=0x1) = 0\n";

// Calls before the rendezvous count, but are not part of it.
TEST(SweepCase, CallsAreThoseOfTheRendezvousUnderTheNamesOfTheApi) {
  std::vector<std::string> calls;
  for (const RankCall& call : calls_of_trace(1, kTrace)) {
    calls.push_back(call.function + " " + std::to_string(call.number));
  }
  EXPECT_THAT(calls,
              ::testing::ElementsAre("cuMemCreate 2", "cuMemsetD8Async 1", "cuStreamDestroy 1"));
  const std::string cut(kTrace, std::string(kTrace).find("sweep: rendezvous ends"));
  EXPECT_THAT(calls_of_trace(1, cut), IsEmpty()) << "the rendezvous did not end";
}

TEST(SweepCase, ANameSaysAllOfACase) {
  const SweepCase each{{"hgx-h200", 4}, {3, "cuMemMap", 7}, Mode::not_ready};
  EXPECT_EQ(each.name(), "hgx-h200:4:3:cuMemMap:7:802");
  const auto again = SweepCase::parse(each.name());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again.value_or(SweepCase()).name(), each.name());
  EXPECT_FALSE(SweepCase::parse("hgx-h200:4:3:cuMemMap:7:803"));
  EXPECT_FALSE(SweepCase::parse("hgx-h200:4:3:cuMemMap:x:802"));
  EXPECT_THAT(each.scenario(),
              HasSubstr("[[fail]]\nrank = 3\ncall = \"cuMemMap\"\nnumber = 7\ncode = 802\n"));
}

}  // namespace
}  // namespace symmcts::sweep
