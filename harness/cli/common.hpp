#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/cli/locations.hpp"
#include "harness/cli/machine.hpp"
#include "harness/cli/profile.hpp"
#include "harness/launch/listing.hpp"
#include "harness/report/report.hpp"
#include "harness/support/result.hpp"

namespace symmcts::cli {

// What verbs use when the command line does not say.
inline constexpr char kDefaultPlatform[] = "gb200-nvl2";
inline constexpr char kDefaultProfile[] = "cpu-default";

// Unit -> file of the profile's scenarios; none on a real machine, which has no broker to hold
// anybody.
Result<std::map<std::string, std::filesystem::path>> find_scenarios(
    const CertificationProfile& profile, const Machine& machine, const Locations& at);

// The file of the scenario that the user asks for, read once by the broker: what is wrong with it
// is an Error that names file, line and column.
Result<std::filesystem::path> find_scenario(const std::string& name, const Locations& at,
                                            const launch::UnitRequest& request,
                                            const launch::Variables& host);

// Fails where a scenario of the profile is for a case that there is not: it would have no effect,
// and nobody would notice.
Status check_scenarios(const CertificationProfile& profile,
                       const std::vector<launch::UnitName>& units);

// The profile `name`, checked against the catalogue's ids.
Result<CertificationProfile> load_profile(const std::string& name, const Locations& at,
                                          const std::vector<std::string>& known_ids);

// The verdict of a verb that could not do its work for a reason of the infrastructure: a result
// with no requirement and `message` as its note, on stdout; the line on stderr. Returns exit
// code 3.
int give_up(const std::string& verb, bool json, const std::string& message);

// Writes result.json in the output folder and prints the result, as JSON or for people. Returns the
// result's exit code; 3 if result.json could not be written whole, which the result then says.
int print_result(report::Report result, const std::filesystem::path& out, bool json);

}  // namespace symmcts::cli
