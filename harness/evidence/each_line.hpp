#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evidence/json_fields.hpp"
#include "harness/support/result.hpp"

namespace symmcts::evidence {

using LineReader =
    std::function<void(const std::string& type, JsonFields& fields, std::size_t line)>;

// Parses JSON Lines and calls `reader` for each line, numbered from 1, with its `type`. An error,
// `path:line: what`, for a line that is no object, has no type, or that the reader found wrong. A
// last line without its line end that does not parse was cut off: `notes` says so.
Status for_each_line(const std::string& path, std::string_view text,
                     std::vector<std::string>& notes, const LineReader& reader);

}  // namespace symmcts::evidence
