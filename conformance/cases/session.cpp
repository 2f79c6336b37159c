#include "conformance/cases/session.hpp"

#include <string>

#include "conformance/cases/device.hpp"
#include "symm_mem/exchange_unix.hpp"

namespace symmcts::cases {

Status Session::start(const Options& options, const Environment& environment) {
  const LoadedDriver driver = loaded_driver();
  const PermitEnvironment permit = read_permit_environment();
  if (Status expected = check_expected_driver(driver, permit); !expected) return expected;
  permit_ = decide_permit(driver.kind, permit);
  if (Status opened = open_exchange(options, environment); !opened) return opened;
  hooks_.managed();
  exchange_->set_observer(&hooks_);
  return open_device(options);
}

Status Session::open_exchange(const Options& options, const Environment& environment) {
  if (options.mpi) {
#ifdef SYMMCTS_HAVE_MPI
    auto started = symm_mem::start_mpi();
    if (!started) return Error{started.error().line()};
    job_ = started.take();
    auto opened = symm_mem::open_mpi_exchange(environment.run_directory);
    if (!opened) return Error{opened.error().line()};
    exchange_ = opened.take();
    return {};
#else
    return Error{"--exchange mpi: built without MPI"};
#endif
  }
  if (environment.rank < 0 || environment.size <= environment.rank) {
    return Error{"SYMMCTS_RANK and SYMMCTS_SIZE do not name a rank of a job"};
  }
  if (environment.run_directory.empty()) return Error{"SYMMCTS_RUN_DIR is not set"};
  auto opened =
      symm_mem::open_unix_exchange(environment.run_directory, environment.rank, environment.size);
  if (!opened) return Error{opened.error().line()};
  exchange_ = opened.take();
  return {};
}

Status Session::open_device(const Options& options) {
  int count = 0;
  std::string failure = failure_of(cuInit(0), "cuInit");
  if (failure.empty()) failure = failure_of(cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (!failure.empty()) return Error{failure};
  if (count < 1) return Error{"the driver shows no device"};
  if (options.one_visible_gpu && count != 1) {
    return Error{"--one-visible-gpu, but the driver shows " + std::to_string(count) + " devices"};
  }
  // Ranks fill a host's devices in order, from the root's on, as the supervisor seats them.
  const int ordinal = (exchange_->rank() + options.root_ordinal) % count;
  failure = failure_of(cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  if (failure.empty()) {
    failure = failure_of(cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  }
  if (failure.empty()) failure = failure_of(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  if (!failure.empty()) return Error{failure};
  return {};
}

Status Session::finish(bool device_is_idle) {
  std::string failure;
  if (device_is_idle) {
    failure = failure_of(cuDevicePrimaryCtxRelease(device_), "cuDevicePrimaryCtxRelease");
  }
  exchange_->set_observer(nullptr);
  exchange_.reset();
#ifdef SYMMCTS_HAVE_MPI
  if (symm_mem::Status finished = symm_mem::finish_mpi(job_); !finished) {
    return Error{finished.error().line()};
  }
#endif
  if (!failure.empty()) return Error{failure};
  return {};
}

}  // namespace symmcts::cases
