#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "symm_mem/capability.hpp"

namespace symm_mem {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kFd = 1;
constexpr std::uint32_t kFabric = 8;
constexpr std::size_t kMiB = std::size_t{1} << 20;

Capability capability(int device, std::uint32_t routes, bool multicast = true) {
  Capability made;
  made.device.bytes[0] = static_cast<char>(device);
  made.host = 7;
  made.routes = routes;
  made.multicast = multicast;
  made.memory_granularity = 2 * kMiB;
  made.multicast_granularity = multicast ? 2 * kMiB : 0;
  if (!multicast) made.why_no_multicast = "no multicast permit";
  return made;
}

Group group_of(int size) {
  Group group;
  for (int i = 0; i < size; ++i) group.members.push_back(10 + i);
  return group;
}

TEST(Terms, FabricWhereEveryRankHasItElseDescriptors) {
  const auto both =
      agree_terms(group_of(2), {capability(0, kFd | kFabric), capability(1, kFd | kFabric)});
  ASSERT_TRUE(both);
  EXPECT_EQ(both.value().route, Route::fabric);
  // One rank's fabric does not work although its attribute says so: measured on H200
  // (NOT_PERMITTED).
  const auto mixed = agree_terms(group_of(2), {capability(0, kFd | kFabric), capability(1, kFd)});
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed.value().route, Route::posix_fd);
  EXPECT_FALSE(agree_terms(group_of(2), {capability(0, kFabric), capability(1, kFd)}));
}

TEST(Terms, DescriptorsDoNotLeaveAHost) {
  Capability far = capability(1, kFd);
  far.host = 8;
  const auto refused = agree_terms(group_of(2), {capability(0, kFd), far});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("several hosts"));
  far.routes = kFd | kFabric;
  const auto fabric = agree_terms(group_of(2), {capability(0, kFd | kFabric), far});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric.value().route, Route::fabric);
}

TEST(Terms, OneRankWithoutMulticastMeansNone) {
  const auto terms =
      agree_terms(group_of(3), {capability(0, kFd), capability(1, kFd, false), capability(2, kFd)});
  ASSERT_TRUE(terms);
  EXPECT_FALSE(terms.value().multicast);
  EXPECT_THAT(terms.value().why_no_multicast, HasSubstr("rank 11: no multicast permit"));
  const auto one = agree_terms(group_of(1), {capability(0, kFd)});
  ASSERT_TRUE(one);
  EXPECT_FALSE(one.value().multicast) << "an object for one device is refused (facts A7.4)";
}

TEST(Terms, GranularityIsTheLargestOfAll) {
  Capability coarse = capability(1, kFd);
  coarse.multicast_granularity = 512 * kMiB;
  const auto terms = agree_terms(group_of(2), {capability(0, kFd), coarse});
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms.value().granularity, 512 * kMiB);
}

TEST(Terms, TwoRanksOnOneDeviceAreRefusedAndNamed) {
  const auto refused =
      agree_terms(group_of(3), {capability(4, kFd), capability(5, kFd), capability(4, kFd)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().rank, 12);
  EXPECT_THAT(refused.error().text, HasSubstr("rank 10 and rank 12"));
}

TEST(Capability, SurvivesTheWireAndRefusesOtherVersions) {
  const Capability sent = capability(3, kFd | kFabric, false);
  Capability got;
  ASSERT_TRUE(unpack(pack(sent), got));
  EXPECT_EQ(got.device.bytes[0], 3);
  EXPECT_EQ(got.host, 7u);
  EXPECT_EQ(got.routes, kFd | kFabric);
  EXPECT_FALSE(got.multicast);
  EXPECT_EQ(got.memory_granularity, 2 * kMiB);
  EXPECT_EQ(got.why_no_multicast, "no multicast permit");
  Bytes record = pack(sent);
  record.pop_back();
  EXPECT_FALSE(unpack(record, got));
  record = pack(sent);
  record[0] = std::byte{9};
  EXPECT_FALSE(unpack(record, got));
}

}  // namespace
}  // namespace symm_mem
