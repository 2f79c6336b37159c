#include "harness/adapter/reference.hpp"

#include <algorithm>
#include <utility>

#include "symm_mem/team.hpp"

namespace symmcts {
namespace {

Outcome outcome_of(const symm_mem::Status& status) {
  if (status) return {};
  const symm_mem::Error& error = status.error();
  return {.ok = false,
          .call = error.call,
          .code = static_cast<int>(error.code),
          .rank = error.rank,
          .phase = std::string(symm_mem::phase_name(error.phase)),
          .text = error.line()};
}

Outcome misuse(std::string call, std::string text) {
  Outcome outcome;
  outcome.ok = false;
  outcome.call = std::move(call);
  outcome.text = std::move(text);
  return outcome;
}

class ReferenceBlock final : public Block {
 public:
  ReferenceBlock(std::unique_ptr<symm_mem::Block> block, defects::AllGather all_gather, int member)
      : block_(std::move(block)), all_gather_(all_gather), member_(member) {}

  std::size_t bytes() const override { return block_->bytes(); }
  CUdeviceptr local() const override { return block_->local(); }
  CUdeviceptr peer(int rank) const override { return block_->peer(rank); }
  CUdeviceptr multicast() const override { return block_->multicast(); }

  Outcome write_multicast(std::size_t offset, CUdeviceptr source, std::size_t bytes,
                          CUstream stream) override {
    return outcome_of(block_->write_multicast(offset, source, bytes, stream));
  }
  Outcome all_gather(CUdeviceptr source, std::size_t bytes_per_rank, bool use_multicast,
                     CUstream stream) override {
    if (all_gather_ != nullptr && use_multicast) {
      return outcome_of(all_gather_(*block_, source, bytes_per_rank, member_, stream));
    }
    return outcome_of(block_->all_gather(
        source, bytes_per_rank, use_multicast ? symm_mem::Path::multicast : symm_mem::Path::unicast,
        stream));
  }
  Outcome barrier(CUstream stream) override { return outcome_of(block_->barrier(stream)); }

  Outcome close() { return outcome_of(block_->close()); }

 private:
  std::unique_ptr<symm_mem::Block> block_;
  defects::AllGather all_gather_;
  int member_;  // this rank in the group
};

class ReferenceImplementation final : public Implementation {
 public:
  ReferenceImplementation(std::string name, symm_mem::MulticastOrder order,
                          defects::AllGather all_gather)
      : name_(std::move(name)), order_(order), all_gather_(all_gather) {}

  std::string name() const override { return name_; }

  Outcome open(const RankContext& context) override {
    if (context.exchange == nullptr) return misuse("open", "no exchange");
    if (team_ != nullptr) return misuse("open", "open already");
    symm_mem::TeamOptions options;
    options.device = context.device;
    options.context = context.context;
    options.members = context.members;
    options.root = context.root;
    options.permit = context.multicast_permitted ? symm_mem::MulticastPermit::granted
                                                 : symm_mem::MulticastPermit::never;
    if (context.handle_types != 0) options.allowed_routes = context.handle_types;
    options.on_phase = context.on_phase;
    options.multicast_order = order_;
    auto team = symm_mem::Team::open(*context.exchange, std::move(options));
    if (!team) return outcome_of(team.status());
    team_ = team.take();
    const auto self = std::find(context.members.begin(), context.members.end(), context.rank);
    member_ =
        context.members.empty() ? context.rank : static_cast<int>(self - context.members.begin());
    return {};
  }

  Outcome make_block(std::size_t bytes, std::unique_ptr<Block>& block) override {
    if (team_ == nullptr) return misuse("make_block", "not open");
    auto made = team_->make_block(bytes);
    if (!made) return outcome_of(made.status());
    block = std::make_unique<ReferenceBlock>(made.take(), all_gather_, member_);
    return {};
  }

  Outcome free_block(std::unique_ptr<Block> block) override {
    auto* own = dynamic_cast<ReferenceBlock*>(block.get());
    if (own == nullptr) return misuse("free_block", "not a block of this implementation");
    return own->close();
  }

  Outcome close() override {
    if (team_ == nullptr) return misuse("close", "not open");
    const Outcome outcome = outcome_of(team_->close());
    team_.reset();
    return outcome;
  }

 private:
  std::string name_;
  symm_mem::MulticastOrder order_;
  defects::AllGather all_gather_;
  int member_ = 0;
  std::unique_ptr<symm_mem::Team> team_;
};

}  // namespace

std::unique_ptr<Implementation> make_reference(std::string name, symm_mem::MulticastOrder order,
                                               defects::AllGather all_gather) {
  return std::make_unique<ReferenceImplementation>(std::move(name), order, all_gather);
}

}  // namespace symmcts
