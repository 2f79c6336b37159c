// Implementations for misbehaving_test.py: the reference, until one rank does in the middle of the
// rendezvous what no implementation may. They are named `deed@rank`.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/adapter/implementation.hpp"
#include "harness/adapter/reference.hpp"

namespace symmcts {
namespace {

// Nobody has promised anything here: the object is neither made nor shared yet.
constexpr char kWhen[] = "import";
constexpr std::size_t kFlood = 200u << 20;

void flood(int descriptor, std::size_t bytes) {
  const std::string noise(1 << 16, 'x');
  for (std::size_t done = 0; done < bytes; done += noise.size()) {
    if (write(descriptor, noise.data(), noise.size()) < 0) return;
  }
}

struct Deed {
  const char* name;
  void (*act)();
};

constexpr Deed kDeeds[] = {
    {"throws", [] { throw std::runtime_error("boom"); }},
    {"throws-a-number", [] { throw 7; }},
    {"exits-0", [] { std::exit(0); }},
    {"exits-0-at-once", [] { _exit(0); }},
    {"exits-3", [] { std::exit(3); }},
    {"exits-7-at-once", [] { _exit(7); }},
    {"aborts", [] { std::abort(); }},
    {"segfaults",
     [] {
       signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn it into an exit code
       raise(SIGSEGV);
     }},
    {"floods-stdout", [] { flood(STDOUT_FILENO, kFlood); }},
    {"floods-stderr-for-ever", [] { flood(STDERR_FILENO, SIZE_MAX); }},
};

class Misbehaving final : public Implementation {
 public:
  Misbehaving(std::string name, int culprit, void (*act)())
      : reference_(make_reference(name, symm_mem::establish_multicast)),
        culprit_(culprit),
        act_(act) {}

  std::string name() const override { return reference_->name(); }
  Outcome open(const RankContext& context) override {
    RankContext mine = context;
    if (context.rank == culprit_) {
      mine.on_phase = [told = context.on_phase, act = act_](std::string_view phase) {
        told(phase);
        if (phase == kWhen) act();
      };
    }
    return reference_->open(mine);
  }
  Outcome make_block(std::size_t bytes, std::unique_ptr<Block>& block) override {
    return reference_->make_block(bytes, block);
  }
  Outcome free_block(std::unique_ptr<Block> block) override {
    return reference_->free_block(std::move(block));
  }
  Outcome close() override { return reference_->close(); }

 private:
  std::unique_ptr<Implementation> reference_;
  int culprit_;
  void (*act_)();
};

ImplementationEntry entry(std::string name, int culprit, void (*act)()) {
  return {.name = name,
          .summary = "for a test",
          .caught_by = {},
          .source = {},
          .needs = {},
          .make = [=] { return std::make_unique<Misbehaving>(name, culprit, act); }};
}

}  // namespace

const std::vector<ImplementationEntry>& implementations() {
  static const std::vector<ImplementationEntry> entries = [] {
    std::vector<ImplementationEntry> list;
    list.push_back(entry("reference", -1, nullptr));
    for (const int culprit : {0, 1}) {
      const std::string rank = "@" + std::to_string(culprit);
      for (const Deed& deed : kDeeds) list.push_back(entry(deed.name + rank, culprit, deed.act));
      list.push_back({.name = "cannot-be-made" + rank,
                      .summary = "for a test",
                      .caught_by = {},
                      .source = {},
                      .needs = {},
                      .make = [culprit]() -> std::unique_ptr<Implementation> {
                        const char* me = std::getenv("SYMMCTS_RANK");
                        if (me == nullptr) me = std::getenv("OMPI_COMM_WORLD_RANK");
                        if (me != nullptr && std::atoi(me) == culprit) {
                          throw std::runtime_error("no licence");
                        }
                        return make_reference("reference", symm_mem::establish_multicast);
                      }});
    }
    return list;
  }();
  return entries;
}

}  // namespace symmcts
