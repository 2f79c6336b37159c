#include "harness/support/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace symmcts {
namespace {

using namespace std::string_literals;

TEST(Printable, OrdinaryTextStaysAsItIs) {
  for (const char* text :
       {"", "rank 0: cuMemMap said \"no\"", "/tmp/a b\\c.json", "Grüße, 東京, 🙂"}) {
    EXPECT_EQ(printable(text), text);
  }
}

// ECMA-48: ESC [ 2 J clears the screen, ESC ] 0 ; ... BEL sets the title; CR overwrites the line.
TEST(Printable, SequencesThatSteerATerminalAreShown) {
  EXPECT_EQ(printable("\033[2J\033]0;owned\a"), "\\x1b[2J\\x1b]0;owned\\x07");
  EXPECT_EQ(printable("FAIL\rpass"), "FAIL\\rpass");
  EXPECT_EQ(printable("one\ntwo\tthree"), "one\\ntwo\\tthree");
  EXPECT_EQ(printable("a\0b\x7f"s), "a\\x00b\\x7f");
}

// The C1 controls: U+009B begins a sequence as ESC [ does (ECMA-48, 8-bit form, as UTF-8).
TEST(Printable, C1ControlsAreShown) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
}

// CVE-2021-42574: text that reads otherwise than it is.
TEST(Printable, MarksOfWritingDirectionAreShown) {
  EXPECT_EQ(printable("\u202egreen\u2069"), "\\u202egreen\\u2069");
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

// RFC 3629: overlong forms, surrogates, what lies beyond U+10FFFF, cut sequences.
TEST(Printable, WhatIsNoUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
}

}  // namespace
}  // namespace symmcts
