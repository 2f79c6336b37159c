#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/launch/environment.hpp"
#include "harness/launch/request.hpp"

namespace symmcts::launch::testing {

// A folder of the test's own that is gone with it.
class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/launch-test-XXXXXX";
    path_ = mkdtemp(name);
    std::filesystem::create_directories(tmp());
    std::filesystem::create_directories(out());
  }
  ~Scratch() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::filesystem::path path() const { return path_; }
  std::filesystem::path tmp() const { return path_ / "t"; }    // TMPDIR of the supervisor
  std::filesystem::path out() const { return path_ / "out"; }  // output folder
  std::string read(const std::filesystem::path& file) const {
    std::ifstream in(path_ / file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path path_;
};

// Two stand-in ranks, with the stand-in broker.
inline UnitRequest request_for(const Scratch& scratch, const std::string& unit, Launcher launcher) {
  UnitRequest request;
  request.programs.rank = STAND_IN;
  request.programs.broker = STAND_IN;
  request.platform = "gb200-nvl2";
  request.launcher = launcher;
  request.seats = {{0, 0, 0, ""}, {1, 0, 1, ""}};
  request.implementation = "stand-in";
  request.unit = unit;
  request.ids = {"SM-DATA-1"};
  request.out = scratch.out();
  request.scratch = scratch.tmp();
  return request;
}

inline Variables environment_for(const Scratch& scratch) {
  Variables variables = read_environment();
  variables["TMPDIR"] = scratch.tmp().string();
  return variables;
}

}  // namespace symmcts::launch::testing
