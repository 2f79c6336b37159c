// symmcts-broker: owns the state of one virtual machine until its last client has gone.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <string>

#include "harness/platform/broker/detach.hpp"
#include "harness/platform/broker/environment.hpp"
#include "harness/platform/broker/server.hpp"
#include "harness/platform/model/profile_lookup.hpp"
#include "harness/support/printable.hpp"
#include "harness/support/whole_number.hpp"

namespace {

using namespace symmcts;
using namespace symmcts::platform;

struct Arguments {
  std::string socket, profile, scenario, report;
  std::uint64_t seed = 0;
  int expected_clients = 0;
  int client_fd = -1, ready_fd = -1;
  bool stay = false, detach = false, check = false, no_race_check = false;
};

Result<BrokerState::Setup> read_setup(const Arguments& arguments) {
  BrokerState::Setup setup;
  setup.seed = arguments.seed;
  setup.expected_clients = arguments.expected_clients;
  setup.race_check = !arguments.no_race_check;
  auto profile = load_profile(arguments.profile, profile_folders());
  if (!profile) return Error{profile.error()};
  setup.profile = std::move(profile.value().profile);
  setup.profile_text = std::move(profile.value().text);
  // It travels to every client in one packet.
  if (setup.profile_text.size() > kMaxPacket / 2) {
    return Error{profile.value().path + ": longer than " + std::to_string(kMaxPacket / 2) +
                 " bytes"};
  }
  if (arguments.scenario.empty()) return setup;
  auto text = read_text_file(arguments.scenario);
  if (!text) return Error{text.error()};
  auto scenario = parse_scenario(text.value().text, arguments.scenario);
  if (!scenario) return Error{scenario.error()};
  setup.scenario_text = text.value().text;
  if (setup.profile_text.size() + setup.scenario_text.size() > kMaxPacket / 2) {
    return Error{arguments.scenario + ": longer than " +
                 std::to_string(kMaxPacket / 2 - setup.profile_text.size()) + " bytes"};
  }
  setup.scenario = std::move(scenario.value());
  return setup;
}

Result<std::unique_ptr<Server>> start(const Arguments& arguments) {
  auto setup = read_setup(arguments);
  if (!setup) return Error{setup.error()};
  Server::Options options;
  options.client.reset(arguments.client_fd);
  options.report_path = arguments.report;
  options.expected_clients = arguments.expected_clients;
  options.stay = arguments.stay;
  options.started_by_client = arguments.ready_fd >= 0;
  if (!arguments.socket.empty()) {
    // A client that starts its broker holds the lock for it.
    std::optional<SocketLock> lock;
    if (arguments.ready_fd < 0) {
      auto taken = SocketLock::take(arguments.socket, true);
      if (!taken) return Error{taken.error()};
      lock.emplace(std::move(*taken.value()));
    }
    auto listening = ListeningSocket::bind(arguments.socket);
    if (!listening) return Error{listening.error()};
    options.listening.emplace(std::move(listening.value()));
  }
  return Server::make(std::move(options), std::move(setup.value()));
}

// Every exported descriptor and every allocation takes one descriptor here.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void block_ending_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
}

// Whether profile and scenario are in order.
int check(const Arguments& arguments) {
  const auto setup = read_setup(arguments);
  if (!setup) std::fprintf(stderr, "symmcts-broker: %s\n", printable(setup.error()).c_str());
  return setup ? 0 : 2;
}

int serve(const Arguments& arguments) {
  block_ending_signals();
  raise_descriptor_limit();
  UniqueFd ready(arguments.ready_fd);
  auto server = start(arguments);
  // The client that started this process reads nothing (well) or one line (why not).
  if (!server) {
    const std::string line = printable(server.error()) + "\n";
    if (!ready) {
      std::fprintf(stderr, "symmcts-broker: %s", line.c_str());
    } else if (::write(ready.get(), line.data(), line.size()) < 0) {
      return 2;
    }
    return 2;
  }
  if (ready && ::write(ready.get(), "\n", 1) < 0) return 2;
  ready.reset();
  return server.value()->run();
}

// CLI11 would wrap a negative number. Returns what is wrong; empty: nothing.
std::string seed_problem(const std::string& text) {
  std::uint64_t seed = 0;
  const Status read =
      read_whole_number("--seed", text, seed, std::numeric_limits<std::uint64_t>::max(), seed);
  return read ? std::string() : read.error();
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"The process that owns the state of one virtual machine.", "symmcts-broker"};
  app.add_option("--socket", arguments.socket, "where clients connect; removed at the end");
  app.add_option("--profile", arguments.profile, "platform profile, by name or path")->required();
  app.add_option("--scenario", arguments.scenario, "file with holds and faults");
  app.add_option("--seed", arguments.seed, "seed of the machine")->check(seed_problem);
  app.add_option("--report", arguments.report,
                 "file that takes deadlocks, misuse and races, a line each");
  app.add_option("--expect-clients", arguments.expected_clients,
                 "clients that will come; those not here yet count as running")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--no-race-check", arguments.no_race_check, "do not look for races");
  app.add_flag("--stay", arguments.stay, "do not end with the last client");
  app.add_flag("--check", arguments.check, "read profile and scenario, serve nobody");
  // How a client starts a broker of its own; no business of people.
  app.add_option("--client-fd", arguments.client_fd)->group("");
  app.add_option("--ready-fd", arguments.ready_fd)->group("");
  app.add_flag("--detach", arguments.detach)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "symmcts-broker: %s\n", printable(error.what()).c_str());
    return 2;
  }
  if (arguments.check) return check(arguments);
  if (arguments.socket.empty() == (arguments.client_fd < 0)) {
    std::fprintf(stderr, "symmcts-broker: --socket is required\n");
    return 2;
  }
  if (arguments.detach && !detach_from_caller({arguments.client_fd, arguments.ready_fd})) return 2;
  return serve(arguments);
}
