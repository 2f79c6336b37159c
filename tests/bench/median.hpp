#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace symmcts::bench {

// The upper one of the two in the middle. Precondition: not empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Microseconds of wall time that `work` takes.
template <typename Work>
double microseconds(const Work& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::micro> past = std::chrono::steady_clock::now() - begun;
  return past.count();
}

}  // namespace symmcts::bench
