// The main function of every unit-test program. It exists because GoogleTest 1.12 exits 0 when no
// test ran, and a test that did not run must never be green.
#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const auto* unit = ::testing::UnitTest::GetInstance();
  if (unit->test_to_run_count() == 0 || unit->skipped_test_count() == unit->test_to_run_count()) {
    std::fprintf(stderr, "no test ran\n");
    return 1;
  }
  return result;
}
