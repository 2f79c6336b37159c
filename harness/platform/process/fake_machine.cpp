#include "harness/platform/process/fake_machine.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace symmcts::platform {
namespace {

std::uint64_t inode_of(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

}  // namespace

FakeMachine::~FakeMachine() {
  for (auto& [id, object] : objects) {
    if (object.file >= 0) close(object.file);
  }
}

FakeObject* FakeClient::object_of(std::uint64_t handle, const char* function) {
  const auto known = handles.find(handle);
  if (known == handles.end()) {
    shared_.broken_rules.push_back(std::string(function) + " of an unknown handle");
    return nullptr;
  }
  return &shared_.objects.at(known->second.first);
}

Code FakeClient::hand_out(std::uint64_t id, bool native, HandleInfo& out) {
  const FakeObject& object = shared_.objects.at(id);
  out.handle = shared_.next++;
  out.object = id;
  out.kind = object.kind;
  out.native = native;
  out.size = object.size;
  out.gpu = object.gpu;
  out.handle_types = native ? object.types : 0;
  handles[out.handle] = {id, 1};
  return Code::success;
}

Code FakeClient::create_memory(CallTime& time, int gpu, std::uint64_t size,
                               std::uint32_t handle_types, HandleInfo& out) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  FakeObject object;
  object.size = size;
  object.types = handle_types;
  object.gpu = gpu;
  object.file = memfd_create("fake-memory", MFD_CLOEXEC);
  if (object.file < 0 || ftruncate(object.file, static_cast<off_t>(size)) != 0)
    return Code::out_of_memory;
  object.inode = inode_of(object.file);
  const std::uint64_t id = shared_.next++;
  shared_.objects[id] = object;
  return hand_out(id, true, out);
}

Code FakeClient::release(CallTime& time, std::uint64_t handle) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  if (object_of(handle, "release") == nullptr) return Code::invalid_value;
  auto& references = handles.at(handle).second;
  if (references == 0) {
    shared_.broken_rules.push_back("release without a reference");
    return Code::invalid_value;
  }
  --references;
  return Code::success;
}

Code FakeClient::retain(CallTime& time, std::uint64_t handle) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  if (object_of(handle, "retain") == nullptr) return Code::invalid_value;
  ++handles.at(handle).second;
  return Code::success;
}

Code FakeClient::export_fd(CallTime& time, std::uint64_t handle, int& fd) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  FakeObject* const object = object_of(handle, "export_fd");
  if (object == nullptr) return Code::invalid_value;
  fd = object->file >= 0 ? fcntl(object->file, F_DUPFD_CLOEXEC, 0)
                         : memfd_create("fake-export", MFD_CLOEXEC);
  object->inode = inode_of(fd);
  return fd < 0 ? Code::unknown : Code::success;
}

Code FakeClient::export_fabric(CallTime& time, std::uint64_t handle,
                               std::array<std::uint8_t, 64>& out) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  if (object_of(handle, "export_fabric") == nullptr) return Code::invalid_value;
  out.fill(0xfa);
  std::memcpy(out.data(), &handles.at(handle).first, sizeof(std::uint64_t));
  return Code::success;
}

Code FakeClient::import_fd(CallTime& time, int fd, HandleInfo& out) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  const std::uint64_t inode = inode_of(fd);
  for (const auto& [id, object] : shared_.objects) {
    if (object.inode == inode && inode != 0) return hand_out(id, false, out);
  }
  return Code::invalid_value;
}

Code FakeClient::import_fabric(CallTime& time, const std::array<std::uint8_t, 64>& bytes,
                               HandleInfo& out) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  std::uint64_t id = 0;
  std::memcpy(&id, bytes.data(), sizeof id);
  if (!shared_.objects.contains(id)) return Code::invalid_value;
  return hand_out(id, false, out);
}

Code FakeClient::map(CallTime& time, std::uint64_t handle, Mapped& out) {
  time.at = time.now + call_ns;
  std::unique_lock lock(shared_.mutex);
  FakeObject* const object = object_of(handle, "map");
  if (object == nullptr) return Code::invalid_value;
  if (object->kind == ObjectKind::multicast) {
    shared_.changed.wait(lock, [&] { return object->team.size() >= object->devices; });
  } else {
    out.memory_fd = fcntl(object->file, F_DUPFD_CLOEXEC, 0);
  }
  out.mapping = shared_.next++;
  mappings[out.mapping] = handle;
  return Code::success;
}

Code FakeClient::unmap(CallTime& time, std::uint64_t mapping) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  if (mappings.erase(mapping) == 0) {
    shared_.broken_rules.push_back("unmap of an unknown mapping");
    return Code::invalid_value;
  }
  return Code::success;
}

Code FakeClient::memory_fd(std::uint64_t allocation, int& fd, std::uint64_t& size) {
  std::lock_guard lock(shared_.mutex);
  const auto object = shared_.objects.find(allocation);
  if (object == shared_.objects.end()) return Code::invalid_value;
  fd = fcntl(object->second.file, F_DUPFD_CLOEXEC, 0);
  size = object->second.size;
  return Code::success;
}

Code FakeClient::multicast_create(CallTime& time, std::uint32_t devices, std::uint64_t size,
                                  std::uint32_t handle_types, HandleInfo& out) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  FakeObject object;
  object.kind = ObjectKind::multicast;
  object.size = size;
  object.types = handle_types;
  object.devices = devices;
  const std::uint64_t id = shared_.next++;
  shared_.objects[id] = object;
  return hand_out(id, true, out);
}

Code FakeClient::multicast_add_device(CallTime& time, std::uint64_t handle, int gpu) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  FakeObject* const object = object_of(handle, "add_device");
  if (object == nullptr) return Code::invalid_value;
  object->team.push_back(gpu);
  shared_.changed.notify_all();
  return Code::success;
}

Code FakeClient::multicast_bind(CallTime& time, std::uint64_t handle, std::uint64_t mc_offset,
                                std::uint64_t allocation, std::uint64_t mem_offset,
                                std::uint64_t size) {
  time.at = time.now + call_ns;
  std::unique_lock lock(shared_.mutex);
  FakeObject* const object = object_of(handle, "bind");
  if (object == nullptr) return Code::invalid_value;
  shared_.changed.wait(lock, [&] { return object->team.size() >= object->devices; });
  object->bound.push_back(
      {shared_.objects.at(allocation).gpu, mc_offset, allocation, mem_offset, size});
  return Code::success;
}

Code FakeClient::multicast_unbind(CallTime& time, std::uint64_t handle, int gpu,
                                  std::uint64_t mc_offset, std::uint64_t size) {
  time.at = time.now + call_ns;
  std::lock_guard lock(shared_.mutex);
  FakeObject* const object = object_of(handle, "unbind");
  if (object == nullptr) return Code::invalid_value;
  const auto same = [&](const Replica& one) {
    return one.gpu == gpu && one.mc_offset == mc_offset && one.size == size;
  };
  return std::erase_if(object->bound, same) == 0 ? Code::invalid_value : Code::success;
}

Code FakeClient::replicas(std::uint64_t object, std::vector<Replica>& out) {
  std::lock_guard lock(shared_.mutex);
  out = shared_.objects.at(object).bound;
  return Code::success;
}

void FakeClient::touch_words(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size) {
  std::lock_guard lock(shared_.mutex);
  for (std::uint64_t at = offset; at < offset + size; at += 4) {
    std::uint32_t value = 0;
    const int file = shared_.objects.at(allocation).file;
    if (pread(file, &value, sizeof value, static_cast<off_t>(at)) != sizeof value)
      shared_.broken_rules.push_back("touch_words beyond the memory");
    touched.push_back(value);
  }
}

void FakeClient::word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                            std::uint64_t value, Ns at) {
  std::lock_guard lock(shared_.mutex);
  words.push_back({allocation, offset, width, value, at});
}

void FakeClient::before(CallTime& time, const char* function, std::uint64_t) {
  time.at = time.now;
  std::lock_guard lock(shared_.mutex);
  gates.push_back(std::string("before ") + function);
}

void FakeClient::passed(CallTime& time, const char* function, std::uint64_t) {
  time.at = time.now;
  std::lock_guard lock(shared_.mutex);
  gates.push_back(std::string("passed ") + function);
}

void FakeClient::before_import(CallTime& time, const char* function, int fd,
                               const std::array<std::uint8_t, 64>* fabric) {
  before(time, function, 0);
  std::lock_guard lock(shared_.mutex);
  if ((fd < 0) == (fabric == nullptr)) shared_.broken_rules.push_back("an import of what?");
}

Ns FakeClock::now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

void FakeClock::advance_to(Ns at) {
  std::lock_guard lock(mutex_);
  now_ = std::max(now_, at);
}

void FakeClock::enter_blocking(const char*) {
  std::lock_guard lock(mutex_);
  ++depth_;
}

void FakeClock::leave_blocking(Ns at) {
  std::lock_guard lock(mutex_);
  --depth_;
  now_ = std::max(now_, at);
}

int FakeClock::depth() const {
  std::lock_guard lock(mutex_);
  return depth_;
}

}  // namespace symmcts::platform
