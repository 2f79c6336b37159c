#pragma once

#include "harness/platform/process/streams.hpp"

// What symmcts_platform.h's functions were told before cuInit: a rank may exchange messages first.
namespace symmcts::platform::abi {

// Has symmcts_platform_managed been called?
bool exchange_managed();

// Tells `streams`, just built, about the messages that left and came before: the machine's count of
// messages in flight must include them, and the clocks that came with them are joined.
void exchange_catch_up(Streams& streams);

}  // namespace symmcts::platform::abi
