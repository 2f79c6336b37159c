#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/platform/model/misuse.hpp"

namespace symmcts::platform::abi {

// The exported function that this thread is in, for births and reports; null outside of any.
// Entering returns the one around it (a CUPTI callback may call the driver), which leaving
// restores.
const char* enter_function(const char* api);
void leave_function(const char* around);

// Which call made an object, and when.
struct Birth {
  const char* call = "";
  Ns at = 0;
};
Birth birth_in_this_call();

// A client used a handle of `what` ("stream", "event", "context") that names nothing. `given`: it
// named something once. `releasing`: in order to give it up. Says so on stderr and to the machine;
// the call itself answers as for any bad handle, where a real driver would crash.
void report_missing(const char* what, std::uintptr_t handle, bool given, bool releasing);

// Adds one entry a kind for what `births` lists.
void add_left(const char* what, const std::vector<Birth>& births, std::vector<Misuse>& out);

}  // namespace symmcts::platform::abi
