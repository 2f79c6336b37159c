#pragma once

#include <cstdint>
#include <string>

#include "harness/permit/driver_kind.hpp"
#include "harness/recorder/environment.hpp"

namespace symmcts::recorder {

// The header line of an evidence file. Asks the driver for its devices, so the driver must be
// initialized (where it is not, there are none), and the caller must ignore the callbacks that the
// questions cause on this thread.
std::string header_line(const Environment& environment, const LoadedDriver& driver,
                        std::uint32_t cupti_version);

// True if the software platform says that every client of the machine is managed, so that the
// evidence is the same in every run. Always false on a real driver.
bool run_is_deterministic(const LoadedDriver& driver);

}  // namespace symmcts::recorder
