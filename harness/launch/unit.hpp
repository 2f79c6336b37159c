#pragma once

#include "harness/launch/environment.hpp"
#include "harness/launch/request.hpp"
#include "harness/launch/unit_result.hpp"

namespace symmcts::launch {

// Runs one unit from nothing to nothing: run directory, reaper, broker, ranks; watches them, ends
// them, collects evidence/<unit>/ and host/<unit>/ in the output folder, and leaves no process and
// no file beside that. Blocks until then; never longer than the patience allows and some seconds.
// Precondition: the calling process is single threaded. `host` is this process's environment.
UnitResult run_unit(const UnitRequest& request, const Variables& host);

}  // namespace symmcts::launch
