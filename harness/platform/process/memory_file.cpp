#include "harness/platform/process/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace symmcts::platform {

MemoryFile::~MemoryFile() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
  if (fd_ >= 0) close(fd_);
}

std::byte* MemoryFile::bytes() {
  std::call_once(mapped_, [this] {
    void* const got = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (got == MAP_FAILED) return;
    bytes_ = static_cast<std::byte*>(got);
    close(fd_);  // the mapping keeps the file
    fd_ = -1;
  });
  return bytes_;
}

std::shared_ptr<MemoryFile> MemoryFiles::find(std::uint64_t allocation) {
  std::lock_guard lock(mutex_);
  const auto known = files_.find(allocation);
  return known == files_.end() ? nullptr : known->second.lock();
}

std::shared_ptr<MemoryFile> MemoryFiles::adopt(std::uint64_t allocation, int fd,
                                               std::uint64_t size) {
  std::lock_guard lock(mutex_);
  std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
  auto& entry = files_[allocation];
  if (auto known = entry.lock()) {
    close(fd);
    return known;
  }
  auto file = std::make_shared<MemoryFile>(fd, size);
  entry = file;
  return file;
}

}  // namespace symmcts::platform
