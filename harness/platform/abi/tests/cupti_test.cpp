// libcupti.so.13: versions, names, subscribing, callbacks, ids, refusals.
#include "harness/platform/abi/tests/cupti_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

TEST_F(Cupti, VersionAndNames) {
  std::uint32_t version = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetVersion)(&version));
  EXPECT_EQ(version, static_cast<std::uint32_t>(CUPTI_API_VERSION));
  EXPECT_GE(version, 130000U);
  const char* name = nullptr;
  const auto name_of = CUPTI(cuptiGetCallbackName);
  EXPECT_CUPTI(name_of(CUPTI_CB_DOMAIN_DRIVER_API, 706, &name));
  EXPECT_STREQ(name, "cuMulticastCreate");
  EXPECT_CUPTI(name_of(CUPTI_CB_DOMAIN_DRIVER_API, 281, &name));
  EXPECT_STREQ(name, "cuMemcpyDtoDAsync_v2");
  EXPECT_CUPTI(name_of(CUPTI_CB_DOMAIN_RUNTIME_API, 41, &name));
  EXPECT_STREQ(name, "cudaMemcpyAsync_v3020");
  EXPECT_EQ(name_of(CUPTI_CB_DOMAIN_DRIVER_API, 100000, &name), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_CUPTI(CUPTI(cuptiGetResultString)(CUPTI_ERROR_INVALID_KIND, &name));
  EXPECT_STREQ(name, "CUPTI_ERROR_INVALID_KIND");
}

TEST_F(Cupti, OneSubscriberAndItsName) {
  CUpti_SubscriberHandle second = nullptr;
  EXPECT_EQ(CUPTI(cuptiSubscribe)(&second, on_callback, nullptr),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_CUPTI(CUPTI(cuptiUnsubscribe)(subscriber_));
  EXPECT_EQ(CUPTI(cuptiUnsubscribe)(subscriber_), CUPTI_ERROR_INVALID_PARAMETER);
  CUpti_SubscriberParams params{};
  params.structSize = sizeof params;
  params.subscriberName = "the first";
  EXPECT_CUPTI(CUPTI(cuptiSubscribe_v2)(&second, on_callback, nullptr, &params));
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
  CUpti_SubscriberParams other{};
  other.structSize = sizeof other;
  other.subscriberName = "the other";
  other.oldSubscriberName = holder;
  EXPECT_EQ(CUPTI(cuptiSubscribe_v2)(&second, on_callback, nullptr, &other),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_STREQ(holder, "CUPTI for the first");
}

TEST_F(Cupti, CallbacksComeInPairs) {
  EXPECT_CUPTI(CUPTI(cuptiEnableDomain)(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API));
  some_work();
  CUdevice device = -1;
  EXPECT_EQ(CU(cuDeviceGet)(&device, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUPTI(CUPTI(cuptiEnableDomain)(0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API));
  const std::size_t count = seen.size();
  ASSERT_GT(count, 30U);
  ASSERT_EQ(count % 2, 0U);
  std::vector<CUdeviceptr> destinations;
  for (std::size_t i = 0; i < count; i += 2) {
    const Seen &enter = seen[i], &exit = seen[i + 1];
    EXPECT_EQ(enter.site, CUPTI_API_ENTER) << enter.name;
    EXPECT_EQ(exit.site, CUPTI_API_EXIT) << exit.name;
    EXPECT_EQ(enter.cbid, exit.cbid);
    EXPECT_EQ(enter.correlation, exit.correlation);
    EXPECT_EQ(exit.carried, 1000U + enter.correlation) << "correlationData survives the call";
    EXPECT_GT(exit.time, enter.time) << enter.name << ": each call costs virtual time";
    EXPECT_EQ(exit.context, context(0));
    const char* name = nullptr;
    EXPECT_CUPTI(CUPTI(cuptiGetCallbackName)(CUPTI_CB_DOMAIN_DRIVER_API, enter.cbid, &name));
    EXPECT_EQ(name, enter.name);
    if (enter.destination != 0) destinations.push_back(enter.destination);
    const CUresult expected = i + 2 == count ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
    EXPECT_EQ(exit.result, expected) << enter.name;
  }
  EXPECT_EQ(destinations, written_) << "the parameters are readable in the callback";
  CU(cuDeviceGet)(&device, 0);
  EXPECT_EQ(seen.size(), count) << "switched off";
}

TEST_F(Cupti, OneCallbackAlone) {
  const auto enable = CUPTI(cuptiEnableCallback);
  EXPECT_CUPTI(
      enable(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemCreate));
  std::uint32_t on = 0, off = 1;
  EXPECT_CUPTI(CUPTI(cuptiGetCallbackState)(&on, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemCreate));
  EXPECT_CUPTI(CUPTI(cuptiGetCallbackState)(&off, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemMap));
  EXPECT_EQ(on, 1U);
  EXPECT_EQ(off, 0U);
  some_work();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].name, "cuMemCreate");
  EXPECT_EQ(enable(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, 0), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(enable(1, nullptr, CUPTI_CB_DOMAIN_DRIVER_API, 1), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(enable(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, 1), CUPTI_ERROR_NOT_SUPPORTED)
      << "accepted and never raised would be a lie";
}

TEST_F(Cupti, IdsOfContextsAndDevices) {
  std::uint32_t first = 0, second = 0, device = 9;
  EXPECT_CUPTI(CUPTI(cuptiGetContextId)(context(0), &first));
  EXPECT_CUPTI(CUPTI(cuptiGetContextId)(context(1), &second));
  EXPECT_NE(first, second);
  EXPECT_CUPTI(CUPTI(cuptiGetDeviceId)(context(1), &device));
  EXPECT_EQ(device, 1U);
  EXPECT_EQ(CUPTI(cuptiGetContextId)(reinterpret_cast<CUcontext>(16), &first),
            CUPTI_ERROR_INVALID_CONTEXT);
  std::uint32_t legacy = 0, own = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetStreamId)(context(0), nullptr, &legacy));
  EXPECT_CUPTI(CUPTI(cuptiGetStreamIdEx)(context(0), nullptr, 1, &own));
  EXPECT_NE(legacy, own);
  EXPECT_EQ(legacy, 7U) << "the default stream's id in real traces";
}

TEST_F(Cupti, RefusesWhatIsNotModelled) {
  EXPECT_EQ(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_PCIE), CUPTI_ERROR_INVALID_KIND);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(CUPTI(cuptiActivityFlushPeriod)(10), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(CUPTI(cuptiActivityFlushPeriod)(10), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "symm-cts platform (CUPTI): cuptiActivityFlushPeriod is not modelled\n");
  std::size_t value = 1 << 20, size = sizeof value, got = 0;
  EXPECT_CUPTI(
      CUPTI(cuptiActivitySetAttribute)(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
  EXPECT_CUPTI(
      CUPTI(cuptiActivityGetAttribute)(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &got));
  EXPECT_EQ(got, value);
  EXPECT_EQ(CUPTI(cuptiActivitySetAttribute)(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
                                             &value),
            CUPTI_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace symmcts::platform::abi::test
