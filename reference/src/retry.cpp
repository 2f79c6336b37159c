// Lockstep retry of the multicast half.
#include <algorithm>

#include "symm_mem/multicast.hpp"

namespace symm_mem {

Status establish_in_lockstep(Multicast& multicast, MulticastOrder order,
                             const RetryPolicy& policy) {
  Agreement& agreement = *multicast.site.agreement;
  std::chrono::nanoseconds backoff = policy.backoff;
  for (int tries = 1;; ++tries) {
    Status built = order(multicast);
    if (built) return built;
    // Every rank comes here with the same Error and undoes the same steps: what worked on this rank
    // as well, or the next bind would find its range taken (SM-RETRY-3).
    const Status undone = multicast.close();
    const auto give_up = [&](const Status& why) {
      if (!why) built.error().text += "; undoing it: " + why.error().line();
      if (tries > 1) built.error().text += "; " + std::to_string(tries) + " tries";
      return built;
    };
    if (!is_transient(built.error())) return give_up(undone);

    multicast.site.enter(Phase::retry);
    const bool again = tries < policy.tries;
    if (again && agreement.group().is_root()) {
      // The others wait for the root, which must come before they give it up.
      agreement.pause(std::min(backoff, agreement.deadline()));
      backoff *= 2;
    }
    const Result<Bytes> agreed =
        agreement.broadcast(Phase::retry, undone, {static_cast<std::byte>(again ? 1 : 0)});
    if (!agreed || agreed.value().empty() || agreed.value().front() == std::byte{0}) {
      return give_up(agreed.status());
    }
  }
}

}  // namespace symm_mem
