#include "harness/launch/collector.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/evidence/canonical.hpp"
#include "harness/launch/watchdog.hpp"

namespace symmcts::launch {
namespace fs = std::filesystem;
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t kKeptOutput = 1u << 20;  // of what one program printed

// Copies a text file, only its beginning if it is long.
void copy_head(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return;
  std::string text(std::min<std::uint64_t>(size_of(from), kKeptOutput), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::ofstream out(to, std::ios::binary);
  out << text;
  if (size_of(from) > kKeptOutput) {
    out << "\n[symmcts: the first " << kKeptOutput << " of " << size_of(from) << " bytes]\n";
  }
}

void write_host_record(const fs::path& folder, const RunDirectory& directory,
                       const ChildEnvironment& environment, const UnitResult& result) {
  json record = {{"unit", result.unit},
                 {"end", end_name(result.end)},
                 {"text", result.text},
                 {"run_directory", directory.path().string()},
                 {"removed_variables", environment.removed},
                 {"set_variables", environment.set}};
  record["programs"] = json::array();
  for (const Program& program : result.programs) {
    json entry = {{"name", program.name}, {"pid", program.pid}};
    entry["end"] = program.ended ? describe(program.exit) : "was ended by the supervisor";
    record["programs"].push_back(entry);
  }
  std::ofstream(folder / "unit.json")
      << record.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace

std::string folder_of(const std::string& unit) {
  std::string folder = unit;
  std::replace(folder.begin(), folder.end(), '/', '_');
  return folder;
}

Status collect(const UnitRequest& request, const RunDirectory& directory,
               const ChildEnvironment& environment, const Hang* hang, UnitResult& result) {
  const fs::path evidence = request.out / "evidence" / folder_of(request.unit);
  const fs::path host = request.out / "host" / folder_of(request.unit);
  std::error_code error;
  for (const fs::path& folder : {evidence, host}) {
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (error) return Error{"cannot create " + folder.string() + ": " + error.message()};
  }
  for (fs::directory_iterator it(directory.host(), error), end; !error && it != end; ++it) {
    copy_head(it->path(), host / it->path().filename());
  }
  for (const Seat& seat : request.seats) {
    const fs::path raw = raw_evidence(directory, seat.rank);
    if (!fs::exists(raw, error) || size_of(raw) == 0) continue;
    const Status done = evidence::canonicalize(raw.string(), (evidence / raw.filename()).string());
    if (done) continue;
    copy_head(raw, host / raw.filename());
    // Of a rank that crashed or hung no more can be asked; of one that is done, it can.
    if (result.end == End::done) {
      result.end = End::error;
      result.text = "rank " + std::to_string(seat.rank) + ": " + done.error();
    }
  }
  write_host_record(host, directory, environment, result);
  return write_machine_log(evidence / "machine.jsonl", result, hang,
                           other_lines(directory.report()));
}

}  // namespace symmcts::launch
