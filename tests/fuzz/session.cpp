#include "tests/fuzz/session.hpp"

namespace symmcts::fuzz {

bool Session::call(const std::string& what, Expect expected,
                   const std::function<CUresult()>& make) {
  journal.begin(what);
  const CUresult code = make();
  journal.end(std::to_string(code));
  using Kind = Expect::Kind;
  const bool right =
      expected.kind == Kind::anything ||
      (expected.kind == Kind::failure ? code != CUDA_SUCCESS : code == expected.code);
  if (!right) {
    const std::string wanted = expected.kind == Kind::failure
                                   ? std::string("a failure")
                                   : std::to_string(static_cast<int>(expected.code));
    throw Finding(what + ": " + std::to_string(code) + " instead of " + wanted);
  }
  return code == CUDA_SUCCESS;
}

void Session::check(bool right, const std::string& what) {
  if (!right) throw Finding(what);
}

}  // namespace symmcts::fuzz
