#include "harness/launch/flood.hpp"

#include "harness/launch/environment.hpp"
#include "harness/launch/mpirun_report.hpp"
#include "harness/launch/watchdog.hpp"

namespace symmcts::launch {

Flood printed_too_much(const UnitRequest& request, const UnitCommands& commands,
                       const Report& report, int rank) {
  const auto index = static_cast<std::size_t>(report.command);
  const Command& command = commands.all[index];
  const bool out = report.value == 1;
  Flood flood;
  flood.name = command.name;
  flood.rank = rank;
  flood.what = "printed more than " + std::to_string(request.patience.output_limit) + " bytes on " +
               (out ? "stdout" : "stderr");
  if (request.launcher == Launcher::mpirun && commands.broker != index) {
    flood.rank = loudest_rank(out ? command.out : command.err);
    flood.name = flood.rank < 0 ? "a rank" : "rank " + std::to_string(flood.rank);
    flood.stands = false;
  }
  return flood;
}

std::optional<Flood> recorded_too_much(const UnitRequest& request, const RunDirectory& directory) {
  for (const Seat& seat : request.seats) {
    if (size_of(raw_evidence(directory, seat.rank)) <= request.patience.evidence_limit) continue;
    Flood flood;
    flood.name = "rank " + std::to_string(seat.rank);
    flood.rank = seat.rank;
    flood.what =
        "left more than " + std::to_string(request.patience.evidence_limit) + " bytes of evidence";
    return flood;
  }
  return std::nullopt;
}

}  // namespace symmcts::launch
