#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "symm_mem/exchange.hpp"

namespace symm_mem::test {

// A directory of its own under the system's one for temporary files, removed with its content.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What a rank does: notes what it finds wrong; an empty list is success.
using Complaints = std::vector<std::string>;
using RankBody = std::function<void(Exchange& exchange, Complaints& complaints)>;

// Runs `size` ranks as processes, each with an exchange over Unix sockets, until all have ended.
// Returns everything that any of them complained of, with its rank; also that it crashed.
Complaints run_ranks(int size, const RankBody& body);

// The same in a directory that the caller prepares; its exchanges use it.
Complaints run_ranks_in(const std::string& directory, int size, const RankBody& body);

}  // namespace symm_mem::test
