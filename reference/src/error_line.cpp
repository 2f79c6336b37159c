// Apart from the other results, because it asks the driver: what needs no driver links without it.
#include "symm_mem/result.hpp"

namespace symm_mem {

std::string Error::line() const {
  std::string line = call;
  if (code != CUDA_SUCCESS) {
    const char* name = nullptr;
    if (cuGetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown code";
    line += std::string(": ") + name + " (" + std::to_string(static_cast<int>(code)) + ")";
  }
  if (!text.empty()) line += ": " + text;
  line += " [phase " + std::string(phase_name(phase));
  if (rank >= 0) line += ", rank " + std::to_string(rank);
  return line + "]";
}

}  // namespace symm_mem
