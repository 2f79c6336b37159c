#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/process/memory_file.hpp"

namespace symmcts::platform {

// A bound range of a multicast object with the bytes behind it.
struct ReachableReplica {
  Replica range;
  std::shared_ptr<MemoryFile> file;
};

// The memory of other processes that this one reaches through multicast objects. Keeps the files of
// what was bound at the last look, so that a write costs no new mapping. Thread safe.
class ReplicaFiles {
 public:
  ReplicaFiles(Client& client, MemoryFiles& files) : client_(client), files_(files) {}

  // What is bound to `object` at this moment, in the broker's order. Memory that was freed between
  // the broker's two answers is left out: nobody can read it any more.
  Code reach(std::uint64_t object, std::vector<ReachableReplica>& out);
  // Lets go of the files of an object that this process no longer maps.
  void forget(std::uint64_t object);

 private:
  using Files = std::map<std::uint64_t, std::shared_ptr<MemoryFile>>;  // by allocation

  Client& client_;
  MemoryFiles& files_;
  std::mutex mutex_;
  std::map<std::uint64_t, Files> objects_;
};

}  // namespace symmcts::platform
