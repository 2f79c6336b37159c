#include "harness/platform/process/local_machine.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace symmcts::platform {
namespace {

std::uint64_t inode_of(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

int duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

}  // namespace

LocalClient::LocalClient(LocalMachine& machine, int rank) : shared_(machine) {
  std::lock_guard lock(shared_.mutex);
  if (const auto id = shared_.model.attach(rank, 0)) id_ = *id;
  info_.rank = rank_of(id_);
  info_.gpu_count = shared_.model.gpus();
}

LocalClient::~LocalClient() {
  std::lock_guard lock(shared_.mutex);
  shared_.model.detach(id_);
}

std::unique_lock<std::mutex> LocalClient::enter(CallTime& time) {
  time.at = time.now + kCallNs;
  return std::unique_lock(shared_.mutex);
}

Code LocalClient::expected(Code code, const char* call) {
  if (code != Code::success) shared_.violations.emplace_back(call);
  return code;
}

Code LocalClient::create_memory(CallTime& time, int gpu, std::uint64_t size,
                                std::uint32_t handle_types, HandleInfo& out) {
  const auto lock = enter(time);
  return shared_.model.create_memory(id_, gpu, size, handle_types, out);
}

Code LocalClient::release(CallTime& time, std::uint64_t handle) {
  const auto lock = enter(time);
  return expected(shared_.model.release(id_, handle), "release");
}

Code LocalClient::retain(CallTime& time, std::uint64_t handle) {
  const auto lock = enter(time);
  return expected(shared_.model.retain(id_, handle), "retain");
}

Code LocalClient::export_fd(CallTime& time, std::uint64_t handle, int& fd) {
  const auto lock = enter(time);
  std::uint64_t descriptor = 0;
  const Code code = shared_.model.export_descriptor(id_, handle, descriptor);
  if (code != Code::success) return code;
  fd = memfd_create("exported", MFD_CLOEXEC);
  if (fd < 0) return Code::unknown;
  shared_.descriptors[inode_of(fd)] = descriptor;
  return Code::success;
}

Code LocalClient::export_fabric(CallTime& time, std::uint64_t handle,
                                std::array<std::uint8_t, 64>& out) {
  const auto lock = enter(time);
  return shared_.model.export_fabric(id_, handle, out);
}

Code LocalClient::import_fd(CallTime& time, int fd, HandleInfo& out) {
  const auto lock = enter(time);
  const auto known = shared_.descriptors.find(inode_of(fd));
  if (known == shared_.descriptors.end()) return Code::unknown;
  return shared_.model.import_descriptor(id_, known->second, out);
}

Code LocalClient::import_fabric(CallTime& time, const std::array<std::uint8_t, 64>& bytes,
                                HandleInfo& out) {
  const auto lock = enter(time);
  return shared_.model.import_fabric(id_, bytes, out);
}

Code LocalClient::map(CallTime& time, std::uint64_t handle, Mapped& out) {
  auto lock = enter(time);
  TeamCall call = shared_.model.map(id_, handle, time.at, out.mapping);
  while (call.waits) {
    shared_.changed.wait(lock);
    call = shared_.model.map(id_, handle, time.at, out.mapping);
  }
  time.at = call.at;
  const MachineMemory* const memory = shared_.model.memory_of_handle(handle);
  if (call.code == Code::success && memory != nullptr) out.memory_fd = duplicate(memory->fd());
  return call.code;
}

Code LocalClient::unmap(CallTime& time, std::uint64_t mapping) {
  const auto lock = enter(time);
  return expected(shared_.model.unmap(id_, mapping), "unmap");
}

Code LocalClient::memory_fd(std::uint64_t allocation, int& fd, std::uint64_t& size) {
  std::lock_guard lock(shared_.mutex);
  const MachineMemory* const memory = shared_.model.memory(allocation, size);
  if (memory == nullptr) return Code::invalid_value;
  fd = duplicate(memory->fd());
  return Code::success;
}

Code LocalClient::multicast_create(CallTime& time, std::uint32_t devices, std::uint64_t size,
                                   std::uint32_t handle_types, HandleInfo& out) {
  const auto lock = enter(time);
  return shared_.model.multicast_create(id_, devices, size, handle_types, out);
}

Code LocalClient::multicast_add_device(CallTime& time, std::uint64_t handle, int gpu) {
  const auto lock = enter(time);
  const Code code = shared_.model.multicast_add_device(id_, handle, gpu, time.now);
  shared_.changed.notify_all();
  return code;
}

Code LocalClient::multicast_bind(CallTime& time, std::uint64_t handle, std::uint64_t mc_offset,
                                 std::uint64_t allocation, std::uint64_t mem_offset,
                                 std::uint64_t size) {
  auto lock = enter(time);
  const auto ask = [&] {
    return shared_.model.multicast_bind(id_, handle, mc_offset, allocation, mem_offset, size,
                                        time.at);
  };
  TeamCall call = ask();
  while (call.waits) {
    shared_.changed.wait(lock);
    call = ask();
  }
  time.at = call.at;
  return call.code;
}

Code LocalClient::multicast_unbind(CallTime& time, std::uint64_t handle, int gpu,
                                   std::uint64_t mc_offset, std::uint64_t size) {
  const auto lock = enter(time);
  return shared_.model.multicast_unbind(id_, handle, gpu, mc_offset, size);
}

Code LocalClient::replicas(std::uint64_t object, std::vector<Replica>& out) {
  std::lock_guard lock(shared_.mutex);
  const auto* const bound = shared_.model.replicas(object);
  if (bound == nullptr) return expected(Code::invalid_value, "replicas");
  out = *bound;
  return Code::success;
}

void LocalClient::touch_words(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size) {
  std::lock_guard lock(shared_.mutex);
  std::uint64_t whole = 0;
  const MachineMemory* const memory = shared_.model.memory(allocation, whole);
  if (memory == nullptr || offset + size > whole || offset % 4 != 0 || size % 4 != 0) {
    shared_.violations.emplace_back("touch_words");
    return;
  }
  for (std::uint64_t at = offset; at < offset + size; at += 4) touched.push_back(memory->word(at));
}

void LocalClient::word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                             std::uint64_t value, Ns at) {
  std::lock_guard lock(shared_.mutex);
  words.push_back({allocation, offset, width, value, at});
}

void LocalClient::word_wait(const WordWait&) {
  std::lock_guard lock(shared_.mutex);
  shared_.violations.emplace_back("word_wait");
}

void LocalClient::before(CallTime& time, const char* function, std::uint64_t) {
  time.at = time.now;
  std::lock_guard lock(shared_.mutex);
  gates.push_back(std::string("before ") + function);
}

void LocalClient::passed(CallTime& time, const char* function, std::uint64_t) {
  time.at = time.now;
  std::lock_guard lock(shared_.mutex);
  gates.push_back(std::string("passed ") + function);
}

void LocalClient::before_import(CallTime& time, const char* function, int fd,
                                const std::array<std::uint8_t, 64>* fabric) {
  before(time, function, 0);
  std::lock_guard lock(shared_.mutex);
  if ((fd < 0) == (fabric == nullptr)) shared_.violations.emplace_back("before_import");
}

Ns LocalClock::now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

void LocalClock::advance_to(Ns at) {
  std::lock_guard lock(mutex_);
  now_ = std::max(now_, at);
}

void LocalClock::enter_blocking(const char*) {
  std::lock_guard lock(mutex_);
  ++depth_;
}

void LocalClock::leave_blocking(Ns at) {
  std::lock_guard lock(mutex_);
  --depth_;
  now_ = std::max(now_, at);
}

int LocalClock::depth() const {
  std::lock_guard lock(mutex_);
  return depth_;
}

}  // namespace symmcts::platform
