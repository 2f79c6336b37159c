#pragma once

#include <memory>
#include <string>

#include "conformance/defects/defects.hpp"
#include "harness/adapter/implementation.hpp"
#include "symm_mem/multicast.hpp"

namespace symmcts {

// The reference behind the harness's interface, under `name` and with `order` for its multicast
// steps: establish_multicast for the reference itself, another order for a defect; `all_gather`:
// what a defect does instead of the reference's, or null.
std::unique_ptr<Implementation> make_reference(std::string name, symm_mem::MulticastOrder order,
                                               defects::AllGather all_gather = nullptr);

}  // namespace symmcts
