#include "harness/platform/abi/faults.hpp"

#include <signal.h>
#include <unistd.h>

namespace symmcts::platform::abi {
namespace {

void tell(Runtime& runtime, const RankFault& fault, std::uint64_t number) {
  say("scenario: " + fault_text(fault, number));
  runtime.client->befallen(fault, number, runtime.streams->now());
}

}  // namespace

// The signal goes to the process: every thread ends or stands still.
void befall_around(Runtime& runtime, const FaultPlan::Due& due, RankFault::When when) {
  for (const RankFault* fault : due.faults) {
    const bool kills = fault->kind == RankFault::Kind::kill;
    if ((!kills && fault->kind != RankFault::Kind::stop) || fault->when != when) continue;
    tell(runtime, *fault, due.number);
    ::kill(::getpid(), kills ? SIGKILL : SIGSTOP);
  }
}

CUresult befall_within(Runtime& runtime, const FaultPlan::Due& due, const char* function) {
  auto result = CUDA_SUCCESS;
  for (const RankFault* fault : due.faults) {
    if (fault->kind == RankFault::Kind::stall) {
      tell(runtime, *fault, due.number);
      runtime.streams->enter_blocking(function);
      runtime.streams->leave_blocking(runtime.streams->now() + fault->ns);
    } else if (fault->kind == RankFault::Kind::fail && result == CUDA_SUCCESS) {
      tell(runtime, *fault, due.number);
      result = static_cast<CUresult>(fault->code);
    }
  }
  return result;
}

void befall_phase(Runtime& runtime, const char* phase) {
  befall_around(runtime, runtime.faults->phase(phase), RankFault::When::phase);
}

}  // namespace symmcts::platform::abi
