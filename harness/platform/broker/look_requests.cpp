// BrokerState: those who look at the machine and do not take part.
#include "harness/platform/broker/broker_state.hpp"

namespace symmcts::platform {

std::optional<Bytes> BrokerState::look(const Packet& question) const {
  WireReader fields(question.bytes);
  const PacketHead head = take_head(fields);
  if (head.op != Op::look) return std::nullopt;
  const auto version = fields.take<std::uint32_t>();
  const auto host = fields.take<std::int32_t>();
  WireWriter answer;
  answer.put(ToClient::reply).put(head.request);
  const auto refuse = [&](const std::string& why) {
    return answer.put(Code::invalid_value).put(Ns{0}).put_text(why).bytes();
  };
  if (!fields.done() || version != kProtocolVersion) {
    return refuse("protocol version " + std::to_string(version) + " instead of " +
                  std::to_string(kProtocolVersion));
  }
  if (host < 0 || host >= setup_.profile.hosts.value) {
    return refuse("no host " + std::to_string(host) + " on a machine of " +
                  std::to_string(setup_.profile.hosts.value));
  }
  answer.put(Code::success).put(Ns{0}).put(setup_.seed);
  answer.put_text(setup_.profile_text).put_text(setup_.profile.name);
  answer.put(std::uint8_t{setup_.scenario.faults.confidential_computing});
  answer.put(setup_.scenario.faults.fabric_manager);
  const int gpus = setup_.profile.gpus_per_host.value;
  answer.put(static_cast<std::uint32_t>(gpus));
  for (int gpu = host * gpus; gpu < (host + 1) * gpus; ++gpu) answer.put(machine_.memory_used(gpu));
  return answer.bytes();
}

}  // namespace symmcts::platform
