#include "conformance/cases/bench.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

namespace symmcts::cases {

Bench::Bench(Agreement& agreement, Marks& marks, Implementation& implementation,
             RankContext context, Permit permit, Settings settings)
    : agreement_(agreement),
      marks_(marks),
      implementation_(implementation),
      context_(std::move(context)),
      permit_(std::move(permit)),
      settings_(settings) {}

// True if no rank has a text; else `first` is the one of the lowest rank, with its number.
bool Bench::agree(const std::string& mine, std::string& first) {
  const auto texts = agreement_.gather(mine);
  if (!texts) {
    error_ = agreement_.broken();
    first = error_;
    ADD_FAILURE() << error_;
    return false;
  }
  for (std::size_t rank = 0; rank < texts->size(); ++rank) {
    if ((*texts)[rank].empty()) continue;
    first = "rank " + std::to_string(rank) + ": " + (*texts)[rank];
    return false;
  }
  return true;
}

bool Bench::open() {
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  marks_.group("world", ranks, context_.root);
  marks_.phase("open");
  return step("open", implementation_.open(context_));
}

bool Bench::open_group(const std::vector<int>& members) {
  RankContext context = context_;
  context.members = members;
  context.root = 0;
  marks_.group("of rank " + std::to_string(members.front()), members, context.root);
  marks_.phase("open");
  return step("open", implementation_.open(context));
}

bool Bench::close() {
  marks_.phase("close");
  return step("close", implementation_.close());
}

std::unique_ptr<Block> Bench::make_block(std::size_t bytes) {
  std::unique_ptr<Block> block;
  marks_.phase("make-block");
  Outcome outcome = implementation_.make_block(bytes, block);
  if (outcome.ok && (block == nullptr || block->multicast() == 0)) {
    outcome.ok = false;
    outcome.call = "make_block";
    outcome.text = block == nullptr ? "success without a block"
                                    : "no multicast mapping, although the machine has multicast";
  }
  if (!step("make_block", outcome)) return nullptr;
  marks_.phase("ready");
  return block;
}

bool Bench::free_block(std::unique_ptr<Block> block) {
  marks_.phase("teardown");
  return step("free_block", implementation_.free_block(std::move(block)));
}

bool Bench::step(const char* call, const Outcome& outcome) {
  marks_.outcome(call, outcome);
  std::string wrong;
  if (!outcome.ok) wrong = outcome.text.empty() ? std::string(call) + " failed" : outcome.text;
  std::string first;
  if (agree(wrong, first)) return true;
  failed_ = true;
  if (error_.empty()) ADD_FAILURE() << call << ": " << first;
  return false;
}

bool Bench::check(const std::vector<std::string>& ids, const std::string& wrong,
                  const std::string& right) {
  marks_.check(ids, wrong.empty(), wrong.empty() ? right : wrong);
  std::string first;
  if (agree(wrong, first)) return true;
  failed_ = true;
  if (error_.empty()) ADD_FAILURE() << first;
  return false;
}

bool Bench::need(const std::string& failure) {
  std::string first;
  if (agree(failure, first)) return true;
  failed_ = true;
  error_ = first;
  ADD_FAILURE() << first;
  return false;
}

bool Bench::agree_to_run(const std::string& obstacle) {
  std::string first;
  if (agree(obstacle, first)) return true;
  if (error_.empty()) {
    skipped_ = first;
    marks_.skip(first);
  }
  return false;
}

void Bench::threw(const std::string& what) {
  thrown_ = what;
  error_ = "the implementation threw: " + what;
  ADD_FAILURE() << error_;
}

}  // namespace symmcts::cases
