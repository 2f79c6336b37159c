#include "sweep_case.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "harness/support/whole_number.hpp"

namespace symmcts::sweep {
namespace {

// The name of the API in that of the library: cuMemcpyHtoDAsync_v2_ptsz.
std::string api_name(std::string name) {
  for (const std::string suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  const auto version = name.rfind("_v");
  if (version != std::string::npos &&
      name.find_first_not_of("0123456789", version + 2) == std::string::npos) {
    name.resize(version);
  }
  return name;
}

// Answered without a machine (harness/platform/abi/generate_driver.py: BEFORE_INIT).
bool needs_no_machine(const std::string& name) {
  static const std::set<std::string> names{"cuInit",           "cuDriverGetVersion",
                                           "cuGetErrorName",   "cuGetErrorString",
                                           "cuGetProcAddress", "cuGetExportTable"};
  return names.count(name) != 0;
}

bool number_of(const std::string& text, int& out) {
  using Limits = std::numeric_limits<int>;
  return bool(read_whole_number("number", text, Limits::min(), Limits::max(), out));
}

}  // namespace

const char* mode_name(Mode mode) {
  switch (mode) {
    case Mode::fail:
      return "fail";
    case Mode::not_ready:
      return "802";
    case Mode::kill:
      return "kill";
    case Mode::stop:
      return "stop";
  }
  return "fail";
}

bool SweepCase::gives_back() const {
  static const std::set<std::string> names{
      "cuMemRelease",      "cuMemUnmap",      "cuMemAddressFree", "cuMemFree",
      "cuMulticastUnbind", "cuStreamDestroy", "cuEventDestroy",   "cuCtxPopCurrent"};
  return !takes_rank() && names.count(call.function) != 0;
}

std::string SweepCase::name() const {
  return place.platform + ":" + std::to_string(place.ranks) + ":" + std::to_string(call.rank) +
         ":" + call.function + ":" + std::to_string(call.number) + ":" + mode_name(mode);
}

std::optional<SweepCase> SweepCase::parse(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream in(name);
  for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
  SweepCase out;
  if (parts.size() != 6 || !number_of(parts[1], out.place.ranks) ||
      !number_of(parts[2], out.call.rank) || !number_of(parts[4], out.call.number)) {
    return std::nullopt;
  }
  out.place.platform = parts[0];
  out.call.function = parts[3];
  const auto mode = std::find_if(std::begin(kModes), std::end(kModes),
                                 [&](Mode each) { return parts[5] == mode_name(each); });
  if (mode == std::end(kModes)) return std::nullopt;
  out.mode = *mode;
  return out;
}

std::string SweepCase::scenario() const {
  const std::string rank = "rank = " + std::to_string(call.rank) + "\n";
  const std::string number = "number = " + std::to_string(call.number) + "\n";
  const std::string quoted = "\"" + call.function + "\"\n";
  std::string text = "[faults]\nmulticast_slots = 1\n";
  switch (mode) {
    case Mode::fail:
      return text + "[[fail]]\n" + rank + "call = " + quoted + number + "code = 801\n";
    case Mode::not_ready:
      return text + "[[fail]]\n" + rank + "call = " + quoted + number + "code = 802\n";
    case Mode::kill:
      return text + "[[kill]]\n" + rank + "before = " + quoted + number;
    case Mode::stop:
      return text + "[[stop]]\n" + rank + "before = " + quoted + number;
  }
  return text;
}

std::vector<RankCall> calls_of_trace(int rank, const std::string& trace) {
  const std::string speaker = "symm-cts trace: rank " + std::to_string(rank) + " ";
  std::vector<RankCall> calls;
  std::map<std::string, int> counts;
  bool within = false, ended = false;
  std::istringstream in(trace);
  for (std::string line; std::getline(in, line);) {
    if (line == kWindowBegin) within = true;
    if (line == kWindowEnd) ended = within;
    if (ended) return calls;
    if (!line.starts_with(speaker)) continue;
    const auto name = line.find(" cu", speaker.size());
    if (name == std::string::npos) continue;
    const std::string function = api_name(line.substr(name + 1, line.find('(') - name - 1));
    if (needs_no_machine(function)) continue;
    const int number = ++counts[function];
    if (within) calls.push_back({rank, function, number});
  }
  return {};
}

}  // namespace symmcts::sweep
