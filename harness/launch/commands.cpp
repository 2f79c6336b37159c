#include "harness/launch/commands.hpp"

#include <string>

namespace symmcts::launch {
namespace {

std::vector<std::string> rank_argv(const UnitRequest& request) {
  std::vector<std::string> argv{request.programs.rank.string(), "--impl", request.implementation,
                                "--exchange"};
  argv.push_back(request.launcher == Launcher::mpirun ? "mpi" : "unix");
  argv.insert(argv.end(), {"--unit", request.unit});
  if (request.root_ordinal != 0) {
    argv.insert(argv.end(), {"--root-ordinal", std::to_string(request.root_ordinal)});
  }
  if (request.one_visible_gpu) argv.push_back("--one-visible-gpu");
  argv.insert(argv.end(), request.rank_args.begin(), request.rank_args.end());
  return argv;
}

Command named(const UnitRequest& request, const RunDirectory& directory, const std::string& name,
              const std::string& file) {
  Command command;
  command.name = name;
  command.output_limit = request.patience.output_limit;
  command.out = directory.host() / (file + ".out");
  command.err = directory.host() / (file + ".err");
  return command;
}

Command broker_command(const UnitRequest& request, const RunDirectory& directory,
                       const Variables& common) {
  Command command = named(request, directory, "broker", "broker");
  command.argv = {request.programs.broker.string(),
                  "--socket",
                  directory.socket().string(),
                  "--profile",
                  request.platform,
                  "--seed",
                  std::to_string(request.seed),
                  "--report",
                  directory.report().string(),
                  "--expect-clients",
                  std::to_string(request.seats.size()),
                  "--stay"};
  if (!request.race_check) command.argv.emplace_back("--no-race-check");
  if (!request.scenario.empty()) {
    command.argv.insert(command.argv.end(), {"--scenario", request.scenario.string()});
  }
  command.env = flatten(common);
  return command;
}

// One application context a rank, and env(1) in front of the rank: Open MPI's own ways to set
// variables apply to all contexts.
Command mpirun_command(const UnitRequest& request, const RunDirectory& directory,
                       const Variables& common) {
  Command command = named(request, directory, "mpirun", "mpirun");
  command.argv = {request.programs.mpirun, "--tag-output", "--bind-to", "none"};
  command.argv.insert(command.argv.end(), request.launch_args.begin(), request.launch_args.end());
  const std::vector<std::string> rank = rank_argv(request);
  for (const Seat& seat : request.seats) {
    if (seat.rank != 0) command.argv.push_back(":");
    command.argv.insert(command.argv.end(), {"-np", "1", "env"});
    for (const std::string& variable : flatten(rank_variables(request, directory, seat, false))) {
      command.argv.push_back(variable);
    }
    command.argv.insert(command.argv.end(), rank.begin(), rank.end());
  }
  command.env = flatten(common);
  return command;
}

}  // namespace

UnitCommands unit_commands(const UnitRequest& request, const RunDirectory& directory,
                           const Variables& common) {
  UnitCommands commands;
  if (request.software) {
    commands.broker = commands.all.size();
    commands.all.push_back(broker_command(request, directory, common));
  }
  if (request.launcher == Launcher::mpirun) {
    commands.launched.push_back(commands.all.size());
    commands.all.push_back(mpirun_command(request, directory, common));
    return commands;
  }
  for (const Seat& seat : request.seats) {
    const std::string file = raw_evidence(directory, seat.rank).stem().string();
    Command command = named(request, directory, "rank " + std::to_string(seat.rank), file);
    command.argv = rank_argv(request);
    Variables variables = rank_variables(request, directory, seat, true);
    variables.insert(common.begin(), common.end());
    command.env = flatten(variables);
    commands.launched.push_back(commands.all.size());
    commands.all.push_back(std::move(command));
  }
  return commands;
}

std::string run_name(const UnitRequest& request) {
  const std::vector<std::string> argv = rank_argv(request);
  std::string name;
  for (std::size_t i = 1; i < argv.size(); ++i) name += (i == 1 ? "" : " ") + argv[i];
  if (!request.scenario.empty()) name += " --scenario " + request.scenario.stem().string();
  return name;
}

}  // namespace symmcts::launch
