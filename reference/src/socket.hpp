#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "mailbox.hpp"
#include "symm_mem/descriptor.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// A stream socket that listens at `path`. Binds beside it and renames: a stale file is replaced,
// and a rank that connects finds either nothing or a socket that is listening.
Result<Descriptor> listen_at(const std::string& path, int backlog);

// Connects to `path`, without blocking. It fails while nobody listens there, also when an earlier
// run left the file; `code` is the errno of that.
Result<Descriptor> connect_to(const std::string& path, int& code);

// One direction of a connection, this rank sending.
class Outgoing {
 public:
  // Takes the connected socket and introduces the rank.
  void open(Descriptor socket, int rank);
  bool connected() const { return socket_.open(); }
  int descriptor() const { return socket_.get(); }
  bool idle() const { return queue_.empty(); }

  // Queues a letter; a descriptor in it is the queue's own. Then flush().
  void queue(Letter letter);
  // Sends what the socket takes. False when the other side is gone.
  bool flush();

 private:
  struct Piece {
    Bytes bytes;
    std::size_t sent = 0;
    Descriptor descriptor;
  };
  Descriptor socket_;
  std::deque<Piece> queue_;
};

// The other direction, this rank receiving.
class Incoming {
 public:
  explicit Incoming(Descriptor socket) : socket_(std::move(socket)) {}
  int descriptor() const { return socket_.get(); }
  int source() const { return source_; }  // -1 until the peer has introduced itself
  bool ended() const { return ended_; }

  // Reads what is there and appends the letters that are complete. Something that is no rank of
  // this exchange, or of another version, ends the connection.
  void read(int size, std::vector<Letter>& letters);

 private:
  void parse(int size, std::vector<Letter>& letters);

  Descriptor socket_;
  int source_ = -1;
  bool ended_ = false;
  Bytes buffer_;
  std::deque<Descriptor> descriptors_;
};

}  // namespace symm_mem
