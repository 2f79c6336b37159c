#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "mailbox.hpp"
#include "peer_files.hpp"
#include "socket.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// Carries letters among the ranks of one host, over Unix sockets in one directory. See
// open_unix_exchange for what it promises.
class SocketCarrier final : public Carrier {
 public:
  static Result<std::unique_ptr<SocketCarrier>> open(const std::string& directory, int rank,
                                                     int size, std::chrono::nanoseconds startup);
  // Gets rid of what has been queued, for a bounded time, and removes this rank's socket file.
  ~SocketCarrier() override;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Waits until `to`, another rank, can be sent to; not for one that is known to have ended.
  ExchangeResult reach(int to);
  // Queues the letter and sends what the socket takes. Precondition: reach(to) was ok.
  ExchangeResult send(int to, Letter letter);
  ExchangeResult turn(int from, int watched, std::chrono::nanoseconds limit,
                      std::vector<Letter>& arrived) override;

 private:
  SocketCarrier(std::string directory, int rank, int size, std::chrono::nanoseconds startup,
                Descriptor listener);
  std::string path(int rank) const;
  bool connect(int to, std::string& why, bool& ended);
  bool has_ended(int rank) const;
  void take_in(std::vector<Letter>& arrived);
  bool gone(int from, bool hung_up) const;

  std::string directory_;
  int rank_;
  int size_;
  std::chrono::nanoseconds startup_;
  Descriptor listener_;
  PeerFiles files_;
  std::vector<Outgoing> outgoing_;  // by rank
  std::vector<Incoming> incoming_;  // in order of arrival
  std::vector<int> ended_;          // ranks whose connection to us has ended
};

}  // namespace symm_mem
