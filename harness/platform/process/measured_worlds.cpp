#include "harness/platform/process/measured_worlds.hpp"

#include <utility>

#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform {
namespace {

class ModelWorld final : public World {
 public:
  explicit ModelWorld(const Profile& profile) : machine_(profile, 1) {}
  std::unique_ptr<Client> join(int rank) override {
    return std::make_unique<LocalClient>(machine_, rank);
  }

 private:
  LocalMachine machine_;
};

// Clients of one process, each with a connection of its own.
class BrokerWorld final : public World {
 public:
  explicit BrokerWorld(std::string profile) : profile_(std::move(profile)) {}
  std::unique_ptr<Client> join(int rank) override {
    JoinOptions options = test::options_for(folder_.file("machine"), rank);
    options.profile = profile_;
    return test::join(options);
  }

 private:
  test::TempFolder folder_;
  std::string profile_;
};

}  // namespace

std::vector<WorldFactory> measured_worlds() {
  return {{"Model",
           [](const Profile& profile, const std::string&) -> std::unique_ptr<World> {
             return std::make_unique<ModelWorld>(profile);
           }},
          {"Broker", [](const Profile&, const std::string& path) -> std::unique_ptr<World> {
             return std::make_unique<BrokerWorld>(path);
           }}};
}

}  // namespace symmcts::platform
