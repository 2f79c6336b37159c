#include "conformance/cases/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace symmcts::cases {
namespace {

using ::testing::HasSubstr;

Result<Options> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "symmcts-rank");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, OfAUnit) {
  const Result<Options> options =
      parse({"--impl", "defect:root-keeps-native", "--exchange", "mpi", "--unit", "Area.Case",
             "--root-ordinal", "1", "--one-visible-gpu", "--handle-types", "fabric", "--ops", "3",
             "--bytes", "4097"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options.value().implementation, "defect:root-keeps-native");
  EXPECT_TRUE(options.value().mpi);
  EXPECT_EQ(options.value().unit, "Area.Case");
  EXPECT_EQ(options.value().root_ordinal, 1);
  EXPECT_TRUE(options.value().one_visible_gpu);
  EXPECT_EQ(options.value().handle_types, 8u);  // cuda.h:CU_MEM_HANDLE_TYPE_FABRIC
  EXPECT_EQ(options.value().operations, 3);
  EXPECT_EQ(options.value().bytes, 4097u);
}

TEST(Options, Defaults) {
  const Result<Options> options = parse({"--impl", "reference", "--unit", "Area.Case"});
  ASSERT_TRUE(options);
  EXPECT_FALSE(options.value().mpi);
  EXPECT_EQ(options.value().handle_types, 0u);
  EXPECT_EQ(options.value().operations, 5);
  EXPECT_EQ(options.value().root_ordinal, 0);
}

TEST(Options, ListNeedsNothingElse) {
  const Result<Options> options = parse({"--list"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options.value().list);
}

TEST(Options, MistakesAreOneLine) {
  for (const std::vector<const char*>& wrong :
       std::vector<std::vector<const char*>>{{"--unit", "Area.Case"},
                                             {"--impl", "reference"},
                                             {"--impl", "a", "--unit", "b", "--exchange", "tcp"},
                                             {"--impl", "a", "--unit", "b", "--ops", "0"},
                                             {"--impl", "a", "--unit", "b", "--root-ordinal", "-1"},
                                             {"--impl", "a", "--unit", "b", "--handle-types", "2"},
                                             {"--surprise"}}) {
    const Result<Options> options = parse(wrong);
    ASSERT_FALSE(options) << wrong.front();
    EXPECT_EQ(options.error().find('\n'), std::string::npos) << options.error();
    EXPECT_THAT(options.error(), HasSubstr("symmcts-rank: "));
  }
}

}  // namespace
}  // namespace symmcts::cases
