#include "harness/platform/broker/machine_view.hpp"

#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/protocol.hpp"
#include "harness/platform/broker/rendezvous_point.hpp"
#include "harness/platform/broker/wire.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

Result<std::optional<MachineView>> look_at_machine(const std::string& socket, int host) {
  if (socket.empty()) return std::optional<MachineView>();
  auto broker = connect_to(socket);
  if (!broker) return Error{broker.error()};
  if (!broker.value()) return std::optional<MachineView>();
  WireWriter question;
  question.put(Op::look).put(std::uint32_t{1}).put(Ns{0});
  question.put(kProtocolVersion).put(std::int32_t{host});
  Packet answer;
  if (send_packet(broker.value().get(), question.bytes(), -1, true) != IoResult::done ||
      receive_packet(broker.value().get(), answer, true) != IoResult::done) {
    return std::optional<MachineView>();  // it was about to end
  }
  WireReader in(answer.bytes);
  in.take<ToClient>();
  in.take<std::uint32_t>();
  const auto code = in.take<Code>();
  in.take<Ns>();
  if (in.ok() && code != Code::success) {
    return Error{"the broker at '" + socket + "': " + in.take_text()};
  }
  MachineView view;
  view.seed = in.take<std::uint64_t>();
  view.profile_text = in.take_text();
  view.profile_name = in.take_text();
  view.confidential_computing = in.take<std::uint8_t>() != 0;
  view.fabric_manager = in.take<FabricManager>();
  for (auto gpus = in.take<std::uint32_t>(); gpus > 0 && in.ok(); --gpus) {
    view.memory_used.push_back(in.take<std::uint64_t>());
  }
  if (!in.done()) {
    return Error{"the broker at '" + socket + "' speaks another version of the protocol"};
  }
  return std::optional<MachineView>(std::move(view));
}

}  // namespace symmcts::platform
