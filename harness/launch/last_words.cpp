#include "harness/launch/last_words.hpp"

#include <fstream>

#include "harness/launch/environment.hpp"

namespace symmcts::launch {
namespace {

constexpr std::size_t kLongestLine = 300;
constexpr long long kTail = 8192;  // of a stderr, where its last words are looked for

std::string last_line(const std::filesystem::path& file, const std::string& tag,
                      const std::string& word) {
  std::ifstream in(file);
  in.seekg(0, std::ios::end);
  const auto size = static_cast<long long>(in.tellg());
  in.seekg(size > kTail ? size - kTail : 0);
  std::string line, last;
  while (std::getline(in, line)) {
    auto at = line.find(tag);
    if (at != std::string::npos) at = line.find(word, at + tag.size());
    if (at == std::string::npos) continue;
    line.erase(0, at + word.size());
    if (line.find_first_not_of(" \t\r-=") != std::string::npos) last = line;
  }
  return last;
}

}  // namespace

std::filesystem::path stderr_of(const Program& program, const RunDirectory& directory) {
  const std::string file =
      program.rank < 0 ? program.name : raw_evidence(directory, program.rank).stem().string();
  return directory.host() / (file + ".err");
}

std::string last_words(const Program& program, const RunDirectory& directory, int rank,
                       const std::string& word) {
  const std::filesystem::path file = stderr_of(program, directory);
  // As mpirun --tag-output puts it before what a rank has printed: "[1,0]<stderr>:".
  std::string tag;
  if (program.name == kLauncherName) {
    tag = (rank < 0 ? std::string() : "," + std::to_string(rank) + "]") + "<stderr>:";
  }
  std::string last = last_line(file, tag, word);
  if (last.empty() && rank < 0) last = last_line(file, {}, word);  // the launcher's own
  const std::string folder = directory.path().string();
  for (auto at = last.find(folder); at != std::string::npos; at = last.find(folder)) {
    last.replace(at, folder.size(), "<run>");
  }
  return last.substr(0, kLongestLine);
}

std::string with_last_words(const std::string& text, const Program& program,
                            const RunDirectory& directory, int rank) {
  const std::string words = last_words(program, directory, rank);
  return words.empty() ? text : text + ": " + words;
}

}  // namespace symmcts::launch
