#include "harness/permit/driver_kind.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

// The build passes the paths of the fakes; see CMakeLists.txt.
namespace symmcts {
namespace {

// A library that stays open for one test.
class Opened {
 public:
  explicit Opened(const char* path, int flags = RTLD_LAZY | RTLD_LOCAL)
      : handle_(dlopen(path, flags)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Opened() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  void* multicast_create() const { return dlsym(handle_, "cuMulticastCreate"); }

 private:
  void* handle_;
};

TEST(DriverKind, NothingLoadedIsNone) {
  EXPECT_EQ(loaded_driver().kind, DriverKind::none);
  EXPECT_EQ(classify_driver(nullptr).kind, DriverKind::none);
}

TEST(DriverKind, MarkerMakesItSoftware) {
  Opened driver(FAKE_SOFTWARE_DRIVER);
  const LoadedDriver answer = classify_driver(driver.multicast_create());
  EXPECT_EQ(answer.kind, DriverKind::software);
  EXPECT_EQ(answer.path, FAKE_SOFTWARE_DRIVER);
}

TEST(DriverKind, WithoutMarkerItIsReal) {
  Opened driver(FAKE_REAL_DRIVER);
  const LoadedDriver answer = classify_driver(driver.multicast_create());
  EXPECT_EQ(answer.kind, DriverKind::real);
  EXPECT_EQ(answer.path, FAKE_REAL_DRIVER);
}

TEST(DriverKind, MarkerInAnotherLoadedObjectDoesNotHelp) {
  Opened platform(FAKE_SOFTWARE_DRIVER, RTLD_LAZY | RTLD_GLOBAL);
  Opened driver(FAKE_REAL_DRIVER);
  EXPECT_EQ(classify_driver(driver.multicast_create()).kind, DriverKind::real);
}

TEST(DriverKind, MarkerInADependencyDoesNotHelp) {
  Opened driver(FAKE_WRAPPING_DRIVER);  // real, linked against the software one
  ASSERT_NE(driver.multicast_create(), nullptr);
  EXPECT_EQ(classify_driver(driver.multicast_create()).kind, DriverKind::real);
}

TEST(DriverKind, AnAddressInNoObjectIsReal) {
  const int local = 0;
  EXPECT_EQ(classify_driver(&local).kind, DriverKind::real);
}

TEST(DriverKind, TheEnvironmentDoesNotDecide) {
  for (const char* name : {"SYMMCTS_PLATFORM", "SYMMCTS_EXPECT", "SYMMCTS_MACHINE"}) {
    setenv(name, "software", 1);
  }
  Opened driver(FAKE_REAL_DRIVER);
  EXPECT_EQ(classify_driver(driver.multicast_create()).kind, DriverKind::real);
  for (const char* name : {"SYMMCTS_PLATFORM", "SYMMCTS_EXPECT", "SYMMCTS_MACHINE"}) unsetenv(name);
}

// The fakes carry the soname libcuda.so.1, as the drivers do.
TEST(DriverKind, FindsADriverThatWasOpenedPrivately) {
  Opened driver(FAKE_SOFTWARE_DRIVER);
  EXPECT_EQ(loaded_driver().kind, DriverKind::software);
}

TEST(DriverKind, OneRealDriverAmongTwoIsReal) {
  Opened first(FAKE_REAL_DRIVER);  // answers to libcuda.so.1
  Opened second(FAKE_OTHER_SOFTWARE_DRIVER, RTLD_LAZY | RTLD_GLOBAL);
  EXPECT_EQ(loaded_driver().kind, DriverKind::real);
}

}  // namespace
}  // namespace symmcts
