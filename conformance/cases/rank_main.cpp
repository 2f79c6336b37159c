// symmcts-rank: one rank of one conformance case. Exits 0 when the case's verdict is in the
// evidence, whatever it is, and 3 with one line on stderr when there is none.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "conformance/cases/agreement.hpp"
#include "conformance/cases/bench.hpp"
#include "conformance/cases/case.hpp"
#include "conformance/cases/environment.hpp"
#include "conformance/cases/options.hpp"
#include "conformance/cases/session.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::cases {
namespace {

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

  Agreement agreement(session.exchange(), kNoDeadline);
  std::unique_ptr<Implementation> implementation = entry->make();
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
              {options.operations, options.bytes, environment.value().seed});
  run_case(*which, bench);

  if (!bench.ended()) {
    return refuse("rank " + std::to_string(agreement.rank()) + " has no verdict of " +
                  which->unit() + ": " +
                  (bench.error().empty() ? "the case did not end" : bench.error()));
  }
  if (!marks.flush()) return refuse("the recorder does not have all of the evidence");
  // Nobody goes before all have come: a rank that waits for its device counts on the others.
  if (!bench.meet()) return refuse(bench.error());
  const bool idle = !bench.abandoned();
  if (idle) implementation.reset();
  if (Status finished = session.finish(idle); !finished) return refuse(finished.error());
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
    return 0;
  }
  if (options.value().list_implementations) {
    print_implementations();
    return 0;
  }
  int no_arguments = 1;
  ::testing::InitGoogleTest(&no_arguments, argv);
  return run_rank(options.value());
}
