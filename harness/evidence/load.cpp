#include "harness/evidence/load.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/evidence/file_bytes.hpp"
#include "harness/evidence/json_lines.hpp"
#include "harness/evidence/kineto_reader.hpp"

namespace symmcts::evidence {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMachineFile = "machine.jsonl";

bool is_rank_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.rfind("rank-", 0) == 0 && path.extension() == ".jsonl";
}

// The entries of a folder, sorted; empty where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    out.push_back(at->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<RankEvidence> load_rank_file(const std::string& path) {
  const Result<FileBytes> file = read_file(path);
  if (!file) {
    return Error{file.error()};
  }
  const FileBytes& content = file.value();
  if (looks_like_rank_lines(content.bytes)) {
    return read_rank_lines(path, content.bytes);
  }
  Result<RankEvidence> rank = read_kineto(path, content.bytes, content.cut_off);
  if (rank && rank.value().header.rank < 0) {
    rank.value().header.rank = rank_of_file_name(path);
  }
  return rank;
}

// Where a recorder finds the file of its rank taken it writes "FILE.2", "FILE.3", ...: of another
// process of that rank, or of a later run. Judging the first alone would pass it off for all.
Status no_successor(const fs::path& file, const std::vector<std::string>& given) {
  const fs::path next = file.string() + ".2";
  std::error_code error;
  if (!fs::exists(next, error) ||
      std::find(given.begin(), given.end(), next.string()) != given.end()) {
    return {};
  }
  return Error{next.string() + ": is of the same rank as " + file.string() +
               ", by another process or a later run; move away the one that is not meant"};
}

std::string quoted(const std::string& text) { return text.empty() ? "none" : "'" + text + "'"; }

// What the files of one run have in common. Nothing where `a` and `b` agree; else what differs.
std::string difference(const Header& a, const Header& b) {
  const auto seed = [](const Header& header) {
    return header.seed ? std::to_string(*header.seed) : "none";
  };
  const auto differ = [](const char* what, const std::string& mine, const std::string& other) {
    return std::string(what) + " is " + mine + ", there it is " + other;
  };
  // Every other difference is one of this: what a profiler has written says less.
  if (a.clock != b.clock) return differ("clock", quoted(a.clock), quoted(b.clock));
  if (a.world != b.world && a.world >= 0 && b.world >= 0) {
    return differ("world", std::to_string(a.world), std::to_string(b.world));
  }
  if (a.clock == kProfilerClock) return {};
  if (a.run != b.run) return differ("run", quoted(a.run), quoted(b.run));
  if (a.seed != b.seed) return differ("seed", seed(a), seed(b));
  if (a.platform != b.platform) return differ("platform", quoted(a.platform), quoted(b.platform));
  if (a.driver != b.driver) return differ("driver", quoted(a.driver), quoted(b.driver));
  return {};
}

// Adds a rank; refuses a second file of the same one, and one of another run.
Status add_rank(EvidenceSet& set, RankEvidence rank) {
  if (rank.rank() < 0) {
    return Error{rank.file + ": does not say which rank it is; give --rank " + rank.file + "=N"};
  }
  for (const RankEvidence& other : set.ranks) {
    if (other.rank() == rank.rank()) {
      return Error{rank.file + ": is rank " + std::to_string(rank.rank()) + " like " + other.file +
                   "; give --rank FILE=N"};
    }
    if (const std::string what = difference(rank.header, other.header); !what.empty()) {
      return Error{rank.file + ":1: not of the run of " + other.file + ": its " + what};
    }
  }
  set.world = std::max(set.world, rank.header.world);
  set.ranks.push_back(std::move(rank));
  return {};
}

Status add_machine(EvidenceSet& set, const std::string& path) {
  if (!set.machine.file.empty()) {
    return Error{path + ": of another unit than " + set.machine.file};
  }
  const Result<FileBytes> file = read_file(path);
  if (!file) {
    return Error{file.error()};
  }
  Result<MachineEvidence> machine = read_machine_lines(path, file.value().bytes);
  if (!machine) {
    return Error{machine.error()};
  }
  set.machine = std::move(machine.value());
  return {};
}

// The machine's file against the ranks': what they say of the run is the same.
Status check_run(const EvidenceSet& set) {
  for (const UnitEnd& unit : set.machine.units) {
    for (const RankEvidence& rank : set.ranks) {
      if (unit.run != rank.header.run) {
        return Error{set.machine.file + ": not of the run of " + rank.file + ": its run is " +
                     quoted(unit.run) + ", there it is " + quoted(rank.header.run)};
      }
    }
  }
  return {};
}

// Adds what lies in a unit folder. False, without an error, where nothing does.
Result<bool> add_folder(EvidenceSet& set, const fs::path& folder) {
  bool found = false;
  for (const fs::path& path : entries(folder)) {
    if (is_rank_file(path)) {
      if (const Status alone = no_successor(path, {}); !alone) {
        return Error{alone.error()};
      }
      Result<RankEvidence> rank = load_rank_file(path.string());
      if (!rank) {
        return Error{rank.error()};
      }
      if (const Status status = add_rank(set, std::move(rank.value())); !status) {
        return Error{status.error()};
      }
      found = true;
    } else if (path.filename() == kMachineFile) {
      if (const Status status = add_machine(set, path.string()); !status) {
        return Error{status.error()};
      }
      found = true;
    }
  }
  return found;
}

// What is left to do when all files have been read.
Status complete(EvidenceSet& set) {
  std::sort(set.ranks.begin(), set.ranks.end(),
            [](const RankEvidence& a, const RankEvidence& b) { return a.rank() < b.rank(); });
  return check_run(set);
}

}  // namespace

Result<EvidenceSet> load(const std::vector<std::string>& paths, const LoadOptions& options) {
  for (const auto& [path, rank] : options.rank_of) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
      return Error{path + ": named by --rank but not among the files"};
    }
  }
  EvidenceSet set;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      const Result<bool> found = add_folder(set, path);
      if (!found) {
        return Error{found.error()};
      }
      if (!found.value()) {
        return Error{
            path +
            ": a folder without rank-*.jsonl files (those of a case of `symmcts run` lie in " +
            "OUT/evidence/CASE)"};
      }
      continue;
    }
    if (fs::path(path).filename() == kMachineFile) {
      if (const Status status = add_machine(set, path); !status) {
        return Error{status.error()};
      }
      continue;
    }
    if (const Status alone = no_successor(path, paths); !alone) {
      return Error{alone.error()};
    }
    Result<RankEvidence> rank = load_rank_file(path);
    if (!rank) {
      return Error{rank.error()};
    }
    if (const auto given = options.rank_of.find(path); given != options.rank_of.end()) {
      rank.value().header.rank = given->second;
    }
    if (const Status status = add_rank(set, std::move(rank.value())); !status) {
      return Error{status.error()};
    }
  }
  if (const Status status = complete(set); !status) {
    return Error{status.error()};
  }
  return set;
}

Result<EvidenceSet> load_unit(const std::string& folder) {
  EvidenceSet set;
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();
  }
  set.unit = path.filename().string();
  const Result<bool> found = add_folder(set, path);
  if (!found) {
    return Error{found.error()};
  }
  if (!found.value()) {
    return Error{folder + ": holds no evidence"};
  }
  if (const Status status = complete(set); !status) {
    return Error{status.error()};
  }
  return set;
}

Result<std::vector<EvidenceSet>> load_units(const std::string& folder) {
  std::vector<EvidenceSet> units;
  for (const fs::path& path : entries(folder)) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      continue;
    }
    Result<EvidenceSet> unit = load_unit(path.string());
    if (!unit) {
      return Error{unit.error()};
    }
    units.push_back(std::move(unit.value()));
  }
  if (units.empty()) {
    return Error{folder + ": holds no units"};
  }
  return units;
}

}  // namespace symmcts::evidence
