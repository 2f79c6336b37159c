#pragma once

#include <cuda.h>

#include "symm_mem/agreement.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// A stream for a few pieces of work of the library's own: the default stream would wait for, and
// hold up, the caller's work. The device's context is current from open() to the end.
class OwnStream {
 public:
  explicit OwnStream(Phase phase) : phase_(phase) {}
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream();

  Status open();
  CUstream get() const { return stream_; }
  // Blocks until the work so far has ended, at most the group's deadline; then an Error.
  Status finish(Agreement& agreement);

 private:
  Phase phase_;
  CUstream stream_ = nullptr;
};

}  // namespace symm_mem
