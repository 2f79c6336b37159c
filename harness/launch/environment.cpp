#include "harness/launch/environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "harness/launch/commands.hpp"
#include "harness/permit/environment.hpp"

namespace symmcts::launch {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// What a job that we are part of by chance, or an earlier supervisor, would tell our children.
bool belongs_to_another_job(std::string_view name) {
  for (const std::string_view prefix :
       {"SYMMCTS_", "OMPI_COMM_", "OMPI_UNIVERSE", "OMPI_APP_", "OMPI_FILE_", "OMPI_FIRST_",
        "OMPI_NUM_", "OMPI_ARGV", "OMPI_COMMAND", "PMIX_", "PMI_", "PRTE_"}) {
    if (starts_with(name, prefix)) return true;
  }
  return false;
}

void prepend_path(Variables& variables, const std::string& name, const std::string& value) {
  std::string& path = variables[name];
  path = path.empty() ? value : value + ":" + path;
}

// Keeps every file of Open MPI (session folders, shared-memory segments, which go to /dev/shm by
// default) inside the run directory, allows what containers and two-core machines need, and keeps
// to the transports of one host, so that no network library makes files of its own. The variables
// are those of Open MPI 4 (ompi_info) and, for PMIx and PRRTE, of Open MPI 5.
void confine_mpi(Variables& variables, const RunDirectory& directory) {
  const std::string folder = directory.mpi().string();
  for (const char* name :
       {"OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_opal_tmpdir_base", "PRTE_MCA_prte_tmpdir_base",
        "PMIX_SYSTEM_TMPDIR", "PMIX_SERVER_TMPDIR", "OMPI_MCA_btl_vader_backing_directory",
        "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_shmem_mmap_backing_file_base_dir",
        "OMPI_MCA_osc_sm_backing_directory"}) {
    variables[name] = folder;
  }
  variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
  variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  variables["OMPI_MCA_rmaps_base_oversubscribe"] = "1";
  variables["OMPI_MCA_mpi_yield_when_idle"] = "1";
  variables.emplace("OMPI_MCA_pml", "ob1");
  variables.emplace("OMPI_MCA_btl", "self,vader");
}

void treat_disabling_variables(ChildEnvironment& env, const UnitRequest& request,
                               const std::string& real_driver) {
  bool forbidden = false;
  for (const DisableVariable& variable : kDisableVariables) {
    const auto at = env.common.find(std::string(variable.name));
    if (at == env.common.end()) continue;
    forbidden |= forbids_multicast(variable, at->second);
    if (request.software && real_driver.empty()) {
      env.removed.push_back(at->first + "=" + at->second);
      env.common.erase(at);
    }
  }
  if (request.software) return;
  if (request.allow_multicast && !forbidden) {
    env.common["SYMMCTS_PERMIT"] = "1";
    return;
  }
  for (const DisableVariable& variable : kDisableVariables) {
    env.common[std::string(variable.name)] = variable.value;
    env.set.push_back(std::string(variable.name) + "=" + std::string(variable.value));
  }
}

}  // namespace

Variables read_environment() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<std::filesystem::path> find_scratch(const Variables& host) {
  const auto at = host.find("TMPDIR");
  const bool told = at != host.end() && !at->second.empty();
  const std::string name = told ? at->second : "/tmp";
  const std::string subject = told ? "TMPDIR=" + name : "TMPDIR is not set, and " + name;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(name, error).lexically_normal();
  if (error) return Error{subject + ": " + error.message()};
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Error{subject + ": " + std::strerror(errno)};
  if (!S_ISDIR(status.st_mode)) return Error{subject + ": is no folder"};
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    return Error{subject + ": cannot be written: " + std::strerror(errno)};
  }
  if (path.native().size() > RunDirectory::longest_base()) {
    return Error{subject + ": is " + std::to_string(path.native().size()) +
                 " bytes long; the sockets of a run leave it " +
                 std::to_string(RunDirectory::longest_base())};
  }
  return path;
}

ChildEnvironment child_environment(const Variables& host, const UnitRequest& request,
                                   const RunDirectory& directory, const std::string& real_driver) {
  ChildEnvironment env;
  env.common = host;
  std::erase_if(env.common, [](const auto& entry) { return belongs_to_another_job(entry.first); });
  treat_disabling_variables(env, request, real_driver);

  Variables& common = env.common;
  common["TMPDIR"] = directory.tmp().string();
  common["SYMMCTS_RUN"] = run_name(request);
  common["SYMMCTS_RUN_DIR"] = directory.path().string();
  common["SYMMCTS_SEED"] = std::to_string(request.seed);
  common["SYMMCTS_SIZE"] = std::to_string(request.seats.size());
  common["SYMMCTS_EXPECT"] = request.software ? "software" : "real";
  common["CUDA_INJECTION64_PATH"] = request.programs.recorder.string();
  if (request.software) {
    common["SYMMCTS_PLATFORM"] = request.platform;
    common["SYMMCTS_MACHINE"] = directory.socket().string();
    common["SYMMCTS_SCENARIO"] = request.scenario.string();
    common["SYMMCTS_BROKER"] = request.programs.broker.string();
    common["SYMMCTS_PROFILES"] = request.programs.profiles.string();
    prepend_path(common, "LD_LIBRARY_PATH", request.programs.platform.string());
    // The mask of the host's own GPUs says nothing about virtual ones.
    common.erase("CUDA_VISIBLE_DEVICES");
  }
  if (request.launcher == Launcher::mpirun) confine_mpi(common, directory);
  return env;
}

Variables rank_variables(const UnitRequest& request, const RunDirectory& directory,
                         const Seat& seat, bool with_rank) {
  Variables variables;
  if (with_rank) variables["SYMMCTS_RANK"] = std::to_string(seat.rank);
  variables["SYMMCTS_EVIDENCE"] = raw_evidence(directory, seat.rank).string();
  if (request.software) variables["SYMMCTS_HOST"] = std::to_string(seat.host);
  if (!seat.visible.empty()) variables["CUDA_VISIBLE_DEVICES"] = seat.visible;
  return variables;
}

std::filesystem::path raw_evidence(const RunDirectory& directory, int rank) {
  char name[32];
  std::snprintf(name, sizeof(name), "rank-%06d.jsonl", rank);
  return directory.raw() / name;
}

std::vector<std::string> flatten(const Variables& variables) {
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

}  // namespace symmcts::launch
