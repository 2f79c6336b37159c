#include "team_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "machine.hpp"

namespace symmcts::test {
namespace {

// The device's context, current for a scope.
class Current {
 public:
  explicit Current(CUcontext context) { (void)cuCtxPushCurrent(context); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    CUcontext popped = nullptr;
    (void)cuCtxPopCurrent(&popped);
  }
};

}  // namespace

std::unique_ptr<symm_mem::Team> TeamRank::open() {
  auto team = symm_mem::Team::open(exchange_, options_);
  if (!ok(team.status(), "open")) return nullptr;
  return team.take();
}

symm_mem::Status TeamRank::try_open() {
  auto team = symm_mem::Team::open(exchange_, options_);
  return team ? team.value()->close() : team.status();
}

std::unique_ptr<symm_mem::Block> TeamRank::block(symm_mem::Team& team, std::size_t bytes) {
  auto block = team.make_block(bytes);
  if (!ok(block.status(), "make_block")) return nullptr;
  return block.take();
}

bool TeamRank::ok(const symm_mem::Status& status, const std::string& text) {
  return rank_.expect(static_cast<bool>(status),
                      text + ": " + (status ? std::string() : status.error().line()));
}

void TeamRank::fails_with(const symm_mem::Status& status,
                          std::initializer_list<const char*> words) {
  const std::string line = status ? "success" : status.error().line();
  for (const char* word : words) {
    expect(!status && line.find(word) != std::string::npos,
           "'" + std::string(word) + "' is not in: " + line);
  }
}

void TeamRank::meet() {
  const std::uint64_t tag = (std::uint64_t{0x7e57} << 48) | meetings_++;
  for (int rank = 0; rank < size(); ++rank) (void)exchange_.send(rank, tag, {});
  symm_mem::Bytes message;
  for (int rank = 0; rank < size(); ++rank) {
    (void)exchange_.receive(rank, tag, message, std::chrono::seconds(100));
  }
}

CUdeviceptr TeamRank::bytes_of(std::uint8_t value, std::size_t bytes) {
  const CUdeviceptr made = rank_.make_source(bytes);
  set(made, value, bytes);
  return made;
}

void TeamRank::set(CUdeviceptr at, std::uint8_t value, std::size_t bytes) {
  const Current current(rank_.context().context);
  rank_.expect(cuMemsetD8Async(at, value, bytes, stream()), "cuMemsetD8Async");
}

void TeamRank::holds(CUdeviceptr at, std::uint8_t value, std::size_t bytes,
                     const std::string& what) {
  const std::vector<std::byte> got = rank_.read(at, bytes);
  const auto wrong = std::find_if(got.begin(), got.end(), [value](std::byte each) {
    return each != static_cast<std::byte>(value);
  });
  expect(wrong == got.end(),
         what + ": byte " + std::to_string(wrong - got.begin()) + " of " + std::to_string(bytes) +
             " is " + std::to_string(wrong == got.end() ? 0 : std::to_integer<int>(*wrong)) +
             " instead of " + std::to_string(value));
}

CUgraphExec TeamRank::capture(const std::function<void()>& body) {
  const Current current(rank_.context().context);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  rank_.expect(cuStreamBeginCapture(stream(), CU_STREAM_CAPTURE_MODE_GLOBAL), "begin capture");
  body();
  rank_.expect(cuStreamEndCapture(stream(), &graph), "end capture");
  if (graph == nullptr) return nullptr;
  rank_.expect(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  rank_.expect(cuGraphDestroy(graph), "cuGraphDestroy");
  return exec;
}

void TeamRank::launch(CUgraphExec graph) {
  const Current current(rank_.context().context);
  rank_.expect(cuGraphLaunch(graph, stream()), "cuGraphLaunch");
}

Complaints run_team(int ranks, RankSetup setup, const std::function<void(TeamRank&)>& body) {
  const symm_mem::test::TemporaryDirectory directory;
  setup.directory = directory.path();
  if (!setup.scenario.empty()) {
    const std::string path = directory.path() + "/scenario.toml";
    std::ofstream(path) << setup.scenario;
    setup.scenario = path;
  }
  Machine machine(directory.path(), setup.platform, setup.scenario, ranks);
  EXPECT_TRUE(machine.running());
  return symm_mem::test::run_ranks_in(directory.path(), ranks,
                                      [&](symm_mem::Exchange& exchange, Complaints& complaints) {
                                        PlatformRank platform(exchange, setup, complaints);
                                        if (!platform.started()) return;
                                        TeamRank rank(platform, exchange);
                                        symm_mem::TeamOptions& options = rank.options();
                                        options.device = platform.context().device;
                                        options.context = platform.context().context;
                                        options.root = setup.root;
                                        options.on_phase = platform.context().on_phase;
                                        if (setup.permit)
                                          options.permit = symm_mem::MulticastPermit::granted;
                                        if (setup.handle_types != 0)
                                          options.allowed_routes = setup.handle_types;
                                        body(rank);
                                      });
}

}  // namespace symmcts::test
