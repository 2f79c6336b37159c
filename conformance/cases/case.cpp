#include "conformance/cases/case.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

#include <exception>

#include "conformance/cases/device.hpp"

namespace symmcts::cases {
namespace {

// What keeps this rank from running the case, or "".
std::string obstacle(const Case& which, const Bench& bench) {
  if (bench.size() < which.min_ranks) {
    return "needs " + std::to_string(which.min_ranks) + " ranks, the job has " +
           std::to_string(bench.size());
  }
  if (!which.multicast) return "";
  if (!bench.permit().granted) return bench.permit().reason;
  int supported = 0;
  const CUresult result =
      cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, bench.device());
  if (result != CUDA_SUCCESS) return failure_of(result, "cuDeviceGetAttribute");
  return supported != 0 ? "" : "the device does not support multicast";
}

class CaseTest : public ::testing::Test {
 public:
  CaseTest(const Case& which, Bench& bench) : case_(which), bench_(bench) {}

  void TestBody() override {
    bench_.marks().case_begin();
    if (bench_.agree_to_run(obstacle(case_, bench_))) run_body();
    bench_.marks().flush();
    // Without it the unit has no verdict: that is how an error shows.
    if (bench_.error().empty()) {
      bench_.marks().case_end();
      bench_.end();
    }
    if (!bench_.skipped().empty()) GTEST_SKIP() << bench_.skipped();
  }

 private:
  void run_body() {
    try {
      case_.body(bench_);
    } catch (const std::exception& error) {
      bench_.threw(error.what());
    } catch (...) {
      bench_.threw("something that is no std::exception");
    }
  }

  const Case& case_;
  Bench& bench_;
};

}  // namespace

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> list;
    for (const std::span<const Case> area : {provenance_cases(), copy_kind_cases(), overlap_cases(),
                                             lifetime_cases(), data_cases(), group_cases()}) {
      list.insert(list.end(), area.begin(), area.end());
    }
    return list;
  }();
  return cases;
}

const Case* find_case(std::string_view unit) {
  for (const Case& each : all_cases()) {
    if (each.unit() == unit) return &each;
  }
  return nullptr;
}

void register_case(const Case& which, Bench& bench) {
  ::testing::RegisterTest(
      std::string(which.area).c_str(), std::string(which.name).c_str(), nullptr, nullptr, __FILE__,
      __LINE__, [&which, &bench]() -> ::testing::Test* { return new CaseTest(which, bench); });
}

}  // namespace symmcts::cases
