#pragma once

#include <cuda.h>

#include <memory>

#include "conformance/cases/environment.hpp"
#include "conformance/cases/options.hpp"
#include "conformance/cases/platform_hooks.hpp"
#include "harness/permit/permit.hpp"
#include "harness/support/result.hpp"
#include "symm_mem/exchange.hpp"
#include "symm_mem/exchange_mpi.hpp"

namespace symmcts::cases {

// What a rank has around a case: the other ranks, and a device with its primary context.
class Session {
 public:
  Session() = default;
  // Closes nothing: call finish(). A rank that leaves in an error must not wait for others.
  ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // In this order: refuses a driver that is not the one that was asked for, before cuInit; opens
  // the exchange; initializes the driver; makes the context current. Collective where MPI is used.
  Status start(const Options& options, const Environment& environment);

  // Releases the context, if the device is idle, and leaves the exchange. Collective where MPI is
  // used. Precondition: nothing uses the exchange any more.
  Status finish(bool device_is_idle);

  symm_mem::Exchange& exchange() { return *exchange_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }
  const Permit& permit() const { return permit_; }

 private:
  Status open_exchange(const Options& options, const Environment& environment);
  Status open_device(const Options& options);

  PlatformHooks hooks_;
  std::unique_ptr<symm_mem::Exchange> exchange_;
  symm_mem::MpiJob job_;
  Permit permit_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

}  // namespace symmcts::cases
