#include <sys/syscall.h>
#include <unistd.h>

#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/protocol.hpp"
#include "harness/platform/broker/socket_client.hpp"
#include "harness/platform/broker/spawn_broker.hpp"

namespace symmcts::platform {
namespace {

// A broker that was about to end when we connected never answers; the next one will.
constexpr int kAttempts = 100;

enum class Hello { welcomed, refused, nobody };

struct Greeting {
  Hello result = Hello::nobody;
  Packet packet;  // the reply
};

Greeting greet(int socket, const JoinOptions& options) {
  WireWriter hello;
  hello.put(Op::hello).put(std::uint32_t{1}).put(Ns{0}).put(kProtocolVersion);
  hello.put(std::int32_t{options.rank}).put(std::int32_t{options.host});
  hello.put(std::uint8_t{options.managed});
  Greeting greeting;
  // A socket that a forked child still holds does not tell of this process's end; this does.
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (send_packet(socket, hello.bytes(), process.get(), true) != IoResult::done ||
      receive_packet(socket, greeting.packet, true) != IoResult::done) {
    return greeting;
  }
  WireReader in(greeting.packet.bytes);
  in.take<ToClient>();
  in.take<std::uint32_t>();
  greeting.result = in.take<Code>() == Code::success && in.ok() ? Hello::welcomed : Hello::refused;
  return greeting;
}

std::string where(const JoinOptions& options) {
  return options.machine.empty() ? "the private broker" : "the broker at '" + options.machine + "'";
}

Result<std::unique_ptr<Client>> enter(UniqueFd socket, const JoinOptions& options,
                                      Greeting greeting) {
  WireReader in(greeting.packet.bytes);
  in.take<ToClient>();
  in.take<std::uint32_t>();
  in.take<Code>();
  in.take<Ns>();
  if (greeting.result == Hello::refused) {
    return Error{where(options) + " refused this process: " + in.take_text()};
  }
  const auto welcome = in.take<Welcome>();
  MachineInfo machine;
  machine.profile_text = in.take_text();
  machine.profile_name = in.take_text();
  machine.scenario_text = in.take_text();
  machine.seed = welcome.seed;
  machine.race_check = welcome.race_check != 0;
  machine.rank = welcome.rank;
  machine.host = welcome.host;
  machine.first_gpu = welcome.first_gpu;
  machine.gpu_count = welcome.gpu_count;
  machine.confidential_computing = welcome.confidential_computing != 0;
  if (!in.done()) return Error{where(options) + " speaks another version of the protocol"};
  auto page = SeenPage::open(std::move(greeting.packet.fd));
  if (!page) return Error{page.error()};
  return std::unique_ptr<Client>(
      std::make_unique<SocketClient>(std::move(socket), std::move(machine), welcome.has_holds != 0,
                                     options.managed, std::move(page.value())));
}

}  // namespace

Result<std::unique_ptr<Client>> Client::join(const JoinOptions& options) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto socket = reach_broker(options);
    if (!socket) return Error{socket.error()};
    Greeting greeting = greet(socket.value().get(), options);
    if (greeting.result == Hello::nobody) continue;
    return enter(std::move(socket.value()), options, std::move(greeting));
  }
  return Error{where(options) + " ends each time before it answers"};
}

}  // namespace symmcts::platform
