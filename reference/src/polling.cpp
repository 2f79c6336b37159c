#include "polling.hpp"

#include <algorithm>

namespace symm_mem {

CUresult poll(Agreement& agreement, std::chrono::nanoseconds deadline,
              const std::function<CUresult()>& query) {
  constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(10);
  std::chrono::nanoseconds waited(0);
  while (true) {
    const CUresult code = query();
    if (code != CUDA_ERROR_NOT_READY || waited >= deadline) return code;
    const std::chrono::nanoseconds turn = std::max(kShortest, waited / 8);
    agreement.pause(turn);
    waited += turn;
  }
}

}  // namespace symm_mem
