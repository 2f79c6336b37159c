#include "harness/launch/listing.hpp"

#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "harness/launch/reaper.hpp"
#include "harness/permit/host_driver.hpp"
#include "harness/support/list_end.hpp"

namespace symmcts::launch {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// A list without its end has been cut: where it was to be kept there was no room.
Result<std::string> whole_list(std::string text, const RunDirectory& directory) {
  if (!text.ends_with(kListEnd)) {
    return Error{directory.path().parent_path().string() +
                 ": what the rank program lists could not be kept there whole: no space left?"};
  }
  text.resize(text.size() - kListEnd.size());
  return text;
}

// What a program has printed that has ended.
struct Answer {
  bool well = false;  // exit code 0
  std::string out, last_error;
};

// Runs a program of the request, under a reaper like everything else, until it ends.
Result<Answer> ask(const UnitRequest& request, const Variables& host, const RunDirectory& directory,
                   const std::vector<std::string>& argv) {
  Variables variables =
      child_environment(host, request, directory, find_real_driver_on_host().value_or("")).common;
  variables.erase("CUDA_INJECTION64_PATH");  // nothing happens that could be recorded
  Command command;
  command.name = std::filesystem::path(argv[0]).filename().string();
  command.argv = argv;
  command.env = flatten(variables);
  command.out = directory.host() / "out";
  command.err = directory.host() / "err";
  auto reaper = Reaper::start(directory, {command});
  if (!reaper) return Error{reaper.error()};
  reaper.value()->spawn(0);
  const auto deadline = Clock::now() + request.patience.start;
  while (!reaper.value()->lost() && Clock::now() < deadline) {
    const auto report = reaper.value()->wait(std::chrono::milliseconds(100));
    if (!report) continue;
    if (report->kind == Report::spawned && report->value < 0) {
      return Error{command.argv[0] + ": " + std::strerror(-report->value)};
    }
    if (report->kind != Report::exited) continue;
    Answer answer;
    answer.well = WIFEXITED(report->value) && WEXITSTATUS(report->value) == 0;
    answer.out = content_of(command.out);
    const std::vector<std::string> lines = split(content_of(command.err), '\n');
    if (!lines.empty()) answer.last_error = lines.back();
    return answer;
  }
  return Error{argv[0] + " " + argv[1] +
               (reaper.value()->lost() ? ": the reaper was killed" : " did not end")};
}

// What the rank program lists with `option`.
Result<std::string> list(const UnitRequest& request, const Variables& host,
                         const std::string& option) {
  const RunDirectory directory = RunDirectory::choose(request.scratch);
  const std::string program = request.programs.rank.string();
  const Result<Answer> answer = ask(request, host, directory, {program, option});
  if (!answer) return Error{answer.error()};
  if (answer.value().well) return whole_list(answer.value().out, directory);
  const std::string& why = answer.value().last_error;
  return Error{program + " " + option + " failed" + (why.empty() ? "" : ": " + why)};
}

}  // namespace

Result<std::vector<UnitName>> list_units(const UnitRequest& request, const Variables& host) {
  const Result<std::string> text = list(request, host, "--list");
  if (!text) return Error{text.error()};
  std::vector<UnitName> units;
  for (const std::string& line : split(text.value(), '\n')) {
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() != 2) return Error{"not a case: " + line};
    units.push_back({fields[0], split(fields[1], ',')});
  }
  return units;
}

Result<std::vector<ImplementationName>> list_implementations(const UnitRequest& request,
                                                             const Variables& host) {
  const Result<std::string> text = list(request, host, "--list-implementations");
  if (!text) return Error{text.error()};
  std::vector<ImplementationName> implementations;
  for (const std::string& line : split(text.value(), '\n')) {
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() != 5) return Error{"not an implementation: " + line};
    implementations.push_back({.name = fields[0],
                               .caught_by = fields[1],
                               .source = fields[2],
                               .summary = fields[4],
                               .needs = fields[3]});
  }
  return implementations;
}

Status check_scenario(const UnitRequest& request, const std::filesystem::path& file,
                      const Variables& host) {
  const RunDirectory directory = RunDirectory::choose(request.scratch);
  const Result<Answer> answer = ask(request, host, directory,
                                    {request.programs.broker.string(), "--check", "--profile",
                                     request.platform, "--scenario", file.string()});
  if (!answer) return Error{answer.error()};
  if (answer.value().well) return {};
  std::string why = answer.value().last_error;
  constexpr std::string_view kSpeaker = "symmcts-broker: ";
  if (why.starts_with(kSpeaker)) why.erase(0, kSpeaker.size());
  return Error{why.empty() ? file.string() + ": the broker cannot read it" : why};
}

}  // namespace symmcts::launch
