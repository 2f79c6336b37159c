#include "symm_mem/exchange_unix.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "socket.hpp"

namespace symm_mem {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How often a rank that waits for one that has not connected looks for it again.
constexpr nanoseconds kLookAgain = milliseconds(20);
// How long the destructor tries to get rid of messages that did not fit into a socket.
constexpr nanoseconds kLastFlush = std::chrono::seconds(2);

class UnixExchange final : public Exchange, private Carrier {
 public:
  UnixExchange(std::string directory, int rank, int size, nanoseconds startup, Descriptor listener)
      : directory_(std::move(directory)),
        rank_(rank),
        size_(size),
        startup_(startup),
        listener_(std::move(listener)),
        outgoing_(static_cast<std::size_t>(size)) {}

  ~UnixExchange() override {
    flush_for(kLastFlush);
    ::unlink(path(rank_).c_str());
  }

  static std::string path_in(const std::string& directory, int rank) {
    return directory + "/rank-" + std::to_string(rank) + ".sock";
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void set_observer(ExchangeObserver* observer) override { observer_ = observer; }

  ExchangeResult send(int to, std::uint64_t tag, std::span<const std::byte> message) override {
    Letter letter;
    letter.tag = tag;
    letter.bytes.assign(message.begin(), message.end());
    return send_letter(to, std::move(letter));
  }

  ExchangeResult send_descriptor(int to, std::uint64_t tag, int descriptor) override {
    Letter letter;
    letter.tag = tag;
    letter.kind = Letter::Kind::descriptor;
    letter.descriptor = Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!letter.descriptor.open()) {
      return {ExchangeResult::End::failed, rank_,
              "descriptor " + std::to_string(descriptor) + ": " + std::strerror(errno)};
    }
    return send_letter(to, std::move(letter));
  }

  ExchangeResult receive(int from, std::uint64_t tag, Bytes& message,
                         nanoseconds deadline) override {
    Letter letter;
    ExchangeResult result = receive_letter(from, tag, Letter::Kind::message, deadline, letter);
    if (result) message = std::move(letter.bytes);
    return result;
  }

  ExchangeResult receive_descriptor(int from, std::uint64_t tag, int& descriptor,
                                    nanoseconds deadline) override {
    Letter letter;
    ExchangeResult result = receive_letter(from, tag, Letter::Kind::descriptor, deadline, letter);
    if (result) descriptor = letter.descriptor.release();
    return result;
  }

 private:
  std::string path(int rank) const { return path_in(directory_, rank); }
  bool is_rank(int rank) const { return rank >= 0 && rank < size_; }

  static ExchangeResult no_such_rank(int rank) {
    return {ExchangeResult::End::failed, rank, "no such rank"};
  }

  ExchangeResult send_letter(int to, Letter letter) {
    if (!is_rank(to)) return no_such_rank(to);
    letter.source = rank_;
    if (to == rank_) {
      letter.value = observer_ != nullptr ? observer_->leaving() : 0;
      mailbox_.post(std::move(letter), observer_);
      return {};
    }
    Outgoing& out = outgoing_[static_cast<std::size_t>(to)];
    const Clock::time_point end = Clock::now() + startup_;
    while (!out.connected()) {
      std::string why;
      if (connect(to, why)) break;
      if (Clock::now() >= end) return {ExchangeResult::End::timed_out, to, why};
      std::this_thread::sleep_for(milliseconds(2));
    }
    letter.value = observer_ != nullptr ? observer_->leaving() : 0;
    out.queue(std::move(letter));
    if (!out.flush()) return {ExchangeResult::End::closed, to, {}};
    return {};
  }

  ExchangeResult receive_letter(int from, std::uint64_t tag, Letter::Kind kind,
                                nanoseconds deadline, Letter& letter) {
    if (!is_rank(from)) return no_such_rank(from);
    return mailbox_.receive(*this, observer_, from, tag, kind, deadline, letter);
  }

  // Tries once. A failure that cannot pass by itself shows in the text when time is up.
  bool connect(int to, std::string& why) {
    bool retry = false;
    Result<Descriptor> socket = connect_to(path(to), retry);
    if (!socket) {
      why = socket.error().text;
      return false;
    }
    outgoing_[static_cast<std::size_t>(to)].open(socket.take(), rank_);
    return true;
  }

  ExchangeResult turn(int from, int watched, nanoseconds limit,
                      std::vector<Letter>& arrived) override {
    const Clock::time_point end = Clock::now() + limit;
    bool last = false;
    while (true) {
      // A connection of our own shows the end of a rank that has never connected to us.
      Outgoing& towards = outgoing_[static_cast<std::size_t>(from)];
      std::string why;
      bool looking = from != rank_ && !towards.connected() && !connect(from, why);

      std::vector<pollfd> polled;
      polled.push_back({watched, POLLIN, 0});
      polled.push_back({listener_.get(), POLLIN, 0});
      for (Outgoing& out : outgoing_) {
        (void)out.flush();  // a rank that is gone shows below, when somebody waits for it
        polled.push_back({out.descriptor(), static_cast<short>(out.idle() ? 0 : POLLOUT), 0});
      }
      for (const Incoming& in : incoming_) polled.push_back({in.descriptor(), POLLIN, 0});

      nanoseconds left = std::max(end - Clock::now(), Clock::duration(0));
      if (looking) left = std::min(left, kLookAgain);
      const timespec timeout{.tv_sec = left.count() / 1000000000,
                             .tv_nsec = left.count() % 1000000000};
      if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) < 0 && errno != EINTR) {
        return {ExchangeResult::End::failed, rank_, std::string("poll: ") + std::strerror(errno)};
      }
      const bool hung_up =
          (polled[2 + static_cast<std::size_t>(from)].revents & (POLLHUP | POLLERR)) != 0;

      take_in(arrived);
      if (!arrived.empty()) return {};
      if (gone(from, hung_up)) return {ExchangeResult::End::closed, from, {}};
      if (last || polled[0].revents != 0) return {ExchangeResult::End::timed_out, from, {}};
      last = Clock::now() >= end;
    }
  }

  // Accepts and reads everything that is there.
  void take_in(std::vector<Letter>& arrived) {
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

  // Called after take_in: whatever the rank sent before its end has been read.
  bool gone(int from, bool hung_up) const {
    if (std::find(ended_.begin(), ended_.end(), from) != ended_.end()) return true;
    const bool connected = std::any_of(incoming_.begin(), incoming_.end(),
                                       [from](const Incoming& in) { return in.source() == from; });
    return hung_up && !connected;
  }

  void flush_for(nanoseconds limit) {
    const Clock::time_point end = Clock::now() + limit;
    for (Outgoing& out : outgoing_) {
      while (out.connected() && out.flush() && !out.idle() && Clock::now() < end) {
        pollfd one{out.descriptor(), POLLOUT, 0};
        (void)::poll(&one, 1, 10);
      }
    }
  }

  std::string directory_;
  int rank_;
  int size_;
  nanoseconds startup_;
  Descriptor listener_;
  std::vector<Outgoing> outgoing_;  // by rank
  std::vector<Incoming> incoming_;  // in order of arrival
  std::vector<int> ended_;          // ranks whose connection to us has ended
  Mailbox mailbox_;
  ExchangeObserver* observer_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Exchange>> open_unix_exchange(const std::string& directory, int rank,
                                                     int size, nanoseconds startup) {
  if (size < 1 || rank < 0 || rank >= size) {
    return Error{.call = "open_unix_exchange",
                 .text = "rank " + std::to_string(rank) + " of " + std::to_string(size)};
  }
  Result<Descriptor> listener = listen_at(UnixExchange::path_in(directory, rank), size + 16);
  if (!listener) return listener.error();
  return std::unique_ptr<Exchange>(
      std::make_unique<UnixExchange>(directory, rank, size, startup, listener.take()));
}

}  // namespace symm_mem
