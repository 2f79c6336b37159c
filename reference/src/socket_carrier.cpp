#include "socket_carrier.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace symm_mem {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How often a rank that waits for one that has not connected looks for it again.
constexpr nanoseconds kLookAgain = milliseconds(20);
// How long the destructor tries to get rid of messages that did not fit into a socket.
constexpr nanoseconds kLastFlush = std::chrono::seconds(2);

}  // namespace

Result<std::unique_ptr<SocketCarrier>> SocketCarrier::open(const std::string& directory, int rank,
                                                           int size, nanoseconds startup) {
  if (size < 1 || rank < 0 || rank >= size) {
    return Error{.call = "open exchange",
                 .text = "rank " + std::to_string(rank) + " of " + std::to_string(size)};
  }
  // Every other rank knocks once and connects once.
  Result<Descriptor> listener = listen_at(socket_path(directory, rank), 2 * size + 16);
  if (!listener) return listener.error();
  return std::unique_ptr<SocketCarrier>(
      new SocketCarrier(directory, rank, size, startup, listener.take()));
}

SocketCarrier::SocketCarrier(std::string directory, int rank, int size, nanoseconds startup,
                             Descriptor listener)
    : directory_(std::move(directory)),
      rank_(rank),
      size_(size),
      startup_(startup),
      listener_(std::move(listener)),
      files_(directory_, rank, size),
      outgoing_(static_cast<std::size_t>(size)) {}

SocketCarrier::~SocketCarrier() {
  const Clock::time_point end = Clock::now() + kLastFlush;
  for (Outgoing& out : outgoing_) {
    while (out.connected() && out.flush() && !out.idle() && Clock::now() < end) {
      pollfd one{out.descriptor(), POLLOUT, 0};
      (void)::poll(&one, 1, 10);
    }
  }
  ::unlink(path(rank_).c_str());  // SM-LEAK-4; of a rank that was killed the next run replaces it
}

std::string SocketCarrier::path(int rank) const { return socket_path(directory_, rank); }

ExchangeResult SocketCarrier::reach(int to) {
  const Clock::time_point end = Clock::now() + startup_;
  std::string why;
  bool ended = has_ended(to);
  while (!outgoing_[static_cast<std::size_t>(to)].connected() && !connect(to, why, ended)) {
    if (ended) return {ExchangeResult::End::closed, to, {}};
    if (Clock::now() >= end) return {ExchangeResult::End::timed_out, to, why};
    std::this_thread::sleep_for(milliseconds(2));
  }
  return {};
}

ExchangeResult SocketCarrier::send(int to, Letter letter) {
  Outgoing& out = outgoing_[static_cast<std::size_t>(to)];
  out.queue(std::move(letter));
  if (!out.flush()) return {ExchangeResult::End::closed, to, {}};
  return {};
}

// Tries once. Where it fails, leaves the reason, and sets `ended` if nobody will ever listen there.
bool SocketCarrier::connect(int to, std::string& why, bool& ended) {
  int code = 0;
  Result<Descriptor> socket = connect_to(path(to), code);
  if (!socket) {
    why = socket.error().text;
    ended = ended || files_.has_ended(to, code);
    return false;
  }
  outgoing_[static_cast<std::size_t>(to)].open(socket.take(), rank_);
  return true;
}

ExchangeResult SocketCarrier::turn(int from, int watched, nanoseconds limit,
                                   std::vector<Letter>& arrived) {
  const Clock::time_point end = Clock::now() + limit;
  while (true) {
    // A connection of our own shows the end of a rank that has never connected to us.
    std::string why;
    bool ended = false;
    const bool looking = from != rank_ && !outgoing_[static_cast<std::size_t>(from)].connected() &&
                         !connect(from, why, ended);

    std::vector<pollfd> polled;
    polled.push_back({watched, POLLIN, 0});
    polled.push_back({listener_.get(), POLLIN, 0});
    for (Outgoing& out : outgoing_) {
      (void)out.flush();  // a rank that is gone shows below, when somebody waits for it
      polled.push_back({out.descriptor(), static_cast<short>(out.idle() ? 0 : POLLOUT), 0});
    }
    for (const Incoming& in : incoming_) polled.push_back({in.descriptor(), POLLIN, 0});
    // The sockets of ranks that are gone would end every poll at once.
    for (const int rank : ended_) polled[2 + static_cast<std::size_t>(rank)].fd = -1;

    const Clock::time_point now = Clock::now();
    nanoseconds left = std::max<nanoseconds>(end - now, nanoseconds(0));
    if (looking) left = std::min(left, kLookAgain);
    if (ended) left = nanoseconds(0);
    const timespec timeout{.tv_sec = left.count() / 1000000000,
                           .tv_nsec = left.count() % 1000000000};
    if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) < 0 && errno != EINTR) {
      return {ExchangeResult::End::failed, rank_, std::string("poll: ") + std::strerror(errno)};
    }
    const bool hung_up =
        (polled[2 + static_cast<std::size_t>(from)].revents & (POLLHUP | POLLERR)) != 0;

    take_in(arrived);
    if (!arrived.empty()) return {};
    if (ended || gone(from, hung_up)) return {ExchangeResult::End::closed, from, {}};
    if (polled[0].revents != 0 || now >= end) return {ExchangeResult::End::timed_out, from, {}};
  }
}

// Accepts and reads everything that is there.
void SocketCarrier::take_in(std::vector<Letter>& arrived) {
  while (true) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) break;
    incoming_.emplace_back(std::move(socket));
  }
  for (Incoming& in : incoming_) {
    in.read(size_, arrived);
    if (in.ended() && in.source() >= 0) ended_.push_back(in.source());
  }
  std::erase_if(incoming_, [](const Incoming& in) { return in.ended(); });
}

bool SocketCarrier::has_ended(int rank) const {
  return std::find(ended_.begin(), ended_.end(), rank) != ended_.end();
}

// Called after take_in: whatever the rank sent before its end has been read.
bool SocketCarrier::gone(int from, bool hung_up) const {
  if (has_ended(from)) return true;
  return hung_up && std::none_of(incoming_.begin(), incoming_.end(),
                                 [from](const Incoming& in) { return in.source() == from; });
}

}  // namespace symm_mem
