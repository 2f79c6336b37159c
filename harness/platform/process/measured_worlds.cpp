#include "harness/platform/process/measured_worlds.hpp"

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

}  // namespace

std::vector<WorldFactory> measured_worlds() {
  return {{"Model", [](const Profile& profile) -> std::unique_ptr<World> {
             return std::make_unique<ModelWorld>(profile);
           }}};
}

}  // namespace symmcts::platform
