#include "sweep_rank.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "harness/adapter/reference.hpp"
#include "harness/adapter/tests/platform_rank.hpp"

namespace symmcts::sweep {
namespace {

using test::PlatformRank;

constexpr std::size_t kBytes = (std::size_t{1} << 20) + 6;

void say(const char* line) {
  const std::string text = std::string(line) + "\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

// Descriptors that stand for something of the machine: connections between ranks come and go.
int machine_descriptors() {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string what = std::filesystem::read_symlink(entry.path(), error).string();
    count += what.starts_with("pipe:") || what.find("memfd") != std::string::npos ? 1 : 0;
  }
  return count;
}

class SweptRank {
 public:
  SweptRank(PlatformRank& rank, const Findings& findings)
      : rank_(rank),
        findings_(findings),
        implementation_(make_reference("swept", symm_mem::establish_multicast)) {}

  // Team, block, and what came of them. Never returns on a rank that the case kills.
  void rendezvous() {
    say(kWindowBegin);
    Outcome outcome = implementation_->open(rank_.context());
    if (outcome) outcome = implementation_->make_block(kBytes, block_);
    say(kWindowEnd);
    std::string verdict;
    if (!outcome) {
      verdict = "no block: " + outcome.text;
    } else if (block_->multicast() != 0) {
      verdict = "multicast";
    } else {
      verdict = "unicast: " + block_->write_multicast(0, block_->local(), 1, rank_.stream()).text;
    }
    findings_.add("verdict", verdict);
  }

  // Everyone is there: what came of it works and is given back, and the next team is as good as
  // any. A new one, because what failed while it was opened may have cost a team its multicast.
  void go_on(bool multicast_must_work) {
    std::vector<int> everyone;
    for (int rank = 0; rank < rank_.context().size; ++rank) everyone.push_back(rank);
    if (block_ != nullptr) {
      use(*block_, everyone);
      expect(implementation_->free_block(std::move(block_)), "free_block");
    }
    // Where the team did not come about either, this says so; it harms no team that did.
    (void)implementation_->close();
    implementation_ = make_reference("again", symm_mem::establish_multicast);
    if (!expect(implementation_->open(rank_.context()), "a second team")) return;
    second_block(everyone, multicast_must_work);
  }

  // One is gone. What is left of the old team is only let go; the others make a new one.
  void go_on_without(int lost, bool multicast_must_work) {
    block_.reset();
    implementation_ = make_reference("survivors", symm_mem::establish_multicast);
    RankContext context = rank_.context();
    context.members.clear();
    for (int rank = 0; rank < context.size; ++rank) {
      if (rank != lost) context.members.push_back(rank);
    }
    if (context.members.size() < 2) return;
    if (!expect(implementation_->open(context), "a team of those that are left")) return;
    second_block(context.members, multicast_must_work);
  }

 private:
  bool expect(bool ok, const std::string& text) {
    if (!ok) findings_.add("wrong", text);
    return ok;
  }
  bool expect(const Outcome& outcome, const std::string& text) {
    return expect(outcome.ok, text + ": " + outcome.text);
  }

  void second_block(const std::vector<int>& members, bool multicast_must_work) {
    std::unique_ptr<Block> block;
    if (expect(implementation_->make_block(kBytes, block), "a second block")) {
      if (multicast_must_work) {
        expect(block->multicast() != 0,
               "the second block is without multicast: " +
                   block->write_multicast(0, block->local(), 1, rank_.stream()).text);
      }
      use(*block, members);
      expect(implementation_->free_block(std::move(block)), "free the second block");
    }
    expect(implementation_->close(), "close");
  }

  // All-gathers by each way that there is, compared on every rank.
  void use(Block& block, const std::vector<int>& members) {
    const std::size_t bytes = kBytes / members.size();
    const CUdeviceptr source = rank_.make_source(bytes);
    for (const bool multicast : {false, true}) {
      if (multicast && block.multicast() == 0) continue;
      const int round = multicast ? 1 : 0;
      rank_.fill_source(source, bytes, round);
      if (!expect(block.all_gather(source, bytes, multicast, rank_.stream()), "all_gather")) break;
      const std::vector<std::byte> got = rank_.read(block.local(), bytes * members.size());
      for (std::size_t slot = 0; slot < members.size(); ++slot) {
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
          wrong += got[slot * bytes + i] != PlatformRank::pattern(members[slot], round, i);
        }
        expect(wrong == 0, std::to_string(wrong) + " bytes of rank " +
                               std::to_string(members[slot]) + " are wrong by " +
                               (multicast ? "multicast" : "unicast"));
      }
    }
    CUcontext context = nullptr;
    rank_.expect(cuCtxPushCurrent(rank_.context().context), "cuCtxPushCurrent");
    rank_.expect(cuMemFree(source), "cuMemFree");
    rank_.expect(cuCtxPopCurrent(&context), "cuCtxPopCurrent");
  }

  PlatformRank& rank_;
  const Findings& findings_;
  std::unique_ptr<Implementation> implementation_;
  std::unique_ptr<Block> block_;
};

}  // namespace

void Findings::add(const std::string& kind, const std::string& text) const {
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::string line = kind + " " + text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += "\n";
  (void)!::write(fd, line.data(), line.size());
  ::close(fd);
}

void be_rank(symm_mem::Exchange& exchange, const std::string& folder, const Place& place,
             const std::optional<SweepCase>& befalls, const Findings& findings) {
  test::RankSetup setup;
  setup.directory = folder;
  setup.platform = place.platform;
  test::Complaints complaints;
  {
    PlatformRank rank(exchange, setup, complaints);
    if (rank.started()) {
      const bool gives_back = befalls && befalls->gives_back();
      const int descriptors = machine_descriptors();
      {
        SweptRank swept(rank, findings);
        swept.rendezvous();
        if (befalls && befalls->takes_rank()) {
          // One that stands still keeps what it had, its part in the old object too.
          swept.go_on_without(befalls->call.rank, befalls->mode == Mode::kill);
        } else {
          swept.go_on(!gives_back);
        }
      }
      const int left = machine_descriptors() - descriptors;
      if (left != 0 && !gives_back) {
        findings.add("wrong", std::to_string(left) + " descriptors are left");
      }
      if (!gives_back) rank.expect_no_current_context("the rendezvous");
    }
  }
  for (const std::string& complaint : complaints) findings.add("wrong", complaint);
  findings.add("end", "");
}

}  // namespace symmcts::sweep
