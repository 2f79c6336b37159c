// Run under mpirun with at least two ranks: messages, tags, descriptors, a vote and a deadline over
// the MPI exchange. Exits 0 only if every check held on this rank.
#include <unistd.h>

#include <cstdio>

#include "symm_mem/agreement.hpp"
#include "symm_mem/exchange_mpi.hpp"

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace symm_mem;

namespace {

int failures = 0;
int checks = 0;

void check_that(bool ok, const char* what, int rank) {
  ++checks;
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "rank %d: %s\n", rank, what);
}

void run(Exchange& exchange, int rank, int size) {
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  Bytes large(3 << 20, static_cast<std::byte>(rank));
  check_that(bool(exchange.send(next, 1, large)), "send large", rank);
  check_that(bool(exchange.send(next, 2, {})), "send empty", rank);
  Bytes got;
  check_that(bool(exchange.receive(before, 2, got, seconds(60))) && got.empty(), "empty", rank);
  check_that(bool(exchange.receive(before, 1, got, seconds(60))) && got.size() == large.size() &&
                 got.back() == static_cast<std::byte>(before),
             "large", rank);

  const ExchangeResult late = exchange.receive(before, 3, got, milliseconds(20));
  check_that(late.end == ExchangeResult::End::timed_out && late.rank == before, "deadline", rank);

  auto group = make_group(exchange, 0, {}, size - 1);
  check_that(bool(group), "group", rank);
  if (!group) return;
  Agreement agreement(exchange, group.take(), seconds(60));
  int ends[2] = {-1, -1};
  check_that(::pipe(ends) == 0, "pipe", rank);
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  auto all = agreement.all_gather_descriptors(Phase::export_memory, writing);
  check_that(bool(all), "descriptors", rank);
  if (!all) return;
  writing.close();
  for (Descriptor& peer : all.value()) {
    if (peer.open()) check_that(::write(peer.get(), "x", 1) == 1, "write", rank);
    peer.close();
  }
  int count = 0;
  for (char byte = 0; ::read(reading.get(), &byte, 1) == 1;) ++count;
  check_that(count == size - 1, "a byte from each peer", rank);

  Status mine;
  if (rank == 1) mine = Error{.call = "cuMulticastBindMem", .code = CUDA_ERROR_ILLEGAL_STATE};
  const Status verdict = agreement.vote(Phase::bind, mine);
  check_that(
      !verdict && verdict.error().rank == 1 && verdict.error().code == CUDA_ERROR_ILLEGAL_STATE,
      "vote", rank);
  check_that(bool(agreement.barrier(Phase::teardown)), "barrier", rank);
}

}  // namespace

int main() {
  const Result<MpiJob> job = start_mpi();
  if (!job || job.value().size < 2) {
    std::fprintf(stderr, "needs MPI and at least two ranks\n");
    return 1;
  }
  const int rank = job.value().rank;
  {
    auto exchange = open_mpi_exchange("");
    check_that(bool(exchange), "open", rank);
    if (exchange) run(*exchange.value(), rank, job.value().size);
  }
  check_that(bool(finish_mpi(job.value())), "finish", rank);
  return failures == 0 && checks > 10 ? 0 : 1;
}
