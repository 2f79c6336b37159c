#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/link.hpp"
#include "tests/fuzz/session.hpp"

namespace symmcts::fuzz {

// Something that two ranks do together, drawn from `episode`, which both have: memory or a
// multicast object that one makes and both use. Returns early where the peer dies; what is left
// then is in the session's world.
void meet_peer(Session& session, Link& link, int rank, std::uint64_t episode);

// Makes a call that can never return, and says before, in `where`, under which name the platform
// must report it. Precondition: a managed machine with one rank.
[[noreturn]] void stand_still(Session& session, char* where, std::size_t size);

}  // namespace symmcts::fuzz
