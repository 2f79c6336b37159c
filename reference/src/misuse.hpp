#pragma once

#include <string>
#include <utility>

#include "symm_mem/result.hpp"

namespace symm_mem {

// An operation that was asked for what it cannot do; nothing was enqueued.
inline Error misuse(const char* call, std::string text) {
  return {.call = call, .phase = Phase::use, .text = std::move(text)};
}

}  // namespace symm_mem
