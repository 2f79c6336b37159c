#include "harness/platform/abi/tests/measured_tables.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace symmcts::platform::abi::test {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(std::string(SYMMCTS_ORACLES) + "/" + file);
  if (!in) throw std::runtime_error(file + " is not there");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& text) {
  const auto last = text.find_last_not_of(' ');
  return last == std::string::npos ? "" : text.substr(0, last + 1);
}

// DTOD → DtoD, as the other programs print it.
std::string short_kind(const std::string& kind) { return {kind[0], 't', 'o', kind[3]}; }

int memory_kind(const std::string& name) {
  if (name == "pageable") return 1;
  if (name == "pinned") return 2;
  return name == "device" ? 3 : 0;
}

void by_start(std::vector<Copy>& copies) {
  std::stable_sort(copies.begin(), copies.end(),
                   [](const Copy& a, const Copy& b) { return a.start < b.start; });
}

}  // namespace

std::vector<SweepLine> size_sweep() {
  const std::regex head(R"(^ *(\d+) B:)"), item(R"((\w+) ch\d+/(\d) ([\d.]+)us)");
  std::vector<SweepLine> out;
  for (const std::string& line : lines_of("errors-latency-sizes.txt")) {
    std::smatch found;
    if (!std::regex_search(line, found, head)) continue;
    SweepLine sweep;
    sweep.bytes = std::stoull(found[1]);
    for (std::sregex_iterator at(line.begin(), line.end(), item), end; at != end; ++at) {
      Copy copy;
      copy.kind = (*at)[1];
      copy.channel_type = std::stoi((*at)[2]);
      copy.bytes = sweep.bytes;
      copy.end = std::stod((*at)[3]);
      sweep.copies.push_back(copy);
    }
    out.push_back(sweep);
  }
  return out;
}

std::vector<Step> concurrency_matrix() {
  const std::regex head(R"(^([^:\[]+):(?= \[))");
  const std::regex item(R"(\[(\w+) ch\d+/(\d) (\d+)\.\.(\d+)\])");
  std::vector<Step> out;
  for (const std::string& line : lines_of("errors-latency-sizes.txt")) {
    std::smatch found;
    if (!std::regex_search(line, found, head)) continue;
    Step step{found[1], {}};
    for (std::sregex_iterator at(line.begin(), line.end(), item), end; at != end; ++at) {
      Copy copy;
      copy.kind = (*at)[1];
      copy.channel_type = std::stoi((*at)[2]);
      copy.start = std::stod((*at)[3]);
      copy.end = std::stod((*at)[4]);
      step.copies.push_back(copy);
    }
    out.push_back(step);
  }
  return out;
}

std::vector<ProvenanceStep> provenance_steps() {
  const std::regex record(
      R"(^\[r(\d)\] (.{34}) (\w+)\*? dev=(\d) s=\d+ src=(\d) dst=(\d) ch=\d+/(\d) +([\d.]+)MB t= *([\d.]+)\.\. *([\d.]+)us .*srcK=(\d) dstK=(\d))");
  std::vector<ProvenanceStep> out;
  bool remapped = false;
  for (const std::string& line : lines_of("provenance-and-overlap.txt")) {
    if (line.rfind("====", 0) == 0) remapped = line.find("remap") != std::string::npos;
    std::smatch found;
    if (!std::regex_search(line, found, record)) continue;
    const std::string label = trimmed(found[2]);
    const int rank = std::stoi(found[1]);
    Copy copy;
    copy.kind = found[3];
    copy.device = std::stoi(found[4]);
    copy.source = std::stoi(found[5]);
    copy.destination = std::stoi(found[6]);
    copy.channel_type = std::stoi(found[7]);
    copy.bytes = static_cast<std::uint64_t>(std::stod(found[8]) * (1 << 20));
    copy.start = std::stod(found[9]);
    copy.end = std::stod(found[10]);
    copy.source_kind = std::stoi(found[11]);
    copy.destination_kind = std::stoi(found[12]);
    const bool same = !out.empty() && out.back().label == label && out.back().rank == rank;
    if (!same) {
      ProvenanceStep step;
      step.label = label;
      step.rank = rank;
      step.remapped = remapped;
      out.push_back(step);
    }
    out.back().copies.push_back(copy);
  }
  return out;
}

std::vector<Step> copy_records() {
  const std::regex record(
      R"(^ *([\d.]+) us  (.{52}) MEMCPY2? +(\w+) +(\w+)->(\w+) bytes=(\d+) dev=(\d)(?: src=(\d) dst=(\d))? .*type=(\d)(?: copyCount=(\d+))? us=([\d.]+))");
  std::vector<Step> out;
  bool fresh = true;
  for (const std::string& line : lines_of("copy-records.txt")) {
    if (line.rfind("cupti", 0) == 0) fresh = true;
    std::smatch found;
    if (!std::regex_search(line, found, record)) continue;
    std::string label = trimmed(found[2]);
    // The three copies that run side by side are one step.
    if (label.rfind("OVERLAP", 0) == 0) label = "OVERLAP";
    Copy copy;
    copy.kind = short_kind(found[3]);
    copy.source_kind = memory_kind(found[4]);
    copy.destination_kind = memory_kind(found[5]);
    copy.bytes = std::stoull(found[6]);
    copy.device = std::stoi(found[7]);
    if (found[8].matched) copy.source = std::stoi(found[8]);
    if (found[9].matched) copy.destination = std::stoi(found[9]);
    copy.channel_type = std::stoi(found[10]);
    if (found[11].matched) copy.copies = std::stoull(found[11]);
    copy.start = std::stod(found[1]);
    copy.end = copy.start + std::stod(found[12]);
    if (fresh || out.back().label != label) out.push_back({label, {}});
    fresh = false;
    out.back().copies.push_back(copy);
  }
  for (Step& step : out) by_start(step.copies);
  return out;
}

std::map<std::string, Step> copy_paths() {
  const std::regex head(R"(^(\S.*): (\d+) records$)");
  const std::regex record(
      R"(^   MEM(?:CPY2?|SET) (\w+) (\d+) B ch\d+/(\d) src(\d) dst(\d) dev(\d),(\d) .* count(\d+)  (\d+)\.\.(\d+) ns)");
  std::map<std::string, Step> out;
  Step* step = nullptr;
  for (const std::string& line : lines_of("copy-paths.txt")) {
    std::smatch found;
    if (std::regex_search(line, found, head)) {
      step = &out[found[1]];
      step->label = found[1];
    }
    if (!std::regex_search(line, found, record)) continue;
    Copy copy;
    copy.kind = found[1];
    copy.bytes = std::stoull(found[2]);
    copy.channel_type = std::stoi(found[3]);
    copy.source_kind = std::stoi(found[4]);
    copy.destination_kind = std::stoi(found[5]);
    copy.device = copy.source = std::stoi(found[6]);
    copy.destination = std::stoi(found[7]);
    copy.copies = std::stoull(found[8]);
    copy.start = std::stod(found[9]) / 1000;
    copy.end = std::stod(found[10]) / 1000;
    step->copies.push_back(copy);
  }
  return out;
}

Expectation expect_from(std::vector<double> durations) {
  std::sort(durations.begin(), durations.end());
  const std::size_t half = durations.size() / 2;
  const double median =
      durations.size() % 2 == 1 ? durations[half] : (durations[half - 1] + durations[half]) / 2;
  const double spread = (durations.back() - durations.front()) / median;
  if (spread < 0.05) return {median * 0.9, median * 1.1};
  return {durations.front(), durations.back()};
}

void add_durations(const Step& step, Durations& out) {
  std::map<std::string, int> count;
  for (const Copy& copy : step.copies) ++count[copy.kind];
  std::map<std::string, bool> seen;
  for (const Copy& copy : step.copies) {
    const bool first = !seen[copy.kind];
    seen[copy.kind] = true;
    if (first && count[copy.kind] > 1) continue;
    out[{copy.kind, copy.bytes}].push_back(copy.took());
  }
}

}  // namespace symmcts::platform::abi::test
