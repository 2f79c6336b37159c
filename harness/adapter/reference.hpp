#pragma once

#include <memory>
#include <string>

#include "harness/adapter/implementation.hpp"
#include "symm_mem/multicast.hpp"

namespace symmcts {

// The reference behind the harness's interface, under `name` and with `order` for its multicast
// steps: establish_multicast for the reference itself, another order for a defect.
std::unique_ptr<Implementation> make_reference(std::string name, symm_mem::MulticastOrder order);

}  // namespace symmcts
