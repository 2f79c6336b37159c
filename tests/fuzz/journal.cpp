#include "tests/fuzz/journal.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace symmcts::fuzz {
namespace {

void put(Page& page, std::uint64_t number, const std::string& line) {
  char* slot = page.text[number % Page::kLines];
  const std::size_t length = std::min(line.size(), Page::kLength - 1);
  std::memcpy(slot, line.data(), length);
  slot[length] = '\0';
}

}  // namespace

Page* make_page() {
  void* at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    std::perror("fuzz: mmap");
    std::exit(3);
  }
  return new (at) Page;
}

void drop_page(Page* page) { munmap(page, sizeof *page); }

std::string last_lines(const Page& page) {
  const std::uint64_t end = page.lines.load();
  std::string out;
  for (std::uint64_t i = end < Page::kLines ? 0 : end - Page::kLines; i < end; ++i) {
    out += "  " + std::string(page.text[i % Page::kLines]) + "\n";
  }
  return out;
}

void Journal::begin(const std::string& what) {
  line_ = std::to_string(page_.steps.load()) + " " + what;
  const std::uint64_t number = page_.lines.load();
  put(page_, number, line_ + " ...");
  page_.lines.store(number + 1);
}

void Journal::end(const std::string& result) {
  line_ += " = " + result;
  put(page_, page_.lines.load() - 1, line_);
  std::uint64_t hash = page_.hash.load();
  for (const char c : line_ + "\n") {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  page_.hash.store(hash);
  if (transcript_ != nullptr) std::fprintf(transcript_, "%s\n", line_.c_str());
}

}  // namespace symmcts::fuzz
