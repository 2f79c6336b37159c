#pragma once

#include <vector>

#include "tests/fuzz/session.hpp"

namespace symmcts::fuzz {

// One thing that a rank may do next: zero or more calls, legal or not. Does nothing where the
// world has nothing to do it with.
using Action = void (*)(Session& session);

struct Choice {
  Action action;
  unsigned weight;
};

// By subject; each list lives in the file of its name.
std::vector<Choice> reservation_actions();
std::vector<Choice> handle_actions();
std::vector<Choice> mapping_actions();
std::vector<Choice> access_actions();
std::vector<Choice> sharing_actions();
std::vector<Choice> multicast_actions();
std::vector<Choice> binding_actions();
std::vector<Choice> context_actions();
std::vector<Choice> stream_actions();
std::vector<Choice> copy_actions();
std::vector<Choice> word_actions();
std::vector<Choice> capture_actions();
std::vector<Choice> block_actions();

// cuInit, contexts and what the machine says of itself.
void start(Session& session);
// One drawn action.
void step(Session& session);
// Gives up all that the process has, in a drawn order.
void give_up(Session& session);
// What must be true when nobody has anything: a device's memory can be had whole, and so many slots
// of the switch as there are, and no more. Precondition: give_up().
bool all_memory_is_free(Session& session, int device);
void check_slots(Session& session);
void release_contexts(Session& session);
// Descriptors and mapped memory files that this process has: what must be the same before and
// after.
std::size_t open_descriptors();
std::size_t mapped_memory_files();

// A handle of a multicast object, or of memory; null where there is none.
HandlePtr handle_of(Session& session, bool multicast);
// The driver's context becomes that of `device`.
void use(Session& session, int device);
// All work of all devices has ended.
void settle_all(Session& session);
// The bit of a stream, or of the default stream of the current device.
std::size_t bit_of(const Session& session, const Stream* stream);

}  // namespace symmcts::fuzz
