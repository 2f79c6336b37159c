#include "harness/platform/broker/socket_client.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace symmcts::platform {

SocketClient::SocketClient(UniqueFd socket, MachineInfo machine, bool has_holds, bool managed,
                           SeenPage page)
    : socket_(std::move(socket)),
      machine_(std::move(machine)),
      has_holds_(has_holds),
      page_(std::move(page)),
      process_(::getpid()),
      managed_(managed) {
  // The application's signals are none of this thread's business.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  reader_ = std::thread([this] { read_packets(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SocketClient::~SocketClient() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  reader_.join();
}

bool SocketClient::send(Op op, std::uint32_t request, Ns now, const WireWriter& fields, int fd) {
  WireWriter packet;
  packet.put(op).put(request).put(now);
  Bytes bytes = packet.bytes();
  bytes.insert(bytes.end(), fields.bytes().begin(), fields.bytes().end());
  std::lock_guard lock(send_mutex_);
  return send_packet(socket_.get(), bytes, fd, true) == IoResult::done;
}

SocketClient::Reply SocketClient::ask(Op op, const WireWriter& fields, int fd, Ns now) {
  Reply reply;
  if (::getpid() != process_) {
    reply.code = Code::not_initialized;
    return reply;
  }
  std::unique_lock lock(mutex_);
  if (gone_) return reply;
  const std::uint32_t request = next_request_++;
  if (next_request_ == 0) next_request_ = 1;
  waiting_[request] = &reply;
  lock.unlock();
  const bool sent = send(op, request, now, fields, fd);
  lock.lock();
  // What could not be sent is never answered; a broker that has gone answers all that waits.
  if (sent) replied_.wait(lock, [&] { return reply.done; });
  waiting_.erase(request);
  return reply;
}

SocketClient::Reply SocketClient::ask(CallTime& time, Op op, const WireWriter& fields, int fd) {
  Reply reply = ask(op, fields, fd, time.now);
  time.at = std::max(time.now, reply.at);
  return reply;
}

void SocketClient::tell(Op op, const WireWriter& fields, Ns now) {
  if (::getpid() == process_) send(op, 0, now, fields, -1);
}

void SocketClient::read_packets() {
  Packet packet;
  while (receive_packet(socket_.get(), packet, true) == IoResult::done) {
    WireReader in(packet.bytes);
    if (in.take<ToClient>() == ToClient::reply) {
      take_reply(in, std::move(packet.fd), packet.bytes);
    } else {
      take_notice(in);
    }
  }
  broker_gone();
}

void SocketClient::take_reply(WireReader& in, UniqueFd fd, const Bytes& packet) {
  constexpr std::size_t kHead =
      sizeof(ToClient) + sizeof(std::uint32_t) + sizeof(Code) + sizeof(Ns);
  const auto request = in.take<std::uint32_t>();
  const auto code = in.take<Code>();
  const auto at = in.take<Ns>();
  if (!in.ok()) return;
  std::lock_guard lock(mutex_);
  const auto it = waiting_.find(request);
  if (it == waiting_.end()) return;
  Reply& reply = *it->second;
  reply.code = code;
  reply.at = at;
  reply.fields.assign(packet.begin() + kHead, packet.end());
  reply.fd = std::move(fd);
  reply.done = true;
  replied_.notify_all();
}

void SocketClient::take_notice(WireReader& in) {
  Notice notice;
  notice.kind = static_cast<Notice::Kind>(in.take<std::uint8_t>());
  notice.id = in.take<std::uint64_t>();
  notice.at = in.take<Ns>();
  notice.text = in.take_text();
  if (!in.ok()) return;
  std::lock_guard lock(mutex_);
  notices_.push_back(std::move(notice));
  noticed_.notify_all();
}

void SocketClient::broker_gone() {
  std::lock_guard lock(mutex_);
  gone_ = true;
  for (auto& [request, reply] : waiting_) reply->done = true;
  notices_.push_back({Notice::Kind::broker_gone, 0, 0, {}});
  replied_.notify_all();
  noticed_.notify_all();
}

std::optional<Notice> SocketClient::next_notice() {
  std::unique_lock lock(mutex_);
  noticed_.wait(lock, [&] { return woken_ || !notices_.empty(); });
  if (notices_.empty()) {
    woken_ = false;
    return std::nullopt;
  }
  Notice notice = std::move(notices_.front());
  notices_.pop_front();
  const bool unsticks =
      notice.kind != Notice::Kind::deadlock && notice.kind != Notice::Kind::broker_gone;
  if (unsticks) ++notices_taken_;
  return notice;
}

void SocketClient::wake() {
  std::lock_guard lock(mutex_);
  woken_ = true;
  noticed_.notify_all();
}

bool SocketClient::deterministic() const { return managed_ && page_.unmanaged() == 0; }

void SocketClient::declare_managed() {
  managed_ = true;
  tell(Op::declare_managed, {});
}

void SocketClient::report_stuck(const Stuck& stuck) {
  WireWriter fields;
  fields.put(stuck.next_event).put(stuck.deadline);
  fields.put(std::uint8_t{stuck.last_resort}).put(std::uint8_t{stuck.in_call});
  fields.put(std::uint8_t{stuck.in_exchange});
  fields.put(notices_taken_.load());
  tell(Op::stuck, fields.put_text(stuck.where).put_text(last_calls_.text()));
}

void SocketClient::races(const Bytes& records, bool last) {
  const WireWriter fields = WireWriter().put_bytes(records);
  if (last) {
    ask(Op::races, fields);
  } else {
    tell(Op::races, fields);
  }
}

void SocketClient::misused(const Misuse& misuse) {
  WireWriter fields;
  fields.put(misuse.at).put(misuse.count).put_text(misuse.kind);
  tell(Op::misuse, fields.put_text(misuse.what).put_text(misuse.call));
}

}  // namespace symmcts::platform
