#pragma once

#include <vector>

namespace symmcts::platform {

// Leaves the process that started this one: a session of its own, no parent that would have to wait
// for it, no descriptor of the caller's but standard error and `keep` (negative entries are none).
// In the starting process the call does not return: it exits 0. False if the system refuses.
bool detach_from_caller(std::vector<int> keep);

}  // namespace symmcts::platform
