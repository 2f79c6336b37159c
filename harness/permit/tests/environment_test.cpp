#include "harness/permit/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace symmcts {
namespace {

// Starts each test without any of the variables.
class Environment : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const DisableVariable& variable : kDisableVariables) {
      unsetenv(std::string(variable.name).c_str());
    }
    unsetenv("SYMMCTS_PERMIT");
    unsetenv("SYMMCTS_EXPECT");
  }
  static void set(std::string_view name, std::string_view value) {
    setenv(std::string(name).c_str(), std::string(value).c_str(), 1);
  }
};

TEST_F(Environment, EmptyForbidsNothingAndAllowsNothing) {
  const PermitEnvironment environment = read_permit_environment();
  EXPECT_TRUE(environment.forbidding.empty());
  EXPECT_FALSE(environment.allow_multicast);
  EXPECT_EQ(environment.expected, ExpectedDriver::anything);
}

TEST_F(Environment, EachVariableForbids) {
  for (const DisableVariable& variable : kDisableVariables) {
    clear();
    set(variable.name, variable.value);
    const PermitEnvironment environment = read_permit_environment();
    ASSERT_EQ(environment.forbidding.size(), 1u) << variable.name;
    EXPECT_EQ(environment.forbidding[0],
              std::string(variable.name) + "=" + std::string(variable.value));
  }
}

TEST_F(Environment, OppositeValuesForbidNothing) {
  for (const DisableVariable& variable : kDisableVariables) {
    set(variable.name, variable.value == "1" ? "0" : "1");
  }
  EXPECT_TRUE(read_permit_environment().forbidding.empty());
}

TEST_F(Environment, OtherSpellingsOfYesForbidToo) {
  set("SYMM_MEM_DISABLE_MULTICAST", "true");
  set("NCCL_NVLS_ENABLE", "00");
  EXPECT_EQ(read_permit_environment().forbidding.size(), 2u);
}

TEST_F(Environment, NcclAutomaticModeForbidsNothing) {
  set("NCCL_NVLS_ENABLE", "2");
  EXPECT_TRUE(read_permit_environment().forbidding.empty());
}

TEST_F(Environment, PermitIsExactlyOne) {
  for (const char* text : {"", "0", "yes", "11", " 1"}) {
    set("SYMMCTS_PERMIT", text);
    EXPECT_FALSE(read_permit_environment().allow_multicast) << '"' << text << '"';
  }
  set("SYMMCTS_PERMIT", "1");
  EXPECT_TRUE(read_permit_environment().allow_multicast);
}

TEST_F(Environment, ExpectationIsReadAndBadOnesAreKeptForTheMessage) {
  set("SYMMCTS_EXPECT", "software");
  EXPECT_EQ(read_permit_environment().expected, ExpectedDriver::software);
  set("SYMMCTS_EXPECT", "real");
  EXPECT_EQ(read_permit_environment().expected, ExpectedDriver::real);
  set("SYMMCTS_EXPECT", "Software");
  EXPECT_EQ(read_permit_environment().expected, std::nullopt);
  EXPECT_EQ(read_permit_environment().expected_text, "Software");
}

}  // namespace
}  // namespace symmcts
