// What a program prints goes to its file, and no further than the limit.
#include "harness/launch/outlet.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "harness/launch/tests/scratch.hpp"

namespace symmcts::launch::testing {
namespace {

class OutletTest : public ::testing::Test {
 protected:
  void open(std::uint64_t limit) {
    ASSERT_EQ(outlet_.open(scratch_.path() / "printed", limit), 0);
    // So that a test that prints too much fails and does not wait.
    ASSERT_EQ(fcntl(outlet_.program_end(), F_SETFL, O_NONBLOCK), 0);
  }
  ssize_t print(const std::string& text) {
    return write(outlet_.program_end(), text.data(), text.size());
  }

  Scratch scratch_;
  Outlet outlet_;
};

TEST_F(OutletTest, KeepsWhatIsPrinted) {
  ASSERT_NO_FATAL_FAILURE(open(100));
  print("one\n");
  EXPECT_FALSE(outlet_.drain());
  print("two\n");
  outlet_.close_program_end();
  EXPECT_FALSE(outlet_.drain());
  EXPECT_EQ(scratch_.read("printed"), "one\ntwo\n");
  EXPECT_LT(outlet_.descriptor(), 0);  // nobody can print any more
}

TEST_F(OutletTest, TheLimitItselfIsNoFlood) {
  ASSERT_NO_FATAL_FAILURE(open(100));
  print(std::string(100, 'x'));
  EXPECT_FALSE(outlet_.drain());
  EXPECT_EQ(scratch_.read("printed").size(), 100u);
}

TEST_F(OutletTest, PastTheLimitTheProgramStandsStill) {
  ASSERT_NO_FATAL_FAILURE(open(100));
  std::size_t printed = 0;
  bool flooded = false;
  for (ssize_t got = 0; got >= 0; got = print(std::string(4096, 'x'))) {
    printed += static_cast<std::size_t>(got);
    if (outlet_.drain()) {
      EXPECT_FALSE(flooded) << "told twice";
      flooded = true;
    }
  }
  EXPECT_EQ(errno, EAGAIN);  // a program whose end does block waits here
  EXPECT_TRUE(flooded);
  EXPECT_LT(printed, 1u << 21);  // the limit and what a pipe holds
  EXPECT_EQ(scratch_.read("printed").size(), 100u);
  EXPECT_LT(outlet_.descriptor(), 0);
}

TEST_F(OutletTest, AFileThatCannotBeMadeIsAnErrno) {
  EXPECT_EQ(outlet_.open(scratch_.path() / "none" / "out", 100), ENOENT);
}

}  // namespace
}  // namespace symmcts::launch::testing
