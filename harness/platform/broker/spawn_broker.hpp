#pragma once

#include "harness/platform/broker/client.hpp"
#include "harness/support/result.hpp"
#include "harness/support/unique_fd.hpp"

namespace symmcts::platform {

// A connection to the broker that `options` name, before any message: to a machine's socket, where
// the broker is started first if nobody listens (two processes that come at once start one), or to
// a private broker. Blocks until that broker is ready. The Error says in one line why not, in the
// broker's words where it has some. A broker that is started has no ties to this process but the
// connection: its own session, no inherited descriptors but standard error.
Result<UniqueFd> reach_broker(const JoinOptions& options);

}  // namespace symmcts::platform
