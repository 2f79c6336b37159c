#include "harness/recorder/activity.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace symmcts::recorder {
namespace {

// The layout of CUPTI 13.0 that the records have on any machine (facts of CUPTI_API_VERSION
// 130001).
static_assert(sizeof(CUpti_ActivityMemcpy6) == 96 && sizeof(CUpti_ActivityMemcpyPtoP4) == 96);
static_assert(offsetof(CUpti_ActivityMemcpy6, channelID) == 76 &&
              offsetof(CUpti_ActivityMemcpyPtoP4, channelID) == 84);

TEST(Activity, CopiesHaveTheirChannel) {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 256;
  copy.start = 10;
  copy.end = 20;
  copy.contextId = 1;
  copy.streamId = 13;
  copy.correlationId = 4;
  copy.channelID = 8;
  copy.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  EXPECT_EQ(activity_line(reinterpret_cast<const CUpti_Activity&>(copy)),
            R"({"type":"copy","corr":4,"kind":"HtoD","bytes":256,"start":10,"end":20,"device":0,)"
            R"("context":1,"stream":13,"channel":8,"channel_type":2,"src_kind":"pinned",)"
            R"("dst_kind":"device","copies":1})");
  copy.copyCount = 4;
  EXPECT_NE(activity_line(reinterpret_cast<const CUpti_Activity&>(copy))->find(R"("copies":4)"),
            std::string::npos);
}

TEST(Activity, PeerCopiesNameBothDevices) {
  CUpti_ActivityMemcpyPtoP4 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  copy.srcKind = copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.srcDeviceId = 1;
  copy.dstDeviceId = 0;
  copy.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  const auto line = activity_line(reinterpret_cast<const CUpti_Activity&>(copy));
  ASSERT_TRUE(line);
  EXPECT_NE(line->find(R"("kind":"PtoP")"), std::string::npos) << *line;
  EXPECT_NE(line->find(R"("src_device":1,"dst_device":0,"copies":1)"), std::string::npos) << *line;
}

TEST(Activity, FillsAreNoCopies) {
  CUpti_ActivityMemset4 fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.bytes = 8;
  fill.streamId = 7;
  const auto& record = reinterpret_cast<const CUpti_Activity&>(fill);
  EXPECT_EQ(activity_line(record),
            R"({"type":"fill","corr":0,"bytes":8,"start":0,"end":0,"device":0,"stream":7,)"
            R"("channel":0,"channel_type":0})");
  EXPECT_FALSE(is_copy(record));
}

TEST(Activity, OtherRecordsAreLeftOut) {
  CUpti_Activity record{};
  record.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  EXPECT_FALSE(activity_line(record));
}

}  // namespace
}  // namespace symmcts::recorder
