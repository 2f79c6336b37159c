#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/evidence/json_lines.hpp"
#include "harness/judge/judge.hpp"

namespace symmcts::judge {

// Writes one rank's evidence, line by line, as the recorder would, with a footer that is true
// unless the file is cut. Times in nanoseconds.
class RankText {
 public:
  explicit RankText(int rank, int world = 2, int host = 0, const std::string& clock = "virtual");

  RankText& line(const std::string& json);
  // A call that succeeded, unless `result` says otherwise; `args` without braces.
  RankText& call(const std::string& name, evidence::Ns t0, const std::string& args,
                 evidence::Ns took = 100, int result = 0);
  RankText& enter(const std::string& name, evidence::Ns t);
  RankText& mark(const std::string& what, evidence::Ns t, const std::string& more = "");
  // A copy call on `stream` and its record.
  RankText& copy(const std::string& kind, evidence::Ns submitted, evidence::Ns start,
                 evidence::Ns end, int stream, std::int64_t bytes, const std::string& dst = "{}",
                 int device = 0, const std::string& src_kind = "pinned");
  // The rank did not end by itself: no footer.
  RankText& cut();

  // Parses what was written; a line of this class that does not parse fails the test.
  evidence::RankEvidence read() const;
  // The same as the evidence of a rank that ended by itself, unless it is cut off.
  evidence::RankEvidence read_whole() const;

 private:
  int rank_;
  int next_ = 1;  // sequence number and correlation id
  std::string text_;
  bool cut_ = false;
};

// `machine`: lines of machine.jsonl, without a seal; the `unit` line is the last.
evidence::EvidenceSet set_of(const std::vector<RankText>& ranks, const std::string& machine = "");

// The verdict of `id`; fails the test where there is none.
Verdict verdict_of(const Judgement& judgement, const std::string& id);

std::string text_of(const Verdict& verdict);  // "fail [0]: reason"

// The calls of a rendezvous over FABRIC as pytorch#192530 and torchcomms#3498 describe it: the root
// creates and exports, everybody imports (the root too, or not), adds its device, binds, maps.
struct Rendezvous {
  bool self_import = true;
  evidence::Ns import_at = 2000;   // of this rank
  evidence::Ns release_at = 9000;  // root: create reference; 0: never
  std::string route = "fabric";
};
RankText& rendezvous(RankText& rank, bool root, const Rendezvous& how = {});

// The mapping of `rendezvous` as a destination.
inline const std::string kMulticast = R"({"mapping":1,"offset":0})";

}  // namespace symmcts::judge
