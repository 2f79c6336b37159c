#pragma once

#include <cuda.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/driver.hpp"
#include "tests/fuzz/journal.hpp"
#include "tests/fuzz/world.hpp"

namespace symmcts::fuzz {

// The platform did something else than it should. Ends the rank.
struct Finding : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a call may answer.
struct Expect {
  enum class Kind { code, failure, anything };
  Kind kind = Kind::code;
  CUresult code = CUDA_SUCCESS;

  static Expect success() { return {}; }
  static Expect exactly(CUresult code) { return {Kind::code, code}; }
  static Expect invalid() { return exactly(CUDA_ERROR_INVALID_VALUE); }  // the most usual one
  static Expect failure() { return {Kind::failure, CUDA_SUCCESS}; }      // which one is not settled
  static Expect anything() { return {Kind::anything, CUDA_SUCCESS}; }
};

// One rank of the fuzzer: its driver, its numbers, what it did and what should be true.
class Session {
 public:
  Session(const Driver& driver, Draw draw, Journal& journal)
      : cu(driver), draw(draw), journal(journal) {}

  // Makes a call, writes it down and holds its answer against what is expected: true if it was
  // SUCCESS. Throws Finding where it may not be.
  bool call(const std::string& what, Expect expected, const std::function<CUresult()>& make);
  // For what is no result code.
  void check(bool right, const std::string& what);

  const Driver& cu;
  Draw draw;
  Journal& journal;
  World world;
};

}  // namespace symmcts::fuzz
