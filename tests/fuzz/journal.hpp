#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace symmcts::fuzz {

// What one rank has done, in memory that it shares with its parent: that of a rank which crashed,
// hangs or was killed can still be read.
struct Page {
  static constexpr std::size_t kLines = 64;
  static constexpr std::size_t kLength = 200;

  std::atomic<std::uint64_t> lines{0};  // begun: the last one's call may not have returned
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> hash{0xcbf29ce484222325U};  // of all finished lines (FNV-1a)
  char text[kLines][kLength] = {};
  // The call in which the rank now stands still on purpose, as the driver names it.
  char waits_in[64] = {};
};

// A page that this process and its later children share; never null. drop_page() gives it back.
Page* make_page();
void drop_page(Page* page);

// The last lines of a page, the oldest first.
std::string last_lines(const Page& page);

// Writes a page, and all lines to a file if there is one. Lines hold what is the same in every run
// with one seed: no addresses, handle values or descriptors.
class Journal {
 public:
  // `transcript` may be null; it stays the caller's.
  Journal(Page& page, std::FILE* transcript) : page_(page), transcript_(transcript) {}

  // Before a call: what is about to be done.
  void begin(const std::string& what);
  // After it: what came of it.
  void end(const std::string& result);
  void step() { page_.steps.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t steps() const { return page_.steps.load(std::memory_order_relaxed); }

 private:
  Page& page_;
  std::FILE* transcript_;
  std::string line_;
};

}  // namespace symmcts::fuzz
