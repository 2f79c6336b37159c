// BrokerState: what processes tell about their device work, and the races in it.
#include <algorithm>
#include <variant>

#include "harness/platform/broker/broker_state.hpp"
#include "harness/platform/broker/race_wire.hpp"

namespace symmcts::platform {

bool BrokerState::handle_races(Op op, Request& request) {
  if (op != Op::races) return false;
  WireReader& in = request.fields;
  while (in.ok() && !in.at_end()) {
    auto record = take_race_record(in);
    if (!in.ok()) return false;
    const auto* host = std::get_if<RaceHost>(&record);
    if (host != nullptr && host->kind == RaceHost::Kind::stopped) stopped_.insert(request.client);
    std::visit([&](auto& each) { races_.add(request.client, std::move(each)); }, record);
  }
  if (races_.waiting() > RaceChecker::kMostWaiting) find_races();
  if (request.id == 0) return true;
  // Whoever is last waits for the answer, so that a program's races are told before it has ended.
  const bool all = attached_ >= setup_.expected_clients &&
                   std::all_of(clients_.begin(), clients_.end(),
                               [&](ClientId client) { return stopped_.contains(client); });
  if (all) find_races();
  reply(request, {});
  return true;
}

void BrokerState::find_races() {
  races_.comparable(quiescence_.deterministic());
  races_.run();
  for (const Race& race : races_.book().take_new()) outlet_.raced(race);
}

void BrokerState::end() {
  if (!setup_.race_check) return;
  find_races();
  outlet_.races_checked({races_.accesses(), races_.whole()});
}

}  // namespace symmcts::platform
