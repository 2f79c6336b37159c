#include "harness/recorder/cupti_api.hpp"

#include <dlfcn.h>

#include <string>

namespace symmcts::recorder {
namespace {

constexpr const char* kSoname = "libcupti.so.13";
constexpr unsigned kMajor = 13;  // CUPTI_API_VERSION is 10000 × major + minor: 130001

void* open_cupti(const LoadedDriver& driver) {
  if (driver.kind == DriverKind::software) {
    const std::size_t slash = driver.path.rfind('/');
    if (slash != std::string::npos) {
      const std::string beside = driver.path.substr(0, slash + 1) + kSoname;
      if (void* handle = dlopen(beside.c_str(), RTLD_LAZY)) return handle;
    }
  }
  if (void* handle = dlopen(kSoname, RTLD_LAZY | RTLD_NOLOAD)) return handle;
  return dlopen(kSoname, RTLD_LAZY);
}

// Looks up one function and remembers the first one that is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <typename Function>
  void required(Function& function, const char* name) {
    optional(function, name);
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  template <typename Function>
  void optional(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

}  // namespace

const char* CuptiApi::describe(CUptiResult result) const {
  const char* text = nullptr;
  if (get_result_string == nullptr || get_result_string(result, &text) != CUPTI_SUCCESS ||
      text == nullptr) {
    return "unknown error";
  }
  return text;
}

Result<CuptiApi> load_cupti(const LoadedDriver& driver) {
  void* library = open_cupti(driver);
  if (library == nullptr) {
    const char* why = dlerror();
    return Error{std::string("cannot load CUPTI: ") + (why != nullptr ? why : kSoname)};
  }
  CuptiApi api;
  Finder find(library);
  find.required(api.get_version, "cuptiGetVersion");
  find.required(api.subscribe, "cuptiSubscribe");
  find.optional(api.subscribe_v2, "cuptiSubscribe_v2");
  find.required(api.enable_callback, "cuptiEnableCallback");
  find.optional(api.enable_domain, "cuptiEnableDomain");
  find.optional(api.get_callback_name, "cuptiGetCallbackName");
  find.required(api.get_timestamp, "cuptiGetTimestamp");
  find.optional(api.get_result_string, "cuptiGetResultString");
  find.required(api.activity_enable, "cuptiActivityEnable");
  find.required(api.activity_register_callbacks, "cuptiActivityRegisterCallbacks");
  find.required(api.activity_get_next_record, "cuptiActivityGetNextRecord");
  find.required(api.activity_flush_all, "cuptiActivityFlushAll");
  find.optional(api.activity_get_dropped, "cuptiActivityGetNumDroppedRecords");
  if (find.missing() != nullptr) {
    return Error{std::string(kSoname) + " has no " + find.missing()};
  }
  return api;
}

Status check_cupti_version(const CuptiApi& api, std::uint32_t& version) {
  const CUptiResult result = api.get_version(&version);
  if (result != CUPTI_SUCCESS) {
    return Error{std::string("cuptiGetVersion: ") + api.describe(result)};
  }
  if (version / 10000 != kMajor) {
    return Error{"CUPTI version " + std::to_string(version) + " is not 13.x"};
  }
  return {};
}

}  // namespace symmcts::recorder
