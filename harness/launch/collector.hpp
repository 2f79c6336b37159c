#pragma once

#include "harness/launch/environment.hpp"
#include "harness/launch/machine_log.hpp"
#include "harness/launch/request.hpp"
#include "harness/launch/run_directory.hpp"
#include "harness/launch/unit_result.hpp"
#include "harness/support/result.hpp"

namespace symmcts::launch {

// The folder name of a unit: its name without slashes (those of parameterized cases).
std::string folder_of(const std::string& unit);

// Brings what a unit left in its run directory into the output folder: the ranks' evidence in
// canonical order and machine.jsonl under evidence/<unit>/, output of the programs and everything
// that differs from run to run under host/<unit>/. Precondition: no process of the unit lives.
// Turns the result into an error if evidence that should be whole is not.
Status collect(const UnitRequest& request, const RunDirectory& directory,
               const ChildEnvironment& environment, const Hang* hang, UnitResult& result);

}  // namespace symmcts::launch
