#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/objects.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// What was written to the memory words that order device work, and who waits for it. A write takes
// effect for waiters `visible_ns` after it has landed. A wait is satisfied at the first moment at
// or after its `ready` at which the word, put together from its log over the content it had when it
// was opened, passes the test. Words are kept in cells of four bytes; an eight-byte word is two
// cells. Precondition everywhere: offsets are multiples of 4. Not thread safe.
class WordLog {
 public:
  // Reads the present content of four bytes of an allocation.
  using Read = std::function<std::uint32_t(std::uint64_t allocation, std::uint64_t offset)>;

  WordLog(Ns visible_ns, Read read) : visible_ns_(visible_ns), read_(std::move(read)) {}

  struct Done {
    ClientId client = 0;
    std::uint64_t id = 0;
    Ns at = 0;
  };

  // Takes the present content as the start of every cell in the range that has none yet.
  void open(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size);
  // Logs a write and returns the waits that it satisfies, in the order in which they came.
  std::vector<Done> write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                          std::uint64_t value, ClientId writer, Ns at);
  // When the wait is satisfied by what is known; nothing: it is kept until a write satisfies it.
  std::optional<Ns> wait(ClientId client, const WordWait& wait);

  bool has_open_words(std::uint64_t allocation) const;
  // The client's waits end unanswered.
  void forget_client(ClientId client);
  // The allocation has gone: nothing will ever be written to it, its waits stay unanswered.
  void forget_allocation(std::uint64_t allocation);

 private:
  struct Entry {
    Ns at = 0;     // when it takes effect
    int rank = 0;  // breaks ties, so that the order of arrival of two ranks never shows
    std::uint32_t value = 0;
  };
  struct Cell {
    std::uint32_t base = 0;
    std::vector<Entry> entries;  // by (at, rank), then arrival
  };
  struct Pending {
    ClientId client = 0;
    WordWait wait;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // allocation, offset

  Cell& cell(std::uint64_t allocation, std::uint64_t offset);
  void log(Cell& cell, const Entry& entry);
  std::optional<Ns> evaluate(const WordWait& wait);
  std::vector<Done> answer(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size);

  Ns visible_ns_;
  Read read_;
  std::map<Key, Cell> cells_;
  std::vector<Pending> pending_;
};

}  // namespace symmcts::platform
