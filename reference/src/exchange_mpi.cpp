#include "symm_mem/exchange_mpi.hpp"

#include <mpi.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>

#include "letter_exchange.hpp"
#include "socket_carrier.hpp"

namespace symm_mem {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr int kTag = 1;  // of all messages; the communicator is our own
constexpr nanoseconds kLongestPause = microseconds(500);
constexpr nanoseconds kStragglers = std::chrono::milliseconds(200);
constexpr nanoseconds kLastFlush = std::chrono::seconds(2);

struct MessageHead {
  std::uint64_t tag = 0;
  std::uint64_t value = 0;
};

bool is_ready(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return descriptor >= 0 && ::poll(&one, 1, 0) > 0;
}

Status check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  (void)MPI_Error_string(code, text.data(), &length);
  return Error{.call = call, .text = std::string(text.data(), static_cast<std::size_t>(length))};
}

// A directory of its own for the ranks of one host, made by its lowest rank and told to the others.
class HostDirectory {
 public:
  ~HostDirectory() {
    if (path_[0] != '\0') ::rmdir(path_.data());  // only the last rank of the host finds it empty
  }
  Status make() {
    MPI_Comm host = MPI_COMM_NULL;
    Status status = check_mpi(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
    if (!status) return status;
    int rank = 0;
    (void)MPI_Comm_rank(host, &rank);
    constexpr char kPattern[] = "/tmp/symm-mem-XXXXXX";
    std::copy(std::begin(kPattern), std::end(kPattern), path_.begin());
    if (rank == 0) {
      if (::mkdtemp(path_.data()) == nullptr) path_[0] = '\0';
    }
    status = check_mpi(MPI_Bcast(path_.data(), static_cast<int>(path_.size()), MPI_CHAR, 0, host),
                       "MPI_Bcast");
    (void)MPI_Comm_free(&host);
    if (status && path_[0] == '\0') return Error{.call = "mkdtemp", .text = "in /tmp"};
    return status;
  }
  std::string path() const { return path_.data(); }

 private:
  std::array<char, 32> path_{};
};

class MpiCarrier final : public Carrier {
 public:
  MpiCarrier(MPI_Comm communicator, std::unique_ptr<SocketCarrier> sockets)
      : communicator_(communicator), sockets_(std::move(sockets)) {}

  // Freeing the communicator would be a collective; MPI_Finalize does it. A message that has not
  // left in time keeps its buffer: MPI may still read it.
  ~MpiCarrier() override {
    const Clock::time_point end = Clock::now() + kLastFlush;
    while (!test_sends() && Clock::now() < end) ::usleep(100);
    for (Sending& sending : sending_) (void)sending.bytes.release();
  }

  SocketCarrier& sockets() { return *sockets_; }

  ExchangeResult send(int to, const Letter& letter) {
    MessageHead head;
    head.tag = letter.tag;
    head.value = letter.value;
    auto bytes = std::make_unique<Bytes>(sizeof(head) + letter.bytes.size());
    std::memcpy(bytes->data(), &head, sizeof(head));
    std::copy(letter.bytes.begin(), letter.bytes.end(), bytes->begin() + sizeof(head));
    MPI_Request request = MPI_REQUEST_NULL;
    const Status status = check_mpi(MPI_Isend(bytes->data(), static_cast<int>(bytes->size()),
                                              MPI_BYTE, to, kTag, communicator_, &request),
                                    "MPI_Isend");
    if (!status) return {ExchangeResult::End::failed, to, status.error().text};
    sending_.push_back({std::move(bytes), request});
    (void)test_sends();
    return {};
  }

  ExchangeResult turn(int from, int watched, nanoseconds limit,
                      std::vector<Letter>& arrived) override {
    const Clock::time_point end = Clock::now() + limit;
    nanoseconds pause(0);
    Clock::time_point closed_at{};
    while (true) {
      (void)test_sends();
      Status status = receive_all(arrived);
      if (!status) return {ExchangeResult::End::failed, from, status.error().text};
      if (!arrived.empty()) return {};
      // Descriptors, the watched descriptor, and the end of a rank of this host.
      const ExchangeResult result = sockets_->turn(from, watched, pause, arrived);
      const bool seen = is_ready(watched);
      if (result.end == ExchangeResult::End::closed) {
        // The socket's end may overtake the rank's last messages in MPI.
        if (closed_at == Clock::time_point()) closed_at = Clock::now();
        if (Clock::now() - closed_at >= kStragglers) return result;
      }
      if (!arrived.empty()) return {};
      if (result.end == ExchangeResult::End::failed) return result;
      // What the observer wants seen is seen only when the stragglers are in.
      const bool closing = closed_at != Clock::time_point();
      if ((seen && !closing) || Clock::now() >= end)
        return {ExchangeResult::End::timed_out, from, {}};
      pause = std::min<nanoseconds>(pause + microseconds(20), kLongestPause);
    }
  }

 private:
  struct Sending {
    std::unique_ptr<Bytes> bytes;
    MPI_Request request;
  };

  // True when nothing is on its way any more.
  bool test_sends() {
    std::erase_if(sending_, [](Sending& sending) {
      int done = 0;
      return MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
    });
    return sending_.empty();
  }

  Status receive_all(std::vector<Letter>& arrived) {
    while (true) {
      int there = 0;
      MPI_Status probed;
      Status status =
          check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, kTag, communicator_, &there, &probed), "MPI_Iprobe");
      if (!status || there == 0) return status;
      int count = 0;
      (void)MPI_Get_count(&probed, MPI_BYTE, &count);
      Bytes bytes(static_cast<std::size_t>(count));
      status = check_mpi(MPI_Recv(bytes.data(), count, MPI_BYTE, probed.MPI_SOURCE, kTag,
                                  communicator_, MPI_STATUS_IGNORE),
                         "MPI_Recv");
      if (!status) return status;
      MessageHead head;
      if (bytes.size() < sizeof(head)) return Error{.call = "MPI_Recv", .text = "cut short"};
      std::memcpy(&head, bytes.data(), sizeof(head));
      Letter letter;
      letter.source = probed.MPI_SOURCE;
      letter.tag = head.tag;
      letter.value = head.value;
      letter.bytes.assign(bytes.begin() + sizeof(head), bytes.end());
      arrived.push_back(std::move(letter));
    }
  }

  MPI_Comm communicator_;
  std::unique_ptr<SocketCarrier> sockets_;
  std::list<Sending> sending_;
};

class MpiExchange final : public LetterExchange {
 public:
  MpiExchange(int rank, int size, std::unique_ptr<HostDirectory> directory,
              std::unique_ptr<MpiCarrier> carrier)
      : LetterExchange(rank, size),
        directory_(std::move(directory)),
        carrier_(std::move(carrier)) {}

 private:
  Carrier& carrier() override { return *carrier_; }
  ExchangeResult reach(int to, Letter::Kind kind) override {
    return kind == Letter::Kind::descriptor ? carrier_->sockets().reach(to) : ExchangeResult();
  }
  ExchangeResult carry(int to, Letter letter) override {
    return letter.kind == Letter::Kind::descriptor ? carrier_->sockets().send(to, std::move(letter))
                                                   : carrier_->send(to, letter);
  }

  std::unique_ptr<HostDirectory> directory_;  // outlives the sockets in it
  std::unique_ptr<MpiCarrier> carrier_;
};

}  // namespace

Result<MpiJob> start_mpi() {
  MpiJob job;
  int initialized = 0;
  Status status = check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
  if (status && initialized == 0) {
    status = check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
    job.started = static_cast<bool>(status);
  }
  if (status) status = check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &job.rank), "MPI_Comm_rank");
  if (status) status = check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &job.size), "MPI_Comm_size");
  if (!status) return status.error();
  return job;
}

Status finish_mpi(const MpiJob& job) {
  return job.started ? check_mpi(MPI_Finalize(), "MPI_Finalize") : Status();
}

Result<std::unique_ptr<Exchange>> open_mpi_exchange(const std::string& directory,
                                                    nanoseconds startup) {
  int rank = 0;
  int size = 0;
  Status status = check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (status) status = check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  auto made = std::make_unique<HostDirectory>();
  if (status && directory.empty()) status = made->make();
  MPI_Comm communicator = MPI_COMM_NULL;
  if (status) status = check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator), "MPI_Comm_dup");
  if (!status) return status.error();
  (void)MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);

  auto sockets =
      SocketCarrier::open(directory.empty() ? made->path() : directory, rank, size, startup);
  if (!sockets) return sockets.error();
  auto carrier = std::make_unique<MpiCarrier>(communicator, sockets.take());
  return std::unique_ptr<Exchange>(
      std::make_unique<MpiExchange>(rank, size, std::move(made), std::move(carrier)));
}

}  // namespace symm_mem
