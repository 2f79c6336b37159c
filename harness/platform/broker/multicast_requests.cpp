// BrokerState: requests about multicast objects.
#include <algorithm>

#include "harness/platform/broker/broker_state.hpp"

namespace symmcts::platform {

BrokerState::Answer BrokerState::replicas(Request& request) {
  const auto object = request.fields.take<std::uint64_t>();
  const auto first = request.fields.take<std::uint64_t>();
  const std::vector<Replica>* bound = machine_.replicas(object);
  if (bound == nullptr) return {Code::invalid_value, 0, {}, {}};
  WireWriter fields;
  fields.put(machine_.binding_generation()).put(std::uint64_t{bound->size()});
  const std::uint64_t end = std::min<std::uint64_t>(bound->size(), first + kReplicasAPacket);
  for (std::uint64_t i = first; i < end; ++i) fields.put((*bound)[i]);
  return {Code::success, 0, fields.bytes(), {}};
}

bool BrokerState::handle_multicast(Op op, Request& request) {
  WireReader& in = request.fields;
  const ClientId client = request.client;
  switch (op) {
    case Op::multicast_create: {
      const auto devices = in.take<std::uint32_t>();
      const auto size = in.take<std::uint64_t>();
      const auto types = in.take<std::uint32_t>();
      HandleInfo info;
      const Code code = machine_.multicast_create(client, devices, size, types, info);
      reply(request, handle_answer(code, info));
      return true;
    }
    case Op::multicast_add_device: {
      const auto handle = in.take<std::uint64_t>();
      const auto gpu = in.take<std::int32_t>();
      const Code code = machine_.multicast_add_device(client, handle, gpu, request.now);
      reply(request, {code, request.now, {}, {}});
      return true;
    }
    case Op::multicast_bind: {
      const Ns now = request.now;
      const auto handle = in.take<std::uint64_t>();
      const auto mc_offset = in.take<std::uint64_t>();
      const auto allocation = in.take<std::uint64_t>();
      const auto mem_offset = in.take<std::uint64_t>();
      const auto size = in.take<std::uint64_t>();
      reply_or_park(request, handle, [=, this]() -> std::optional<Answer> {
        const TeamCall call =
            machine_.multicast_bind(client, handle, mc_offset, allocation, mem_offset, size, now);
        if (call.waits) return std::nullopt;
        return Answer{call.code, call.at, {}, {}};
      });
      return true;
    }
    case Op::multicast_unbind: {
      const auto handle = in.take<std::uint64_t>();
      const auto gpu = in.take<std::int32_t>();
      const auto mc_offset = in.take<std::uint64_t>();
      const auto size = in.take<std::uint64_t>();
      reply(request, {machine_.multicast_unbind(client, handle, gpu, mc_offset, size), 0, {}, {}});
      return true;
    }
    case Op::replicas:
      reply(request, replicas(request));
      return true;
    default:
      return false;
  }
}

}  // namespace symmcts::platform
