#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace symmcts::platform {

// The bytes of one physical allocation, as this process reaches them for copies. The memory file is
// mapped at first use, at an address of the kernel's choice that has nothing to do with any device
// address. Thread safe.
class MemoryFile {
 public:
  // Takes over `fd`.
  MemoryFile(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // The first byte, or null where the kernel refuses to map the file. Valid as long as this object.
  std::byte* bytes();
  std::uint64_t size() const { return size_; }

 private:
  std::once_flag mapped_;
  int fd_;
  std::uint64_t size_;
  std::byte* bytes_ = nullptr;
};

// Finds the MemoryFile of an allocation that is in use already, so that all mappings of it share
// one view, and overlapping copies between two of them see each other's bytes in order. Holds none
// of them alive: the pages of freed memory go back to the system. Thread safe.
class MemoryFiles {
 public:
  // The file of `allocation`, or null where it is not in use.
  std::shared_ptr<MemoryFile> find(std::uint64_t allocation);
  // Takes over `fd`, and closes it where the allocation is in use already.
  std::shared_ptr<MemoryFile> adopt(std::uint64_t allocation, int fd, std::uint64_t size);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<MemoryFile>> files_;
};

}  // namespace symmcts::platform
