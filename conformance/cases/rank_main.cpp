// symmcts-rank: one rank of one conformance case. Exits 0 when the case's verdict is in the
// evidence, whatever it is, and with one line on stderr when there is none: 4 if that is the
// implementation's doing, else 3. Then a `give-up` mark says whose doing it is, if there is a
// recorder; an implementation that ends the process itself leaves none.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "conformance/cases/agreement.hpp"
#include "conformance/cases/bench.hpp"
#include "conformance/cases/case.hpp"
#include "conformance/cases/environment.hpp"
#include "conformance/cases/options.hpp"
#include "conformance/cases/session.hpp"
#include "harness/support/list_end.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::cases {
namespace {

constexpr int kImplementationThrew = 4;

int refuse(const std::string& text) {
  std::fprintf(stderr, "symmcts-rank: %s\n", printable(text).c_str());
  return kRefused;
}

void print_list() {
  for (const Case& each : all_cases()) {
    std::string line = each.unit();
    char before = '\t';
    for (const std::string& id : each.ids) {
      line += before + id;
      before = ',';
    }
    std::puts(line.c_str());
  }
}

// One a line: name, the requirement that must catch it, its source, what it needs, its summary;
// tabs between.
void print_implementations() {
  for (const ImplementationEntry& entry : implementations()) {
    std::printf("%s\t%s\t%s\t%s\t%s\n", entry.name.c_str(), entry.caught_by.c_str(),
                entry.source.c_str(), entry.needs.c_str(), entry.summary.c_str());
  }
}

const ImplementationEntry* find_implementation(const std::string& name) {
  for (const ImplementationEntry& entry : implementations()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// GoogleTest runs the one case; its exit code is no verdict, the marks are.
void run_case(const Case& which, Bench& bench) {
  register_case(which, bench);
  ::testing::GTEST_FLAG(filter) = which.unit();
  [[maybe_unused]] const int result = RUN_ALL_TESTS();
}

// Ends the process in the middle of things: what the implementation has left behind could wait for
// ever, or worse, if it were destroyed.
[[noreturn]] void end_after_throw(const Marks& marks, int rank, const std::string& what) {
  marks.give_up(kThrew, what);
  std::fprintf(stderr, "symmcts-rank: rank %d: the implementation threw: %s\n", rank, what.c_str());
  std::exit(kImplementationThrew);
}

// For a rank that has no verdict for a reason that is not its own implementation's.
int give_up(const Marks& marks, const std::string& text, int lost = -1) {
  marks.give_up(lost >= 0 ? kPeer : kRefusal, text, lost);
  return refuse(text);
}

std::unique_ptr<Implementation> make(const ImplementationEntry& entry, Marks& marks, int rank) {
  marks.phase("construct");
  try {
    return entry.make();
  } catch (const std::exception& error) {
    end_after_throw(marks, rank, error.what());
  } catch (...) {
    end_after_throw(marks, rank, "something that is no std::exception");
  }
}

int run_rank(const Options& options) {
  const Case* which = find_case(options.unit);
  if (which == nullptr) return refuse("no case " + options.unit);
  const ImplementationEntry* entry = find_implementation(options.implementation);
  if (entry == nullptr) return refuse("no implementation " + options.implementation);

  const Result<Environment> environment = read_environment();
  if (!environment) return refuse(environment.error());
  Session session;
  if (Status started = session.start(options, environment.value()); !started) {
    return refuse(started.error());
  }
  Marks marks(which->unit(), which->ids);
  if (!marks.connect()) return refuse("no recorder is loaded: nothing would be recorded");

  Agreement agreement(session.exchange(), kLastResort);
  std::unique_ptr<Implementation> implementation = make(*entry, marks, agreement.rank());
  RankContext context;
  context.exchange = &session.exchange();
  context.rank = agreement.rank();
  context.size = agreement.size();
  context.device = session.device();
  context.context = session.context();
  context.multicast_permitted = session.permit().granted;
  context.handle_types = options.handle_types;
  context.on_phase = [&marks](std::string_view phase) { marks.phase(phase); };
  Bench bench(agreement, marks, *implementation, context, session.permit(),
              {options.operations, options.bytes, environment.value().seed, options.group_domain,
               options.group_size});
  run_case(*which, bench);

  if (bench.thrown()) end_after_throw(marks, agreement.rank(), *bench.thrown());
  if (!bench.ended()) {
    return give_up(marks,
                   "rank " + std::to_string(agreement.rank()) + " has no verdict of " +
                       which->unit() + ": " +
                       (bench.error().empty() ? "the case did not end" : bench.error()),
                   bench.lost());
  }
  if (!marks.flush()) return refuse("the recorder does not have all of the evidence");
  // Nobody goes before all have come: a rank that waits for its device counts on the others.
  if (!bench.meet()) return give_up(marks, bench.error(), bench.lost());
  const bool idle = !bench.abandoned();
  if (idle) implementation.reset();
  if (Status finished = session.finish(idle); !finished) return give_up(marks, finished.error());
  if (!idle) std::exit(0);  // destroys nothing of this function: that could wait for the device
  return 0;
}

}  // namespace
}  // namespace symmcts::cases

int main(int argc, char** argv) {
  using namespace symmcts::cases;
  const symmcts::Result<Options> options = parse_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "%s\n", symmcts::printable(options.error()).c_str());
    return symmcts::kRefused;
  }
  if (options.value().help) {
    std::fputs(options.value().text.c_str(), stdout);
    return 0;
  }
  if (options.value().list) {
    print_list();
    std::fputs(symmcts::kListEnd.data(), stdout);
    return 0;
  }
  if (options.value().list_implementations) {
    print_implementations();
    std::fputs(symmcts::kListEnd.data(), stdout);
    return 0;
  }
  int no_arguments = 1;
  ::testing::InitGoogleTest(&no_arguments, argv);
  return run_rank(options.value());
}
