// torchcomms#3506 on a machine with fabric handles: rank 1 imports the multicast object only when
// rank 0 has dropped a reference to it. The same scenario for the defect and for the reference.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "machine.hpp"
#include "platform_rank.hpp"

namespace symmcts::test {
namespace {

using symm_mem::test::run_ranks_in;
using symm_mem::test::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Makes one block under the scenario. A rank that blocks for ever is ended when the machine has
// reported the hang; then its exit is a quiet one.
Complaints make_block_on_both(const std::string& directory, const std::string& report,
                              const std::string& name) {
  return run_ranks_in(directory, 2, [&](symm_mem::Exchange& exchange, Complaints& complaints) {
    std::thread([report] {
      while (text_of(report).find('\n') == std::string::npos) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      ::_exit(0);
    }).detach();
    RankSetup setup;
    setup.directory = directory;
    PlatformRank rank(exchange, setup, complaints);
    if (!rank.started()) return;
    for (const ImplementationEntry& entry : implementations()) {
      if (entry.name != name) continue;
      const auto implementation = entry.make();
      if (!rank.expect(implementation->open(rank.context()), "open")) return;
      std::unique_ptr<Block> block;
      if (!rank.expect(implementation->make_block(1 << 20, block), "make_block")) return;
      rank.expect(block->multicast() != 0, "no multicast");
      rank.all_gathers(*block, 4096, true);
      rank.expect(implementation->free_block(std::move(block)), "free_block");
      rank.expect(implementation->close(), "close");
      complaints.push_back("came to the end");
    }
  });
}

TEST(LateImport, TheDefectHangsInBindOnAnEmptyObject) {
  const TemporaryDirectory directory;
  Machine machine(directory.path(), "gb200-nvl2", SYMMCTS_LATE_IMPORT);
  ASSERT_TRUE(machine.running());
  EXPECT_THAT(make_block_on_both(directory.path(), machine.report(), "defect:root-releases-early"),
              IsEmpty());
  const std::string hang = text_of(machine.report());
  EXPECT_THAT(hang, HasSubstr(R"("type":"hang")"));
  EXPECT_THAT(hang, HasSubstr(R"({"rank":0,"where":"cuMulticastBindMem")"));
  EXPECT_THAT(hang, HasSubstr(R"({"rank":1,"where":"cuMulticastBindMem")"));
  EXPECT_THAT(hang, HasSubstr(R"("empty":true)"));
}

TEST(LateImport, TheReferenceDoesNotMind) {
  const TemporaryDirectory directory;
  Machine machine(directory.path(), "gb200-nvl2", SYMMCTS_LATE_IMPORT);
  ASSERT_TRUE(machine.running());
  EXPECT_THAT(
      make_block_on_both(directory.path(), machine.report(), "reference"),
      ::testing::UnorderedElementsAre("rank 0: came to the end", "rank 1: came to the end"));
  EXPECT_THAT(text_of(machine.report()), Not(HasSubstr(R"("type":"hang")")));
}

}  // namespace
}  // namespace symmcts::test
