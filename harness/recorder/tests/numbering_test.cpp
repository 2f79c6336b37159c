#include "harness/recorder/numbering.hpp"

#include <gtest/gtest.h>

namespace symmcts::recorder {
namespace {

TEST(Numbers, CountInOrderOfAppearance) {
  Numbers numbers;
  EXPECT_EQ(numbers.of(0x70), 1u);
  EXPECT_EQ(numbers.of(0x50), 2u);
  EXPECT_EQ(numbers.of(0x70), 1u);
}

TEST(Numbers, AReusedValueIsANewThing) {
  Numbers numbers;
  const Number first = numbers.fresh(0x70);
  numbers.forget(0x70, numbers.last());
  EXPECT_NE(numbers.fresh(0x70), first);
}

TEST(Numbers, ALateForgetLeavesWhatAnotherThreadGotMeanwhile) {
  Numbers numbers;
  numbers.fresh(0x70);
  const Number when_destroyed = numbers.last();
  const Number again = numbers.fresh(0x70);
  numbers.forget(0x70, when_destroyed);
  EXPECT_EQ(numbers.of(0x70), again);
}

// A4.6: importing one's own handle gives a distinct value, so a distinct number.
TEST(Handles, NativeAndSelfImportDiffer) {
  Handles handles;
  EXPECT_EQ(handles.created(0x1000), 1u);
  EXPECT_EQ(handles.imported(0x2000), 2u);
}

// A4.5: two imports may give one value; A4.7: each needs its own release.
TEST(Handles, OneValueImportedTwiceLivesUntilTheSecondRelease) {
  Handles handles;
  const Number first = handles.imported(0x2000);
  EXPECT_EQ(handles.imported(0x2000), first);
  handles.released(0x2000, handles.last());
  EXPECT_EQ(handles.of(0x2000), first);
  handles.released(0x2000, handles.last());
  EXPECT_NE(handles.imported(0x2000), first);
}

// Measured: retain on a self-imported mapping returns the imported handle, also after its release.
TEST(Handles, RetainKeepsTheNumberOfTheMappedHandle) {
  Handles handles;
  handles.created(0x1000);
  const Number import = handles.imported(0x2000);
  handles.released(0x2000, handles.last());
  EXPECT_EQ(handles.retained(0x2000, import), import);
  EXPECT_EQ(handles.of(0x2000), import);
  handles.released(0x2000, handles.last());
  EXPECT_NE(handles.created(0x2000), import);
}

TEST(Handles, RetainOfALivingHandleCounts) {
  Handles handles;
  const Number native = handles.created(0x1000);
  EXPECT_EQ(handles.retained(0x1000, native), native);
  handles.released(0x1000, handles.last());
  EXPECT_EQ(handles.of(0x1000), native);
}

TEST(Pieces, AnAddressBelongsToThePieceAroundIt) {
  Pieces pieces;
  pieces.add(0x1000, 0x1000);
  pieces.add(0x3000, 0x1000, 9);
  EXPECT_EQ(pieces.find(0xfff), nullptr);
  EXPECT_EQ(pieces.find(0x1000)->number, 1u);
  EXPECT_EQ(pieces.find(0x1fff)->number, 1u);
  EXPECT_EQ(pieces.find(0x2000), nullptr);
  EXPECT_EQ(pieces.find(0x3001)->handle, 9u);
  EXPECT_EQ(pieces.find(0x4000), nullptr);
}

TEST(Pieces, UnmapTakesAllMappingsInItsRange) {
  Pieces pieces;
  pieces.add(0x1000, 0x1000);
  pieces.add(0x2000, 0x1000);
  pieces.add(0x3000, 0x1000);
  ASSERT_EQ(pieces.inside(0x1000, 0x2000).size(), 2u);
  pieces.remove(0x1000, 0x2000, pieces.last());
  EXPECT_EQ(pieces.find(0x1800), nullptr);
  EXPECT_EQ(pieces.find(0x2800), nullptr);
  EXPECT_NE(pieces.find(0x3800), nullptr);
}

TEST(Pieces, ThePlaceOfAnOldMappingIsANewOne) {
  Pieces pieces;
  const Number before = pieces.add(0x1000, 0x1000);
  pieces.remove(0x1000, 0x1000, pieces.last());
  EXPECT_EQ(pieces.add(0x1000, 0x1000), before + 1);
}

TEST(Pieces, RangesAtTheEndOfTheAddressSpaceDoNotWrap) {
  Pieces pieces;
  pieces.add(0xfffffffffffff000u, 0xfff);
  EXPECT_NE(pieces.find(0xffffffffffffff00u), nullptr);
  EXPECT_EQ(pieces.find(0xffffffffffffffffu), nullptr);
  EXPECT_EQ(pieces.inside(0xfffffffffffff000u, 0x1000).size(), 1u);
}

}  // namespace
}  // namespace symmcts::recorder
