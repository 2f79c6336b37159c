#include "harness/launch/mpirun_report.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace symmcts::launch {
namespace {

constexpr int kShellSignal = 128;  // mpirun reports signal N as 128 + N

}  // namespace

// It names the rank as "process rank N" or as "Process name: [[J,K],N]", and gives the rank's exit
// code or 128 + signal as its own; 1 for a rank that exited with 0, but without MPI_Finalize ("has
// exited due to process rank N"). Seen with Open MPI 4.1.
std::optional<MpirunReport> read_mpirun_report(const std::filesystem::path& stderr_file,
                                               const Exit& launcher) {
  if (!launcher.known || launcher.signaled || launcher.value == 0) return std::nullopt;
  MpirunReport report{-1, launcher};
  std::ifstream in(stderr_file);
  for (std::string line; report.rank < 0 && std::getline(in, line);) {
    auto at = line.find("process rank ");
    if (at != std::string::npos) {
      std::sscanf(line.c_str() + at, "process rank %d", &report.rank);
      if (line.find("has exited due to") != std::string::npos) report.exit.value = 0;
    }
    at = line.find("Process name: [[");
    if (at != std::string::npos) {
      std::sscanf(line.c_str() + at, "Process name: [[%*d,%*d],%d]", &report.rank);
    }
  }
  if (report.exit.value > kShellSignal) {
    report.exit.signaled = true;
    report.exit.value -= kShellSignal;
  }
  return report;
}

int loudest_rank(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::map<int, std::size_t> bytes;
  int speaker = -1;
  std::size_t from = 0;
  // "[J,N]<stdout>:" or "[J,N]<stderr>:" stands before what rank N of job J has printed.
  for (auto at = text.find("]<std"); at != std::string::npos; at = text.find("]<std", at + 1)) {
    std::size_t digit = at;
    while (digit > 0 && text[digit - 1] >= '0' && text[digit - 1] <= '9') --digit;
    int rank = -1;
    const auto [end, error] = std::from_chars(&text[digit], &text[at], rank);
    if (error != std::errc() || digit == 0 || text[digit - 1] != ',') continue;
    if (speaker >= 0) bytes[speaker] += at - from;
    speaker = rank;
    from = at;
  }
  if (speaker >= 0) bytes[speaker] += text.size() - from;
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? -1 : most->first;
}

}  // namespace symmcts::launch
