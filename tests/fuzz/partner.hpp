#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/link.hpp"
#include "tests/fuzz/session.hpp"

namespace symmcts::fuzz {

// The other rank has died in what both did together.
struct PeerGone {};

// One of the two ranks in one episode, which one of them, the root, begins by making something.
// Everything that it makes is in the session's world, so that it is given up whatever happens. Each
// call must succeed; those that talk to the peer throw PeerGone.
class Partner {
 public:
  Partner(Session& session, Link& link, int rank, std::uint64_t episode);

  bool is_root() const { return rank_ == root; }
  void meet();

  HandlePtr create_memory(int device);
  HandlePtr create_multicast();
  // The root's handle goes to the peer, who gets its import; the root gets `mine` back, or its own
  // import. `drop`: it gives up the one that it made before the peer can import.
  HandlePtr hand_over(const HandlePtr& mine, bool self_import, bool drop);
  void release(const HandlePtr& handle);
  // In a range of its own, for both devices.
  CUdeviceptr map(const HandlePtr& handle);
  void unmap(CUdeviceptr at);
  // Returns when the word is there.
  void write(CUdeviceptr at, std::uint64_t word);
  void expect(CUdeviceptr at, std::uint64_t word, const char* what);

  Session& s;
  Draw plan;  // the same on both ranks
  int root = 0;
  unsigned types = kFd;
  std::size_t size = kBlock;

 private:
  ObjectPtr object(bool multicast, int device);
  HandlePtr keep(CUmemGenericAllocationHandle value, const ObjectPtr& made, bool native);
  HandlePtr import(const std::string& text, int fd);

  Link& link_;
  const int rank_;
};

}  // namespace symmcts::fuzz
