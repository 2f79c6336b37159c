#include "conformance/cases/device.hpp"

namespace symmcts::cases {

std::string failure_of(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return "";
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return std::string(call) + ": CUresult " + std::to_string(result);
  }
  return std::string(call) + ": " + name;
}

std::string upload(CUdeviceptr to, const void* from, std::size_t bytes) {
  const std::string failure = failure_of(cuMemcpyHtoD(to, from, bytes), "cuMemcpyHtoD");
  if (!failure.empty()) return failure;
  return failure_of(cuStreamSynchronize(nullptr), "cuStreamSynchronize");
}

std::string fill(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  const std::string failure = failure_of(cuMemsetD8(to, value, bytes), "cuMemsetD8");
  if (!failure.empty()) return failure;
  return failure_of(cuStreamSynchronize(nullptr), "cuStreamSynchronize");
}

std::string download(void* to, CUdeviceptr from, std::size_t bytes) {
  return failure_of(cuMemcpyDtoH(to, from, bytes), "cuMemcpyDtoH");
}

Stream::~Stream() {
  if (stream_ != nullptr) cuStreamDestroy(stream_);
}

std::string Stream::make() {
  return failure_of(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

std::string Stream::synchronize() const {
  return failure_of(cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) cuMemFree(address_);
}

std::string DeviceBuffer::make(std::size_t bytes) {
  return failure_of(cuMemAlloc(&address_, bytes), "cuMemAlloc");
}

PinnedBuffer::~PinnedBuffer() {
  if (address_ != nullptr) cuMemFreeHost(address_);
}

std::string PinnedBuffer::make(std::size_t bytes) {
  return failure_of(cuMemHostAlloc(&address_, bytes, 0), "cuMemHostAlloc");
}

}  // namespace symmcts::cases
