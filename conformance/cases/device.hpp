#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>
#include <utility>

namespace symmcts::cases {

// "" for success, else "call: CUDA_ERROR_NAME": what a case says about a driver call of its own.
std::string failure_of(CUresult result, const char* call);

// Bring a case's own bytes to the device, and have them there on return: the driver may return from
// cuMemcpyHtoD and cuMemset before they have arrived, and other streams do not wait for them.
std::string upload(CUdeviceptr to, const void* from, std::size_t bytes);
std::string fill(CUdeviceptr to, unsigned char value, std::size_t bytes);
std::string download(void* to, CUdeviceptr from, std::size_t bytes);

// Owners of a case's own device resources. `make` returns "" or why it failed. When a case has to
// leave device work behind that may never end, abandon() keeps the destructors from waiting for it.
class Stream {
 public:
  Stream() = default;
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  std::string make();  // a stream that does not wait for the default one
  CUstream get() const { return stream_; }
  std::string synchronize() const;
  void abandon() { stream_ = nullptr; }

 private:
  CUstream stream_ = nullptr;
};

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  std::string make(std::size_t bytes);  // on the current device
  CUdeviceptr get() const { return address_; }
  void abandon() { address_ = 0; }

 private:
  CUdeviceptr address_ = 0;
};

class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  std::string make(std::size_t bytes);
  void* get() const { return address_; }
  void abandon() { address_ = nullptr; }

 private:
  void* address_ = nullptr;
};

}  // namespace symmcts::cases
