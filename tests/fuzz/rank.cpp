#include "tests/fuzz/rank.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/fuzz/actions.hpp"
#include "tests/fuzz/episodes.hpp"
#include "tests/fuzz/link.hpp"

namespace symmcts::fuzz {
namespace {

// The fuzzer's own tests: what its parent must notice.
void pretend(const RankTask& task, Session& session) {
  if (task.pretends == 1) {
    session.journal.begin("pretends to hang");
    while (true) pause();
  }
  if (task.pretends == 2) std::abort();
  if (task.pretends == 3) session.check(false, "pretends to find something");
}

// A moment passes between the death of a process and what the machine makes of it.
void expect_all_memory_free(Session& s, bool somebody_died) {
  for (int device = 0; device < s.world.devices; ++device) {
    int attempts = somebody_died ? 500 : 1;
    while (!all_memory_is_free(s, device)) {
      s.check(--attempts > 0,
              "not all memory of device " + std::to_string(device) + " is free at the end");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void steps_of(const RankTask& task, Session& session, Link& link) {
  Draw plan(Draw::derive(task.seed, 1000));  // the same on both ranks
  for (std::size_t i = 0; i < task.steps; ++i) {
    if (i == task.steps / 2) pretend(task, session);
    const bool together = task.ranks == 2 && plan.once_in(16);
    const std::uint64_t episode = plan.next();
    if (together && !link.gone()) {
      meet_peer(session, link, task.rank, episode);
    } else {
      step(session);
    }
  }
}

void close_rank(const RankTask& task, Session& session, Link& link) {
  give_up(session);
  const bool met = task.ranks == 2 && link.meet();
  if (task.rank == 0 || !met) {
    expect_all_memory_free(session, task.ranks == 2 && !met);
    if (task.slots <= 8) check_slots(session);
  }
  if (met) link.meet();
  release_contexts(session);
}

void run(const RankTask& task, Page& page, Journal& journal) {
  const Driver& driver = open_driver(task.library.c_str());
  Session session(driver, Draw(Draw::derive(task.seed, static_cast<std::uint64_t>(task.rank))),
                  journal);
  session.world.slots = task.slots;
  session.world.fabric = task.fabric;
  session.world.alone = task.ranks == 1;
  if (task.managed) driver.managed();
  start(session);
  Link link(driver, task.link, 1 - task.rank, task.managed);
  if (task.ranks == 2) link.meet_outside();
  const std::size_t descriptors = open_descriptors(), files = mapped_memory_files();
  steps_of(task, session, link);
  if (task.stands_still) stand_still(session, page.waits_in, sizeof page.waits_in);
  close_rank(task, session, link);
  const std::size_t still_open = open_descriptors();
  session.check(still_open == descriptors,
                "open descriptors at the end: " + std::to_string(still_open) +
                    ", before: " + std::to_string(descriptors));
  session.check(mapped_memory_files() == files, "memory files are still mapped at the end");
}

}  // namespace

int run_rank(const RankTask& task, Page& page) {
  Journal journal(page, task.transcript);
  try {
    run(task, page, journal);
  } catch (const Finding& finding) {
    std::fprintf(stderr, "fuzz: rank %d: %s\n", task.rank, finding.what());
    return 1;
  }
  return 0;
}

}  // namespace symmcts::fuzz
