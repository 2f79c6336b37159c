#include "harness/platform/broker/server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "harness/platform/broker/fault_report.hpp"
#include "harness/platform/broker/misuse_report.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::platform {
namespace {

// How long only messages that may have died with a client keep the machine from moving.
constexpr int kLostMessagesMs = 200;
// How long a process whose socket has closed may still live, by exec or because it closed
// everything it had, before it counts as gone.
constexpr int kEndingMs = 1'000;
// How soon a broker that wants to end tries again while somebody holds the socket's lock.
constexpr int kRetryEndMs = 10;
// How long a broker that a client started waits for it.
constexpr int kNoClientMs = 30'000;
// What a client may leave unread before it counts as broken.
constexpr std::size_t kMostUnread = 64U << 20;

void complain(const std::string& who, const std::string& what) {
  std::fprintf(stderr, "symmcts-broker: %s %s: dropped\n", who.c_str(), printable(what).c_str());
}

std::string name_of(const std::optional<ClientId>& client) {
  return client ? "rank " + std::to_string(rank_of(*client)) : std::string("a client");
}

}  // namespace

Result<std::unique_ptr<Server>> Server::make(Options options, BrokerState::Setup setup) {
  auto page = PublishedPage::make();
  if (!page) return Error{page.error()};
  const std::vector<RankFault> faults = setup.scenario.rank_faults;
  std::unique_ptr<Server> server(
      new Server(std::move(options), std::move(setup), std::move(page.value())));
  if (const Status started = server->start(); !started) return Error{started.error()};
  if (!faults.empty()) server->report(plan_json(faults) + "\n");
  return server;
}

Server::Server(Options options, BrokerState::Setup setup, PublishedPage page)
    : options_(std::move(options)), state_(std::move(setup), std::move(page), *this) {}

Server::~Server() = default;

Status Server::start() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  signals_.reset(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  bool ok = signals_ && epoll_ && watch(signals_.get(), Watch::signal, EPOLLIN);
  if (options_.listening) {
    const int fd = options_.listening->fd();
    ok = ok && ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && watch(fd, Watch::listening, EPOLLIN);
  }
  if (!ok) return Error{std::string("cannot watch sockets: ") + std::strerror(errno)};
  if (options_.client) add_connection(std::move(options_.client));
  return {};
}

int Server::run() {
  const int code = serve();
  state_.end();
  return code;
}

int Server::serve() {
  std::array<epoll_event, 256> events;
  while (true) {
    int timeout = -1;
    if (state_.only_lost_messages()) timeout = kLostMessagesMs;
    if (somebody_ended()) timeout = kEndingMs;
    if (state_.attached() == 0 && options_.started_by_client) timeout = kNoClientMs;
    const bool wants_to_end = finished();
    if (stopped_) return 0;
    if (wants_to_end) timeout = kRetryEndMs;
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    if (count < 0 && errno != EINTR) {
      std::fprintf(stderr, "symmcts-broker: epoll_wait: %s\n", std::strerror(errno));
      return 1;
    }
    if (count == 0 && state_.attached() == 0 && options_.started_by_client) return 1;
    if (count == 0 && !drop_ended() && state_.only_lost_messages()) state_.miss_messages();

    const auto each = [&](Watch kind, const auto& act) {
      for (int i = 0; i < count; ++i) {
        const std::uint64_t data = events[static_cast<std::size_t>(i)].data.u64;
        if (static_cast<Watch>(data >> 32) != kind) continue;
        act(static_cast<int>(data & 0xffffffffU), events[static_cast<std::size_t>(i)].events);
      }
    };
    each(Watch::signal, [&](int, std::uint32_t) { stopped_ = true; });
    each(Watch::connection, [&](int fd, std::uint32_t what) {
      if ((what & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0) hung_up(fd);
    });
    each(Watch::process, [&](int process, std::uint32_t) {
      const auto it = processes_.find(process);
      if (it == processes_.end()) return;
      const int fd = it->second;
      receive(fd, true);
      drop(fd);
    });
    each(Watch::descriptor, [&](int fd, std::uint32_t) {
      if (const auto id = descriptors_.close(fd)) state_.descriptor_closed(*id);
    });
    each(Watch::connection, [&](int fd, std::uint32_t what) {
      const auto it = connections_.find(fd);
      if (it == connections_.end() || it->second.broken) return;
      if ((what & EPOLLIN) != 0) receive(fd, false);
      if ((what & EPOLLOUT) != 0) flush(it->second);
    });
    each(Watch::listening, [&](int, std::uint32_t) { accept_clients(); });
    state_.advance();
    drop_broken();
    if (stopped_) return 0;
  }
}

bool Server::watch(int fd, Watch kind, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 =
      (std::uint64_t{static_cast<std::uint8_t>(kind)} << 32) | static_cast<std::uint32_t>(fd);
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Server::accept_clients() {
  while (true) {
    const int fd = ::accept4(options_.listening->fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) {
      add_connection(UniqueFd(fd));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) {
      std::fprintf(stderr, "symmcts-broker: no descriptor left for one more client\n");
      ::usleep(10'000);  // the loop would spin on the connection that waits
    }
    return;
  }
}

void Server::add_connection(UniqueFd socket) {
  const int fd = socket.get();
  if (!watch(fd, Watch::connection, EPOLLIN | EPOLLRDHUP)) return;
  connections_[fd].socket = std::move(socket);
}

void Server::receive(int fd, bool everything) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  Connection& connection = it->second;
  do {
    Packet packet;
    const IoResult result = receive_packet(fd, packet, false);
    // The end of a connection is hung_up()'s.
    if (result == IoResult::would_block || result == IoResult::closed) return;
    if (!connection.client) {
      welcome(connection, std::move(packet));
    } else if (!state_.handle(*connection.client, std::move(packet))) {
      refuse(*connection.client);
    }
  } while (everything && !connection.broken);
}

void Server::welcome(Connection& connection, Packet hello) {
  if (const auto answer = state_.look(hello)) {
    send_packet(connection.socket.get(), *answer, -1, false);
    return;
  }
  Bytes reply;
  std::string error;
  const auto client = state_.attach(hello, reply, error);
  if (!client) {
    complain("a client", error);
    send_packet(connection.socket.get(), reply, -1, false);
    connection.broken = true;
    return;
  }
  connection.client = client;
  connection.process = std::move(hello.fd);
  const int process = connection.process.get();
  if (process >= 0 && watch(process, Watch::process, EPOLLIN)) {
    processes_[process] = connection.socket.get();
  }
  sockets_[*client] = connection.socket.get();
  send(*client, std::move(reply), UniqueFd(::fcntl(state_.page_fd(), F_DUPFD_CLOEXEC, 0)));
}

void Server::send(ClientId client, Bytes packet, UniqueFd fd) {
  const auto it = sockets_.find(client);
  if (it == sockets_.end()) return;
  Connection& connection = connections_.at(it->second);
  if (connection.broken) return;
  connection.outbox_bytes += packet.size();
  connection.outbox.push_back({std::move(packet), std::move(fd)});
  flush(connection);
  if (connection.outbox_bytes > kMostUnread) {
    complain(name_of(connection.client), "does not read what it is sent");
    connection.broken = true;
  }
}

void Server::flush(Connection& connection) {
  const bool waited = connection.outbox.size() > 1;
  while (!connection.outbox.empty()) {
    const Packet& packet = connection.outbox.front();
    const IoResult result =
        send_packet(connection.socket.get(), packet.bytes, packet.fd.get(), false);
    if (result == IoResult::would_block) break;
    // A peer that is gone shows as a hang-up, after what it had sent before.
    connection.outbox_bytes -= packet.bytes.size();
    connection.outbox.pop_front();
  }
  if (!waited && connection.outbox.empty()) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  if (!connection.outbox.empty()) event.events |= EPOLLOUT;
  event.data.u64 = (std::uint64_t{static_cast<std::uint8_t>(Watch::connection)} << 32) |
                   static_cast<std::uint32_t>(connection.socket.get());
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

// A process that dies closes its sockets one by one. Only when it is gone do the others find all of
// them closed, in whatever order the system closes them.
void Server::hung_up(int fd) {
  receive(fd, true);
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  if (!it->second.process) return drop(fd);
  it->second.ended = true;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

bool Server::somebody_ended() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& entry) { return entry.second.ended; });
}

bool Server::drop_ended() {
  std::vector<int> ended;
  for (const auto& [fd, connection] : connections_) {
    if (connection.ended) ended.push_back(fd);
  }
  for (const int fd : ended) drop(fd);
  return !ended.empty();
}

void Server::drop(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  const auto client = it->second.client;
  processes_.erase(it->second.process.get());
  connections_.erase(it);
  if (!client) return;
  sockets_.erase(*client);
  state_.detach(*client);
}

void Server::drop_broken() {
  bool again = true;
  while (again) {
    again = false;
    for (const auto& [fd, connection] : connections_) {
      if (!connection.broken) continue;
      drop(fd);
      state_.advance();
      again = true;
      break;
    }
  }
}

bool Server::finished() {
  if (options_.stay || !connections_.empty()) return false;
  if (!options_.listening) {
    stopped_ = true;
    return true;
  }
  if (state_.attached() == 0 || state_.attached() < options_.expected_clients) return false;
  // Nobody may connect between the last look at the socket and its end: whoever finds it gone under
  // the lock starts the next broker.
  auto lock = SocketLock::take(options_.listening->path(), false);
  if (lock && !lock.value()) return true;
  accept_clients();
  if (!connections_.empty()) return false;
  options_.listening.reset();
  stopped_ = true;
  return true;
}

UniqueFd Server::open_descriptor(std::uint64_t id) {
  int read_end = -1;
  UniqueFd writer = descriptors_.open(id, read_end);
  // A hang-up is reported without being asked for.
  if (writer && !watch(read_end, Watch::descriptor, 0)) {
    descriptors_.close(read_end);
    writer.reset();
  }
  return writer;
}

std::optional<std::uint64_t> Server::find_descriptor(int fd) { return descriptors_.find(fd); }

void Server::refuse(ClientId client) {
  const auto it = sockets_.find(client);
  if (it == sockets_.end()) return;
  complain(name_of(client), "sent a message that is none of the protocol");
  connections_.at(it->second).broken = true;
}

void Server::deadlocked(const DeadlockReport& deadlock) {
  std::fprintf(stderr, "symmcts-broker: %s\n", printable(deadlock_text(deadlock)).c_str());
  report(deadlock_json(deadlock) + "\n");
}

// Its own process has told people already.
void Server::misused(int rank, const Misuse& misuse) { report(misuse_json(rank, misuse) + "\n"); }

void Server::befallen(const RankFault& fault, std::uint64_t number, Ns at) {
  report(fault_json(fault, number, at) + "\n");
}

void Server::raced(const Race& race) {
  std::fprintf(stderr, "symmcts-broker: %s\n", printable(race_text(race)).c_str());
  report(race_json(race) + "\n");
}

void Server::races_checked(const RaceCheckReport& checked) {
  report(race_check_json(checked) + "\n");
}

void Server::report(const std::string& lines) const {
  if (options_.report_path.empty()) return;
  UniqueFd file(
      ::open(options_.report_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file ||
      ::write(file.get(), lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) {
    std::fprintf(stderr, "symmcts-broker: cannot write '%s': %s\n",
                 printable(options_.report_path).c_str(), std::strerror(errno));
  }
}

}  // namespace symmcts::platform
