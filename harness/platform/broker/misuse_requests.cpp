// BrokerState: what processes report of themselves.
#include "harness/platform/broker/broker_state.hpp"

namespace symmcts::platform {

bool BrokerState::handle_misuse(Op op, Request& request) {
  if (op != Op::misuse) return false;
  WireReader& in = request.fields;
  Misuse misuse;
  misuse.at = in.take<Ns>();
  misuse.count = in.take<std::uint64_t>();
  misuse.kind = in.take_text();
  misuse.what = in.take_text();
  misuse.call = in.take_text();
  if (in.done()) outlet_.misused(rank_of(request.client), misuse);
  return true;
}

}  // namespace symmcts::platform
