#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/platform/abi/tests/platform.hpp"

// Small programs of several ranks, each a process of its own, on a machine that looks for races.
namespace symmcts::platform::abi::test {

// What the platform sees of the messages between ranks.
enum class Messages : std::uint8_t {
  seen,    // the exchange is declared and announces each one
  unseen,  // an ordinary program's, over pipes of its own
};

// What a rank of a program has: two streams and two events, memory of its own and of every other
// rank.
class RaceWorld {
 public:
  static constexpr std::size_t kBlock = 2U << 20;   // bytes of a rank's block
  static constexpr std::size_t kWords = 1U << 20;   // from here on a block holds words
  static constexpr std::size_t kBytes = 64U << 10;  // of a usual copy

  RaceWorld(int rank, int size, Messages messages, std::vector<int> lines);

  const int rank, size;
  int next() const { return (rank + 1) % size; }
  int last() const { return (rank + size - 1) % size; }

  CUstream a = nullptr, b = nullptr;  // neither waits for the legacy stream
  CUevent event = nullptr, other = nullptr;
  CUdeviceptr mine = 0;    // a block that no other process reaches
  CUdeviceptr source = 0;  // likewise, written and waited for at the start
  void* pinned = nullptr;

  // Blocks that every rank has and every rank maps. Collective, as everything below.
  void share();
  CUdeviceptr block(int of) const { return blocks_[static_cast<std::size_t>(of)]; }
  CUdeviceptr word(int of, int which) const {
    return block(of) + kWords + 256 * static_cast<std::size_t>(which);
  }
  // One address for all blocks at once; needs share().
  CUdeviceptr multicast();

  void copy(CUdeviceptr to, CUdeviceptr from, CUstream stream, std::size_t bytes = kBytes) const;
  void fill(CUdeviceptr to, CUstream stream, std::size_t bytes = kBytes) const;
  void write(CUdeviceptr word, std::uint32_t value, CUstream stream) const;
  void wait(CUdeviceptr word, std::uint32_t value, CUstream stream) const;
  void order(CUstream first, CUstream second);  // by `event`
  void synchronize(CUstream stream) const;

  void send(int to, int descriptor = -1);
  int receive(int from);  // the descriptor that came along, or -1
  void barrier();
  // `handle` of rank 0 or another to everybody.
  CUmemGenericAllocationHandle pass(int from, CUmemGenericAllocationHandle handle);

 private:
  struct Letter {
    int from = 0;
    std::uint64_t stamp = 0;
    int descriptor = -1;
  };
  CUdeviceptr map(CUmemGenericAllocationHandle handle) const;
  // Waits for one letter, whoever wrote it. Ends the process if `awaited` has gone.
  Letter hear(int awaited);

  const Messages messages_;
  std::vector<int> lines_;  // a socket to each rank; -1: oneself, or it has gone
  std::vector<CUdeviceptr> blocks_;
  CUmemGenericAllocationHandle own_ = 0;
  std::vector<Letter> shelf_;  // what came while another rank was waited for
};

struct RaceProgram {
  const char* name;
  std::function<void(RaceWorld&)> body;
};

// Something in it races: always named, whatever the order in which it happened to run.
const std::vector<RaceProgram>& racing_programs();
// Nothing does.
const std::vector<RaceProgram>& ordered_programs();
// Ordered by messages, after the sender has waited for its work; run with Messages::unseen.
const std::vector<RaceProgram>& unseen_programs();

struct FoundRaces {
  int certain = 0, suspect = 0;
  std::vector<std::string> texts;
  bool checked = false, whole = false;
  std::vector<std::string> lines;  // the whole report
};

// Runs the program on `size` ranks of an hgx-h200, and fails the test if one of them did not end
// well. Blocks.
FoundRaces run_program(const RaceProgram& program, int size, Messages messages,
                       std::uint64_t seed = 1);

}  // namespace symmcts::platform::abi::test
