#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// What two H200s did, read from the kept output of the programs that measured it
// (fixtures/oracles/h200-x2). Nothing here comes from a profile.
namespace symmcts::platform::abi::test {

// One activity record, of the hardware or of the platform. Times in microseconds.
struct Copy {
  std::string kind;  // HtoD, DtoH, DtoD, PtoP
  int channel_type = 0;
  std::uint64_t bytes = 0;  // 0: not told
  double start = 0, end = 0;
  int device = -1, source = -1, destination = -1;  // -1: not told
  int source_kind = 0, destination_kind = 0;       // CUpti_ActivityMemoryKind; 0: not told
  std::uint64_t copies = 0;                        // 0: not told
  double took() const { return end - start; }
};

// Records of one step of a program, by start.
struct Step {
  std::string label;
  std::vector<Copy> copies;
};

// errors-latency-sizes.txt: a line of the size sweep, `took` the median of three records.
struct SweepLine {
  std::uint64_t bytes = 0;
  std::vector<Copy> copies;  // one of each kind; start 0
};
std::vector<SweepLine> size_sweep();
// errors-latency-sizes.txt: the concurrency matrix, as often as it was run, one run after the
// other.
std::vector<Step> concurrency_matrix();
// provenance-and-overlap.txt: every step of both ranks in both modes.
struct ProvenanceStep : Step {
  int rank = 0;
  bool remapped = false;  // every rank sees its own device as ordinal 0
};
std::vector<ProvenanceStep> provenance_steps();
// copy-records.txt: both runs, each step's records together.
std::vector<Step> copy_records();
// copy-paths.txt: the steps by label.
std::map<std::string, Step> copy_paths();

// What repeated records say about a duration: the median within 10 % where they spread by less than
// 5 %, otherwise the range that was seen.
struct Expectation {
  double least = 0, most = 0;
};
Expectation expect_from(std::vector<double> durations);

// The durations of a step by (kind, bytes). The first record of a kind after idle is slower on the
// hardware and left out where others of its kind follow.
using Durations = std::map<std::pair<std::string, std::uint64_t>, std::vector<double>>;
void add_durations(const Step& step, Durations& out);

}  // namespace symmcts::platform::abi::test
