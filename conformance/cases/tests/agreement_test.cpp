#include "conformance/cases/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "symm_mem/exchange_unix.hpp"

namespace symmcts::cases {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AgreementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "symmcts-agree-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<symm_mem::Exchange> exchange(int rank, int size) const {
    auto opened = symm_mem::open_unix_exchange(folder_, rank, size);
    EXPECT_TRUE(opened);
    return opened ? opened.take() : nullptr;
  }
  std::string folder_;
};

constexpr std::chrono::seconds kPatience{30};

TEST_F(AgreementTest, EveryRankGetsEveryText) {
  const auto rank = [this](int me) {
    const auto own = exchange(me, 3);
    Agreement agreement(*own, kPatience);
    std::vector<std::vector<std::string>> seen;
    for (int round = 0; round < 3; ++round) {
      seen.push_back(*agreement.gather(me == 1 ? "" : std::to_string(me * 10 + round)));
    }
    return seen;
  };
  auto second = std::async(std::launch::async, rank, 1);
  auto third = std::async(std::launch::async, rank, 2);
  const auto first = rank(0);
  EXPECT_THAT(first, ElementsAre(ElementsAre("0", "", "20"), ElementsAre("1", "", "21"),
                                 ElementsAre("2", "", "22")));
  EXPECT_EQ(second.get(), first);
  EXPECT_EQ(third.get(), first);
}

TEST_F(AgreementTest, ARankThatIsGoneIsNamedAndBreaksItForGood) {
  const auto own = exchange(0, 2);
  auto peer = std::async(std::launch::async, [this] {
    const auto other = exchange(1, 2);
    Agreement agreement(*other, kPatience);
    return agreement.gather("there").has_value();
  });
  Agreement agreement(*own, kPatience);
  ASSERT_TRUE(agreement.gather("here"));
  ASSERT_TRUE(peer.get());
  EXPECT_EQ(agreement.lost(), -1);
  EXPECT_FALSE(agreement.gather("here"));  // the peer has closed its exchange
  EXPECT_THAT(agreement.broken(), HasSubstr("rank 1 "));
  EXPECT_EQ(agreement.lost(), 1);
  EXPECT_FALSE(agreement.gather("again"));
}

TEST_F(AgreementTest, EveryoneLearnsWhoIsGone) {
  const auto rank = [this](int me) {
    const auto own = exchange(me, 4);
    Agreement agreement(*own, kPatience);
    EXPECT_TRUE(agreement.gather("1:a"));
    if (me == 2) return std::string();
    EXPECT_FALSE(agreement.gather("here"));
    EXPECT_EQ(agreement.lost(), 2) << "on rank " << me;
    return agreement.broken();
  };
  std::vector<std::future<std::string>> others;
  for (int me = 1; me < 4; ++me) others.push_back(std::async(std::launch::async, rank, me));
  EXPECT_THAT(rank(0), HasSubstr("rank 2 "));
  EXPECT_THAT(others[0].get(), HasSubstr("rank 2 "));
  EXPECT_THAT(others[2].get(), HasSubstr("rank 2 "));
}

TEST_F(AgreementTest, ASilentRankIsNamedAtTheDeadline) {
  const auto own = exchange(0, 2);
  const auto other = exchange(1, 2);
  Agreement agreement(*own, std::chrono::milliseconds(20));
  EXPECT_FALSE(agreement.gather("here"));
  EXPECT_EQ(agreement.broken(), "rank 1 did not answer in time");
}

}  // namespace
}  // namespace symmcts::cases
