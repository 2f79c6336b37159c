#include "harness/platform/broker/machine_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace symmcts::platform {
namespace {

Error failed(const char* what) {
  return Error{std::string("machine page: ") + what + ": " + std::strerror(errno)};
}

MachinePage* map_page(int fd, int protection) {
  void* at = ::mmap(nullptr, sizeof(MachinePage), protection, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<MachinePage*>(at);
}

}  // namespace

Result<PublishedPage> PublishedPage::make() {
  UniqueFd writer(::memfd_create("symmcts-machine", MFD_CLOEXEC));
  if (!writer) return failed("memfd_create");
  if (::ftruncate(writer.get(), ::sysconf(_SC_PAGESIZE)) != 0) return failed("ftruncate");
  // A second open file description, so that what clients get is read-only.
  const std::string path = "/proc/self/fd/" + std::to_string(writer.get());
  UniqueFd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reader) return failed(path.c_str());
  MachinePage* page = map_page(writer.get(), PROT_READ | PROT_WRITE);
  if (page == nullptr) return failed("mmap");
  return PublishedPage(page, std::move(reader));
}

PublishedPage::PublishedPage(PublishedPage&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)), reader_(std::move(other.reader_)) {}

PublishedPage::~PublishedPage() {
  if (page_ != nullptr) ::munmap(page_, sizeof(MachinePage));
}

void PublishedPage::set_generation(std::uint64_t value) {
  std::atomic_ref(page_->generation).store(value);
}

void PublishedPage::set_unmanaged(std::uint64_t value) {
  std::atomic_ref(page_->unmanaged).store(value);
}

Result<SeenPage> SeenPage::open(UniqueFd fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || status.st_size < static_cast<off_t>(sizeof(MachinePage))) {
    return Error{"machine page: the broker sent none"};
  }
  MachinePage* page = map_page(fd.get(), PROT_READ);
  if (page == nullptr) return failed("mmap");
  return SeenPage(page);
}

SeenPage::SeenPage(SeenPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

SeenPage::~SeenPage() {
  if (page_ != nullptr) ::munmap(page_, sizeof(MachinePage));
}

// Loads only: the mapping cannot be written.
std::uint64_t SeenPage::generation() const { return std::atomic_ref(page_->generation).load(); }
std::uint64_t SeenPage::unmanaged() const { return std::atomic_ref(page_->unmanaged).load(); }

}  // namespace symmcts::platform
