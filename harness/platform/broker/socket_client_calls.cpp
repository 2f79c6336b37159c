// SocketClient: the calls, one message each.
#include <fcntl.h>

#include <algorithm>

#include "harness/platform/broker/socket_client.hpp"

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kWord = 4;  // bytes

}  // namespace

Code SocketClient::ask_for_handle(CallTime& time, Op op, const WireWriter& fields, HandleInfo& out,
                                  int fd) {
  const Reply reply = ask(time, op, fields, fd);
  if (reply.code == Code::success) out = WireReader(reply.fields).take<HandleInfo>();
  return reply.code;
}

Code SocketClient::create_memory(CallTime& time, int gpu, std::uint64_t size,
                                 std::uint32_t handle_types, HandleInfo& out) {
  WireWriter fields;
  fields.put(std::int32_t{gpu}).put(size).put(handle_types);
  return ask_for_handle(time, Op::create_memory, fields, out);
}

Code SocketClient::release(CallTime& time, std::uint64_t handle) {
  return ask(time, Op::release, WireWriter().put(handle)).code;
}

Code SocketClient::retain(CallTime& time, std::uint64_t handle) {
  return ask(time, Op::retain, WireWriter().put(handle)).code;
}

Code SocketClient::export_fd(CallTime& time, std::uint64_t handle, int& fd) {
  Reply reply = ask(time, Op::export_fd, WireWriter().put(handle));
  if (reply.code == Code::success) fd = reply.fd.release();
  return reply.code;
}

Code SocketClient::export_fabric(CallTime& time, std::uint64_t handle,
                                 std::array<std::uint8_t, 64>& out) {
  const Reply reply = ask(time, Op::export_fabric, WireWriter().put(handle));
  if (reply.code == Code::success) {
    out = WireReader(reply.fields).take<std::array<std::uint8_t, 64>>();
  }
  return reply.code;
}

Code SocketClient::import_fd(CallTime& time, int fd, HandleInfo& out) {
  time.at = time.now;
  // Measured: a number that is no open descriptor gives UNKNOWN, and so does one that is not ours.
  if (::fcntl(fd, F_GETFD) < 0) return Code::unknown;
  return ask_for_handle(time, Op::import_fd, {}, out, fd);
}

Code SocketClient::import_fabric(CallTime& time, const std::array<std::uint8_t, 64>& bytes,
                                 HandleInfo& out) {
  return ask_for_handle(time, Op::import_fabric, WireWriter().put(bytes), out);
}

Code SocketClient::map(CallTime& time, std::uint64_t handle, Mapped& out) {
  Reply reply = ask(time, Op::map, WireWriter().put(handle));
  if (reply.code != Code::success) return reply.code;
  out.mapping = WireReader(reply.fields).take<std::uint64_t>();
  out.memory_fd = reply.fd.release();
  return reply.code;
}

Code SocketClient::unmap(CallTime& time, std::uint64_t mapping) {
  return ask(time, Op::unmap, WireWriter().put(mapping)).code;
}

Code SocketClient::memory_fd(std::uint64_t allocation, int& fd, std::uint64_t& size) {
  Reply reply = ask(Op::memory_fd, WireWriter().put(allocation));
  if (reply.code != Code::success) return reply.code;
  size = WireReader(reply.fields).take<std::uint64_t>();
  fd = reply.fd.release();
  return reply.code;
}

Code SocketClient::multicast_create(CallTime& time, std::uint32_t devices, std::uint64_t size,
                                    std::uint32_t handle_types, HandleInfo& out) {
  WireWriter fields;
  fields.put(devices).put(size).put(handle_types);
  return ask_for_handle(time, Op::multicast_create, fields, out);
}

Code SocketClient::multicast_add_device(CallTime& time, std::uint64_t handle, int gpu) {
  WireWriter fields;
  fields.put(handle).put(std::int32_t{gpu});
  return ask(time, Op::multicast_add_device, fields).code;
}

Code SocketClient::multicast_bind(CallTime& time, std::uint64_t handle, std::uint64_t mc_offset,
                                  std::uint64_t allocation, std::uint64_t mem_offset,
                                  std::uint64_t size) {
  WireWriter fields;
  fields.put(handle).put(mc_offset).put(allocation).put(mem_offset).put(size);
  return ask(time, Op::multicast_bind, fields).code;
}

Code SocketClient::multicast_unbind(CallTime& time, std::uint64_t handle, int gpu,
                                    std::uint64_t mc_offset, std::uint64_t size) {
  WireWriter fields;
  fields.put(handle).put(std::int32_t{gpu}).put(mc_offset).put(size);
  return ask(time, Op::multicast_unbind, fields).code;
}

Code SocketClient::replicas(std::uint64_t object, std::vector<Replica>& out) {
  std::lock_guard lock(cache_mutex_);
  Binding& known = bindings_[object];
  if (known.generation != page_.generation()) {
    if (const Code code = fetch_replicas(object, known); code != Code::success) {
      bindings_.erase(object);
      return code;
    }
  }
  out = known.ranges;
  return Code::success;
}

Code SocketClient::fetch_replicas(std::uint64_t object, Binding& out) {
  out = {};
  std::uint64_t total = 0;
  do {
    WireWriter fields;
    fields.put(object).put(std::uint64_t{out.ranges.size()});
    const Reply reply = ask(Op::replicas, fields);
    if (reply.code != Code::success) return reply.code;
    WireReader in(reply.fields);
    const auto generation = in.take<std::uint64_t>();
    // Something was bound between two packets: begin again.
    const bool mixed = !out.ranges.empty() && generation != out.generation;
    if (mixed) out.ranges.clear();
    out.generation = generation;
    total = in.take<std::uint64_t>();
    if (mixed) continue;
    const std::uint64_t here = std::min(kReplicasAPacket, total - out.ranges.size());
    for (std::uint64_t i = 0; i < here; ++i) out.ranges.push_back(in.take<Replica>());
    if (!in.done()) return Code::unknown;
  } while (out.ranges.size() < total);
  return Code::success;
}

void SocketClient::touch_words(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size) {
  bool fresh = false;
  {
    std::lock_guard lock(cache_mutex_);
    for (std::uint64_t at = offset - offset % kWord; at < offset + size; at += kWord) {
      bool& opened = words_[{allocation, at}];
      fresh = fresh || !opened;
      opened = true;
    }
  }
  if (fresh) ask(Op::touch_words, WireWriter().put(allocation).put(offset).put(size));
}

std::vector<std::uint64_t> SocketClient::open_words(std::uint64_t allocation, std::uint64_t offset,
                                                    std::uint64_t size) {
  std::lock_guard lock(cache_mutex_);
  std::vector<std::uint64_t> offsets;
  const auto end = words_.lower_bound({allocation, offset + size});
  for (auto it = words_.lower_bound({allocation, offset - offset % kWord}); it != end; ++it) {
    offsets.push_back(it->first.second);
  }
  return offsets;
}

void SocketClient::word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t width,
                              std::uint64_t value, Ns at) {
  touch_words(allocation, offset, width);
  tell(Op::word_write, WireWriter().put(allocation).put(offset).put(width).put(value).put(at));
}

void SocketClient::word_wait(const WordWait& wait) {
  {
    // The broker opens them when the message arrives: known, but not yet opened.
    std::lock_guard lock(cache_mutex_);
    for (std::uint64_t i = 0; i < wait.width; i += kWord) {
      words_.try_emplace({wait.allocation, wait.offset + i}, false);
    }
  }
  WireWriter fields;
  fields.put(wait.id).put(wait.allocation).put(wait.offset).put(wait.width);
  fields.put(static_cast<std::uint8_t>(wait.test)).put(wait.value).put(wait.ready);
  tell(Op::word_wait, fields);
}

void SocketClient::message_out(int to) {
  tell(Op::message_out, WireWriter().put(std::int32_t{to}));
}
void SocketClient::message_in(std::uint64_t count) {
  tell(Op::message_in, WireWriter().put(count));
}
void SocketClient::report_running() { tell(Op::running, {}); }

void SocketClient::before(CallTime& time, const char* function, std::uint64_t handle) {
  time.at = time.now;
  if (!has_holds_) return;
  WireWriter fields;
  fields.put(handle).put_text(function);
  ask(time, Op::before, fields);
}

void SocketClient::before_import(CallTime& time, const char* function, int fd,
                                 const std::array<std::uint8_t, 64>* fabric) {
  time.at = time.now;
  if (!has_holds_) return;
  WireWriter fields;
  fields.put(std::uint8_t{fabric != nullptr});
  fields.put(fabric != nullptr ? *fabric : std::array<std::uint8_t, 64>{}).put_text(function);
  const bool travels = fabric == nullptr && ::fcntl(fd, F_GETFD) >= 0;
  ask(time, Op::before_import, fields, travels ? fd : -1);
}

void SocketClient::befallen(const RankFault& fault, std::uint64_t number, Ns now) {
  ask(Op::befallen, WireWriter().put(number).put_text(fault.entry), -1, now);
}

void SocketClient::passed(CallTime& time, const char* function, std::uint64_t handle) {
  if (!has_holds_) return;
  WireWriter fields;
  fields.put(handle).put_text(function);
  tell(Op::passed, fields, std::max(time.now, time.at));
}

}  // namespace symmcts::platform
