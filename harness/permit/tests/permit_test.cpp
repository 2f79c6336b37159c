#include "harness/permit/permit.hpp"

#include <gtest/gtest.h>

#include <string>

namespace symmcts {
namespace {

PermitEnvironment allowing() {
  PermitEnvironment environment;
  environment.allow_multicast = true;
  return environment;
}

TEST(Permit, SoftwareNeedsNoFlagAndHeedsNoVariable) {
  PermitEnvironment environment;
  environment.forbidding = {"NCCL_NVLS_ENABLE=0"};
  EXPECT_TRUE(decide_permit(DriverKind::software, environment).granted);
}

TEST(Permit, RealWithoutFlagIsRefused) {
  const Permit permit = decide_permit(DriverKind::real, PermitEnvironment{});
  EXPECT_FALSE(permit.granted);
  EXPECT_EQ(permit.reason, "no multicast permit: real driver, and --allow-multicast was not given");
}

TEST(Permit, RealWithFlagIsGranted) {
  EXPECT_TRUE(decide_permit(DriverKind::real, allowing()).granted);
}

TEST(Permit, NoDriverIsRefused) {
  EXPECT_FALSE(decide_permit(DriverKind::none, allowing()).granted);
}

TEST(Permit, EachVariableRefusesTheFlagOnARealDriver) {
  for (const DisableVariable& variable : kDisableVariables) {
    PermitEnvironment environment = allowing();
    environment.forbidding = {std::string(variable.name) + "=" + std::string(variable.value)};
    const Permit permit = decide_permit(DriverKind::real, environment);
    EXPECT_FALSE(permit.granted) << variable.name;
    EXPECT_NE(permit.reason.find(variable.name), std::string::npos) << permit.reason;
  }
}

TEST(Expectation, PlatformExpectedRealFoundIsRefused) {
  PermitEnvironment environment;
  environment.expected = ExpectedDriver::software;
  const Status status =
      check_expected_driver({DriverKind::real, "/usr/lib/libcuda.so.1"}, environment);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            "refused: this process was told to use the software platform, but the CUDA driver is a "
            "real one (/usr/lib/libcuda.so.1)");
}

TEST(Expectation, NoDriverIsRefusedWhereOneIsExpected) {
  for (const ExpectedDriver expected : {ExpectedDriver::software, ExpectedDriver::real}) {
    PermitEnvironment environment;
    environment.expected = expected;
    EXPECT_FALSE(check_expected_driver({DriverKind::none, ""}, environment));
  }
}

TEST(Expectation, RealExpectedSoftwareFoundIsRefused) {
  PermitEnvironment environment;
  environment.expected = ExpectedDriver::real;
  EXPECT_FALSE(check_expected_driver({DriverKind::software, "x"}, environment));
}

TEST(Expectation, MatchingDriverAndNoExpectationPass) {
  PermitEnvironment environment;
  EXPECT_TRUE(check_expected_driver({DriverKind::real, "x"}, environment));
  environment.expected = ExpectedDriver::real;
  EXPECT_TRUE(check_expected_driver({DriverKind::real, "x"}, environment));
  environment.expected = ExpectedDriver::software;
  EXPECT_TRUE(check_expected_driver({DriverKind::software, "x"}, environment));
}

TEST(Expectation, UnknownWordIsRefusedAndNamed) {
  PermitEnvironment environment;
  environment.expected.reset();
  environment.expected_text = "simulated";
  const Status status = check_expected_driver({DriverKind::software, "x"}, environment);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), "SYMMCTS_EXPECT=simulated is neither software nor real");
}

}  // namespace
}  // namespace symmcts
