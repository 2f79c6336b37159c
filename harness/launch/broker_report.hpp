#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace symmcts::launch {

// Calls `each` for every line of the broker's report that is a record, with the line as it stands,
// in its order. Whole lines only: the broker may be writing one. A file that is not there has none.
void each_record(
    const std::filesystem::path& report,
    const std::function<void(const std::string& line, const nlohmann::ordered_json& record)>& each);

}  // namespace symmcts::launch
