#pragma once

#include <optional>
#include <string>

#include "sweep_case.hpp"
#include "symm_mem/exchange.hpp"

namespace symmcts::sweep {

// What a rank found, in lines: "verdict TEXT" (what came of the rendezvous), "wrong TEXT" (what is
// wrong on this rank), and "end" as the last one.
class Findings {
 public:
  explicit Findings(std::string path) : path_(std::move(path)) {}
  void add(const std::string& kind, const std::string& text) const;

 private:
  std::string path_;
};

// What one rank does: a rendezvous with the reference, in which the case may befall it or another
// rank; then, with whom is left, a second one; then looks whether everything is given back. Without
// a case nothing befalls anybody. `folder` holds the machine's socket.
void be_rank(symm_mem::Exchange& exchange, const std::string& folder, const Place& place,
             const std::optional<SweepCase>& befalls, const Findings& findings);

}  // namespace symmcts::sweep
