#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "symm_mem/exchange.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// An exchange over Unix sockets: rank r listens on `directory`/rank-r.sock, and a rank connects to
// another when it first has something for it. One directory serves one exchange: it must exist,
// be writable by all ranks and reachable by a path of under 90 characters. Files that an earlier
// run left there are replaced (nccl#2379: an exchange that never gets its descriptor must not
// hang).
//
// Opening does not wait for the other ranks; the first send to a rank waits, at most `startup` of
// wall time, until that rank listens; it is `closed` at once where the rank is known to have ended.
// A message that does not fit in the socket's buffer leaves during later calls. The end of a
// process shows as `closed` at once, after its messages.
Result<std::unique_ptr<Exchange>> open_unix_exchange(
    const std::string& directory, int rank, int size,
    std::chrono::nanoseconds startup = std::chrono::seconds(30));

}  // namespace symm_mem
