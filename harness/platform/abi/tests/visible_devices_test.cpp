#include "harness/platform/abi/visible_devices.hpp"

#include <gtest/gtest.h>

namespace symmcts::platform::abi {
namespace {

using Gpus = std::vector<int>;

TEST(VisibleDevices, UnsetShowsAllGpusOfTheHost) {
  EXPECT_EQ(visible_devices(std::nullopt, 4, 4), (Gpus{4, 5, 6, 7}));
}

TEST(VisibleDevices, EmptyShowsNone) { EXPECT_EQ(visible_devices("", 0, 4), Gpus{}); }

TEST(VisibleDevices, OrderIsTheListsOrder) {
  EXPECT_EQ(visible_devices("3,1", 0, 4), (Gpus{3, 1}));
  EXPECT_EQ(visible_devices(" 1 , 0 ", 8, 4), (Gpus{9, 8}));
}

// CUDA programming guide: only the devices before the first invalid entry are visible.
TEST(VisibleDevices, AnInvalidEntryEndsTheList) {
  EXPECT_EQ(visible_devices("0,2,-1,1", 0, 4), (Gpus{0, 2}));
  EXPECT_EQ(visible_devices("0,7,1", 0, 4), Gpus{0});
  EXPECT_EQ(visible_devices("x", 0, 4), Gpus{});
  EXPECT_EQ(visible_devices("-1", 0, 4), Gpus{});
  EXPECT_EQ(visible_devices("1,1,2", 0, 4), Gpus{1});
}

TEST(VisibleDevices, UuidsAndPrefixesOfThem) {
  const std::string uuid = uuid_text(device_uuid(2));
  ASSERT_EQ(uuid.size(), 40U);
  EXPECT_EQ(visible_devices(uuid + ",0", 0, 4), (Gpus{2, 0}));
  EXPECT_EQ(visible_devices(uuid.substr(0, 12), 0, 4), Gpus{2});
  EXPECT_EQ(visible_devices("GPU-", 0, 4), Gpus{}) << "fits every GPU";
  EXPECT_EQ(visible_devices(uuid, 4, 4), Gpus{}) << "a GPU of another host";
}

TEST(VisibleDevices, UuidsDiffer) {
  for (int gpu = 0; gpu < 72; ++gpu) {
    for (int other = 0; other < gpu; ++other) EXPECT_NE(device_uuid(gpu), device_uuid(other));
  }
}

}  // namespace
}  // namespace symmcts::platform::abi
