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

// Runs the rank program with one option, under a reaper like everything else; its stdout.
Result<std::string> ask(const UnitRequest& request, const Variables& host,
                        const std::string& option) {
  const RunDirectory directory = RunDirectory::choose(request.scratch);
  Variables variables =
      child_environment(host, request, directory, find_real_driver_on_host().value_or("")).common;
  variables.erase("CUDA_INJECTION64_PATH");  // nothing happens that could be recorded
  Command command;
  command.name = request.programs.rank.filename().string();
  command.argv = {request.programs.rank.string(), option};
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
    if (WIFEXITED(report->value) && WEXITSTATUS(report->value) == 0) {
      return whole_list(content_of(command.out), directory);
    }
    const std::vector<std::string> lines = split(content_of(command.err), '\n');
    return Error{command.argv[0] + " " + option + " failed" +
                 (lines.empty() ? "" : ": " + lines.back())};
  }
  return Error{command.argv[0] + " " + option +
               (reaper.value()->lost() ? ": the reaper was killed" : " did not end")};
}

}  // namespace

Result<std::vector<UnitName>> list_units(const UnitRequest& request, const Variables& host) {
  const Result<std::string> text = ask(request, host, "--list");
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
  const Result<std::string> text = ask(request, host, "--list-implementations");
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

}  // namespace symmcts::launch
