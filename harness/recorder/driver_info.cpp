#include "harness/recorder/driver_info.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <vector>

#include "harness/platform/abi/symmcts_platform.h"
#include "harness/recorder/json.hpp"

namespace symmcts::recorder {
namespace {

constexpr const char* kRecorderVersion = SYMMCTS_VERSION;

// The driver's own functions, by lookup in its object: the program's symbols may be interposed.
class Driver {
 public:
  explicit Driver(const LoadedDriver& driver)
      : object_(dlopen(driver.path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {}
  ~Driver() {
    if (object_ != nullptr) dlclose(object_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  template <typename Function>
  Function* find(const char* name) const {
    return object_ != nullptr ? reinterpret_cast<Function*>(dlsym(object_, name)) : nullptr;
  }

 private:
  void* object_;
};

std::string platform_info(const Driver& driver) {
  const auto info = driver.find<decltype(symmcts_platform_info)>("symmcts_platform_info");
  if (info == nullptr) return "";
  std::string text(info(nullptr, 0), '\0');
  if (text.empty()) return "";
  std::vector<char> buffer(text.size() + 1);
  info(buffer.data(), buffer.size());
  return buffer.data();
}

std::string uuid_text(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    std::array<char, 4> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += byte.data();
  }
  return text;
}

std::string devices(const Driver& driver) {
  const auto count_devices = driver.find<decltype(cuDeviceGetCount)>("cuDeviceGetCount");
  const auto get_device = driver.find<decltype(cuDeviceGet)>("cuDeviceGet");
  const auto get_name = driver.find<decltype(cuDeviceGetName)>("cuDeviceGetName");
  auto get_uuid = driver.find<decltype(cuDeviceGetUuid)>("cuDeviceGetUuid_v2");
  if (get_uuid == nullptr) get_uuid = driver.find<decltype(cuDeviceGetUuid)>("cuDeviceGetUuid");
  JsonArray list;
  int count = 0;
  if (count_devices == nullptr || get_device == nullptr || count_devices(&count) != CUDA_SUCCESS) {
    return list.take();
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    if (get_device(&device, ordinal) != CUDA_SUCCESS) continue;
    CUuuid uuid{};
    std::array<char, 256> name{};
    JsonObject object;
    object.integer("ordinal", ordinal);
    if (get_uuid != nullptr && get_uuid(&uuid, device) == CUDA_SUCCESS) {
      object.text("uuid", uuid_text(uuid));
    } else {
      object.null("uuid");
    }
    const bool named = get_name != nullptr &&
                       get_name(name.data(), static_cast<int>(name.size()), device) == CUDA_SUCCESS;
    object.text("name", named ? name.data() : "");
    list.raw(object.take());
  }
  return list.take();
}

// "13.0" of the 13000 that cuDriverGetVersion returns.
std::string driver_version(const Driver& driver) {
  const auto get_version = driver.find<decltype(cuDriverGetVersion)>("cuDriverGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != CUDA_SUCCESS) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void add_or_null(JsonObject& object, const char* key, std::string_view value) {
  if (value.empty()) {
    object.null(key);
  } else {
    object.raw(key, value);
  }
}

}  // namespace

std::string header_line(const Environment& environment, const LoadedDriver& loaded,
                        std::uint32_t cupti_version) {
  const Driver driver(loaded);
  const bool software = loaded.kind == DriverKind::software;
  const std::string info = software ? platform_info(driver) : "";
  JsonObject header;
  header.text("type", "header").text("schema", "symm-cts/evidence/1");
  header.integer("rank", environment.rank).integer("world", environment.world);
  header.integer("host", environment.host).text("driver", software ? "software" : "real");
  header.text("driver_version", driver_version(driver));
  add_or_null(header, "platform", json_value(info, "profile"));
  add_or_null(header, "seed", json_value(info, "seed"));
  add_or_null(header, "run", environment.run.empty() ? "" : json_string(environment.run));
  header.text("clock", software ? "virtual" : "cupti").raw("devices", devices(driver));
  header.number("cupti_version", cupti_version).text("recorder", kRecorderVersion);
  return header.take();
}

bool run_is_deterministic(const LoadedDriver& loaded) {
  if (loaded.kind != DriverKind::software) return false;
  return json_value(platform_info(Driver(loaded)), "deterministic") == "true";
}

}  // namespace symmcts::recorder
