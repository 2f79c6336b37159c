#include "harness/permit/host_driver.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace symmcts {
namespace {

class HostDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "symmcts-host-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& content = "") {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary) << content;
  }

  std::string root_;
};

TEST_F(HostDriver, AnEmptyHostHasNone) { EXPECT_EQ(find_real_driver_on_host(root_), std::nullopt); }

TEST_F(HostDriver, EveryTraceCounts) {
  for (const char* path : {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/nvidia0",
                           "/sys/module/nvidia/version", "/dev/dxg",
                           "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1"}) {
    std::filesystem::remove_all(root_);
    put(path);
    EXPECT_NE(find_real_driver_on_host(root_), std::nullopt) << path;
  }
}

TEST_F(HostDriver, ADanglingDriverLinkCounts) {
  std::filesystem::create_directories(root_ + "/usr/lib64");
  std::filesystem::create_symlink("libcuda.so.580", root_ + "/usr/lib64/libcuda.so.1");
  EXPECT_NE(find_real_driver_on_host(root_), std::nullopt);
}

TEST_F(HostDriver, TheLinkerCacheCounts) {
  put("/etc/ld.so.cache", std::string("glibc-ld.so.cache1.1\0/opt/nv/libcuda.so.1\0", 42));
  EXPECT_EQ(find_real_driver_on_host(root_), "/etc/ld.so.cache (libcuda.so.1)");
}

TEST_F(HostDriver, TheRuntimeLibraryIsNoDriver) {
  put("/etc/ld.so.cache", "/usr/local/cuda/lib64/libcudart.so.13");
  put("/usr/lib/x86_64-linux-gnu/libcudart.so.13");
  EXPECT_EQ(find_real_driver_on_host(root_), std::nullopt);
}

}  // namespace
}  // namespace symmcts
