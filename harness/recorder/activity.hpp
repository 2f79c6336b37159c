#pragma once

#include <cupti.h>

#include <optional>
#include <string>

namespace symmcts::recorder {

// The evidence line of an activity record, or nothing for a kind that evidence does not hold. The
// record is one of CUPTI 13: CUpti_ActivityMemcpy6, CUpti_ActivityMemcpyPtoP4 (a peer copy, also
// where only MEMCPY is enabled: measured) or CUpti_ActivityMemset4.
std::optional<std::string> activity_line(const CUpti_Activity& record);

// True if the record is one of a copy.
bool is_copy(const CUpti_Activity& record);

}  // namespace symmcts::recorder
