// The memory lines of two programs that were run on two H200 (hardware/h200-x2/
// errors-latency-sizes.txt and provenance-and-overlap.txt), made again by the same calls on the
// profile hgx-h200, and compared line by line. Times and handle values are left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "harness/platform/process/measured_worlds.hpp"
#include "harness/platform/process/memory.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kMiB = 1 << 20;

std::string name_of(Code code) {
  switch (code) {
    case Code::success:
      return "CUDA_SUCCESS";
    case Code::invalid_value:
      return "CUDA_ERROR_INVALID_VALUE";
    case Code::not_supported:
      return "CUDA_ERROR_NOT_SUPPORTED";
    case Code::not_permitted:
      return "CUDA_ERROR_NOT_PERMITTED";
    case Code::unknown:
      return "CUDA_ERROR_UNKNOWN";
    default:
      return std::to_string(static_cast<int>(code));
  }
}

// One process of the measured host.
struct Rank {
  Rank(World& world, const Profile& profile, int rank, std::vector<int> visible)
      : client(world.join(rank)),
        memory(Memory::make(*client, profile, clock, std::move(visible))) {}

  AppHandle create(int ordinal, std::uint64_t size, std::uint32_t types) {
    AppHandle out = 0;
    EXPECT_EQ(memory->create(ordinal, size, types, out), Code::success);
    return out;
  }
  AppHandle import(int fd) {
    AppHandle out = 0;
    EXPECT_EQ(memory->import_fd(fd, out), Code::success);
    return out;
  }
  std::uint64_t map(AppHandle handle, std::uint64_t size, int ordinal) {
    std::uint64_t out = 0;
    EXPECT_EQ(memory->reserve(size, 0, 0, out), Code::success);
    EXPECT_EQ(memory->map(out, size, 0, handle), Code::success);
    EXPECT_EQ(memory->set_access(out, size, {{ordinal, 3}}), Code::success);
    return out;
  }

  LocalClock clock;
  std::unique_ptr<Client> client;
  std::unique_ptr<Memory> memory;
};

class MeasuredMemory : public ::testing::TestWithParam<WorldFactory> {
 protected:
  void SetUp() override {
    std::ifstream file(SYMMCTS_HGX_H200);
    std::stringstream text;
    text << file.rdbuf();
    auto parsed = parse_profile(text.str(), SYMMCTS_HGX_H200);
    ASSERT_TRUE(parsed) << parsed.error();
    profile_ = parsed.value();
    world_ = GetParam().make(profile_, SYMMCTS_HGX_H200);
    ASSERT_NE(world_, nullptr);
  }

  Profile profile_;
  std::unique_ptr<World> world_;
};

TEST_P(MeasuredMemory, ErrorsOfMisuse) {
  Rank r(*world_, profile_, 0, {0, 1});
  Memory& m = *r.memory;
  std::vector<std::string> lines;
  const auto say = [&](const std::string& what, Code code, const std::string& more = "") {
    lines.push_back(what + ": " + name_of(code) + more);
  };

  const std::uint64_t size = 64 * kMiB;
  const AppHandle native = r.create(0, size, kHandlePosixFd);
  int fd = -1;
  ASSERT_EQ(m.export_fd(native, fd), Code::success);
  const AppHandle self = r.import(fd);
  const std::uint64_t p = r.map(self, size, 0);
  std::uint64_t q = 0;
  say("map over mapped", m.map(p, size, 0, self));
  ASSERT_EQ(m.reserve(size, 0, 0, q), Code::success);
  say("map unaligned size", m.map(q, size / 2 + 4096, 0, self));
  say("map bigger than alloc", m.map(q, size * 2, 0, self));
  say("map with offset", m.map(q, size / 2, size / 2, self));

  AppHandle none = 0;
  int wrong = -1;
  say("create unaligned", m.create(0, size + 4096, kHandlePosixFd, none));
  say("import bad fd", m.import_fd(9999, none));
  // The program handed over what open() gave, and that was 0: a null pointer to the driver.
  say("import non-cuda fd 0", m.import_fd(0, none));
  std::array<std::uint8_t, 64> fabric{};
  say("export fabric of posix alloc", m.export_fabric(native, fabric));
  const AppHandle plain = r.create(0, size, 0);
  say("export of NONE alloc", m.export_fd(plain, wrong));
  say("re-export of imported handle", m.export_fd(self, wrong));
  say("release native (import+map alive)", m.release(native));
  const Code filled = m.fill_bytes(p, 1, 1, size);
  lines.push_back(std::string("memset via import mapping after native release ") +
                  (filled == Code::success ? "ok" : name_of(filled)));
  AppHandle later = 0;
  say("import fd after native release", m.import_fd(fd, later));

  say("partial unmap", m.unmap(p, size / 2));
  say("free VA while mapped", m.free_reservation(p, size));
  AppHandle retained = 0;
  const Code retain = m.retain(p + 4096, retained);
  say("retain interior", retain, retained == self ? " same=1" : " same=0");
  close(fd);

  say("cuMemCreate FABRIC", m.create(0, size, kHandleFabric, none));
  lines.push_back("gran min " + std::to_string(profile_.granularity.value) + " rec " +
                  std::to_string(profile_.granularity_recommended.value));

  EXPECT_THAT(
      lines,
      ElementsAre(
          "map over mapped: CUDA_ERROR_INVALID_VALUE",
          "map unaligned size: CUDA_ERROR_NOT_SUPPORTED",
          "map bigger than alloc: CUDA_ERROR_NOT_SUPPORTED",
          "map with offset: CUDA_ERROR_NOT_SUPPORTED", "create unaligned: CUDA_ERROR_INVALID_VALUE",
          "import bad fd: CUDA_ERROR_UNKNOWN", "import non-cuda fd 0: CUDA_ERROR_INVALID_VALUE",
          "export fabric of posix alloc: CUDA_ERROR_INVALID_VALUE",
          "export of NONE alloc: CUDA_ERROR_INVALID_VALUE",
          "re-export of imported handle: CUDA_ERROR_INVALID_VALUE",
          "release native (import+map alive): CUDA_SUCCESS",
          "memset via import mapping after native release ok",
          "import fd after native release: CUDA_SUCCESS", "partial unmap: CUDA_ERROR_INVALID_VALUE",
          "free VA while mapped: CUDA_ERROR_INVALID_VALUE", "retain interior: CUDA_SUCCESS same=1",
          "cuMemCreate FABRIC: CUDA_ERROR_NOT_PERMITTED", "gran min 2097152 rec 2097152"));
}

// What the program prints of one rank; `peer` is the descriptor that came from the other one.
std::vector<std::string> provenance(Rank& r, int ordinal, int own, AppHandle native, int peer) {
  const std::uint64_t size = 256 * kMiB;
  Memory& m = *r.memory;
  std::vector<std::string> lines;
  const AppHandle self = r.import(own), other = r.import(peer);
  const auto prop = [&](const std::string& name, AppHandle handle) {
    HandleInfo info;
    const Code code = m.info(handle, info);
    lines.push_back("prop " + name + " r=" + std::to_string(static_cast<int>(code)) +
                    " ht=" + std::to_string(info.handle_types));
  };
  prop("native", native);
  prop("selfimp", self);
  prop("peer", other);

  std::uint64_t plain = 0;
  EXPECT_EQ(m.alloc_device(ordinal, size, plain), Code::success);
  const std::uint64_t on_self = r.map(self, size, ordinal);
  const auto ptr = [&](const std::string& name, std::uint64_t address) {
    const AddressInfo info = m.resolve(address);
    lines.push_back("ptr " + name + " ordinal=" + std::to_string(info.ordinal) +
                    " memory=" + std::to_string(info.kind == AddressInfo::Kind::memory) +
                    " mapped=" + std::to_string(info.mapping_size != 0) +
                    " handles=" + std::to_string(info.allowed_handle_types));
  };
  ptr("1_plain", plain);
  ptr("2_native", r.map(native, size, ordinal));
  ptr("3_selfimport", on_self);
  ptr("4_peerimport", r.map(other, size, ordinal));

  AppHandle retained = 0;
  const Code code = m.retain(on_self, retained);
  lines.push_back("retain(selfimport map) r=" + std::to_string(static_cast<int>(code)) +
                  (retained == self     ? " selfimp"
                   : retained == native ? " native"
                                        : " other"));
  return lines;
}

std::vector<std::string> measured(int own, int peer) {
  const std::string o = std::to_string(own), p = std::to_string(peer);
  return {"prop native r=0 ht=1",
          "prop selfimp r=0 ht=0",
          "prop peer r=0 ht=0",
          "ptr 1_plain ordinal=" + o + " memory=1 mapped=1 handles=0",
          "ptr 2_native ordinal=" + o + " memory=1 mapped=1 handles=1",
          "ptr 3_selfimport ordinal=" + o + " memory=1 mapped=1 handles=0",
          "ptr 4_peerimport ordinal=" + p + " memory=1 mapped=1 handles=0",
          "retain(selfimport map) r=0 selfimp"};
}

TEST_P(MeasuredMemory, ProvenanceThroughHandlesAndMappings) {
  // As `ordinal=rank`, then as `remap`: CUDA_VISIBLE_DEVICES=1,0 on the second rank.
  for (const bool remap : {false, true}) {
    Rank r0(*world_, profile_, remap ? 2 : 0, {0, 1});
    Rank r1(*world_, profile_, remap ? 3 : 1, remap ? std::vector{1, 0} : std::vector{0, 1});
    const int ordinal1 = remap ? 0 : 1;
    const AppHandle n0 = r0.create(0, 256 * kMiB, kHandlePosixFd);
    const AppHandle n1 = r1.create(ordinal1, 256 * kMiB, kHandlePosixFd);
    int fd0 = -1, fd1 = -1;
    ASSERT_EQ(r0.memory->export_fd(n0, fd0), Code::success);
    ASSERT_EQ(r1.memory->export_fd(n1, fd1), Code::success);
    EXPECT_EQ(provenance(r0, 0, fd0, n0, fd1), measured(0, 1));
    EXPECT_EQ(provenance(r1, ordinal1, fd1, n1, fd0), remap ? measured(0, 1) : measured(1, 0));
    close(fd0);
    close(fd1);
  }
}

INSTANTIATE_TEST_SUITE_P(On, MeasuredMemory, ::testing::ValuesIn(measured_worlds()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace symmcts::platform
