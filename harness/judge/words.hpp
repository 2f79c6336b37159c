#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symmcts::judge {

// "rank 0", "ranks 0, 4 and 64"; long lists are cut after 16 with the count of the rest.
std::string ranks_text(const std::vector<int>& ranks);
// "64 MiB", "50 KiB", "4 B"; exact where it divides, else bytes.
std::string bytes_text(std::int64_t bytes);
// "2.97 us", "4.93 ms".
std::string time_text(std::int64_t nanoseconds);
// "1 operation", "5 operations".
std::string count_text(std::int64_t count, std::string_view noun);
std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace symmcts::judge
