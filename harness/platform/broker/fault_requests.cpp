// BrokerState: faults of the scenario that have befallen a rank.
#include <algorithm>

#include "harness/platform/broker/broker_state.hpp"

namespace symmcts::platform {

// The rank waits for the answer before it is killed or stopped: then the line is written, and one
// that is about to stand still keeps nobody from moving.
bool BrokerState::handle_faults(Op op, Request& request) {
  if (op != Op::befallen) return false;
  WireReader& in = request.fields;
  const auto number = in.take<std::uint64_t>();
  const std::string entry = in.take_text();
  const auto& faults = setup_.scenario.rank_faults;
  const auto fault = std::find_if(faults.begin(), faults.end(),
                                  [&](const RankFault& each) { return each.entry == entry; });
  if (fault == faults.end() || !in.done()) return false;
  outlet_.befallen(*fault, number, request.now);
  if (fault->kind == RankFault::Kind::stop) quiescence_.stopped(request.client);
  reply(request, {Code::success, request.now, {}, {}});
  return true;
}

}  // namespace symmcts::platform
