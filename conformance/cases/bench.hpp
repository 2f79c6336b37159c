#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cases/agreement.hpp"
#include "conformance/cases/marks.hpp"
#include "harness/adapter/implementation.hpp"
#include "harness/permit/permit.hpp"

namespace symmcts::cases {

struct Settings {
  int operations = 5;
  std::size_t bytes = 0;  // 0: the case's own choice
  std::uint64_t seed = 0;
  int group_domain = 0;  // ranks in a row that groups stay within; 0: all
  int group_size = 0;    // ranks of a group; 0: half of a domain
};

// What a case works with on one rank: the implementation under test, the other ranks, and where to
// write what it saw. Everything that returns bool is collective, returns the same on every rank,
// and once it has returned false the case returns at once: a body is a list of
// `if (!bench.step(...)) return;`.
class Bench {
 public:
  Bench(Agreement& agreement, Marks& marks, Implementation& implementation, RankContext context,
        Permit permit, Settings settings);

  int rank() const { return agreement_.rank(); }
  int size() const { return agreement_.size(); }
  const Settings& settings() const { return settings_; }
  const Permit& permit() const { return permit_; }
  CUdevice device() const { return context_.device; }
  Marks& marks() { return marks_; }

  // Opens the implementation for the group of all ranks, and closes it.
  bool open();
  // The same for groups that each hold some of the ranks: `members` are those of the group of this
  // rank, in group order, and its root is the first. Everything that follows stays collective over
  // all ranks.
  bool open_group(const std::vector<int>& members);
  bool close();
  // A block that has a multicast mapping on every rank; null on every rank where one has none.
  std::unique_ptr<Block> make_block(std::size_t bytes);
  bool free_block(std::unique_ptr<Block> block);

  // What a call of the implementation returned on this rank; false if it failed on any.
  bool step(const char* call, const Outcome& outcome);
  // A requirement's own check: "" for what is right, else what is wrong. False if any rank has seen
  // something wrong. The text on success is for the reader of the evidence.
  bool check(const std::vector<std::string>& ids, const std::string& wrong,
             const std::string& right);
  // Something of the harness's own, no matter of the implementation: "" or why it failed. A failure
  // anywhere makes the unit an error instead of a verdict.
  bool need(const std::string& failure);
  // Everyone has come this far.
  bool meet() { return need(""); }
  // Each rank's text; the first that is not empty, by rank, is the reason to skip for all.
  bool agree_to_run(const std::string& obstacle);

  // Why there is no verdict, or "".
  const std::string& error() const { return error_; }
  // The rank that is to blame for it, being gone, or -1.
  int lost() const { return agreement_.lost(); }
  // The implementation threw, which no caller of it has to stand. There is no verdict then: nobody
  // knows what state it left.
  void threw(const std::string& what);
  // What it threw; nothing: it has not.
  const std::optional<std::string>& thrown() const { return thrown_; }
  const std::string& skipped() const { return skipped_; }
  // The case failed on some rank.
  bool failed() const { return failed_; }
  // Device work is left that may never end, because a rank gave up before it had submitted its own:
  // keeps the block, and from here on nothing may wait for the device.
  void abandon(std::unique_ptr<Block> block) { abandoned_.push_back(std::move(block)); }
  bool abandoned() const { return !abandoned_.empty(); }

  // The case's last word has been written.
  bool ended() const { return ended_; }
  void end() { ended_ = true; }

 private:
  bool agree(const std::string& mine, std::string& first);

  Agreement& agreement_;
  Marks& marks_;
  Implementation& implementation_;
  RankContext context_;
  Permit permit_;
  Settings settings_;
  std::string error_;
  std::string skipped_;
  bool failed_ = false;
  std::optional<std::string> thrown_;
  std::vector<std::unique_ptr<Block>> abandoned_;
  bool ended_ = false;
};

}  // namespace symmcts::cases
