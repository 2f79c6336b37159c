#pragma once

// The part of NVML's binary interface that this library answers: numbers and layouts as NVIDIA's
// public header has them (nvml_header_test.cpp compares, where that header is at hand), names and
// words are ours.
namespace symmcts::platform::nvml {

enum class Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  function_not_found = 13,
  argument_version_mismatch = 25,
  unknown = 999,
};

inline constexpr int kLinksMost = 18;       // beyond, a link number is invalid
inline constexpr int kCapabilities = 6;     // of a link
inline constexpr int kP2pIndices = 7;       // that have an answer
inline constexpr int kP2pIndexPci = 4;      // peer access over PCI
inline constexpr int kP2pOk = 0;            // status of a pair
inline constexpr int kP2pNotSupported = 5;  // status of a pair
inline constexpr int kRemoteGpu = 0;        // type of a link's other end
inline constexpr int kRemoteSwitch = 2;     // type of a link's other end

// A device handle: opaque to clients.
using Device = struct DeviceRecord*;

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned device_id;     // device in the upper half, vendor in the lower
  unsigned subsystem_id;  // since the second version of the function
  char bus_id[32];        // since the third
};

struct MemoryInfo {
  unsigned long long total, free, used;
};

struct MemoryInfoV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct FabricInfo {
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique_id;
  unsigned char state;
};

struct FabricInfoV2 {
  unsigned version;
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique_id;
  unsigned char state;
  unsigned health_mask;
};

struct FabricInfoV3 {
  unsigned version;
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique_id;
  unsigned char state;
  unsigned health_mask;
  unsigned char health_summary;
};

struct ConfidentialState {
  unsigned environment, feature, tools_mode;
};

// What a client puts into the field `version` of a structure: size and number.
template <typename T>
constexpr unsigned version_of(unsigned number) {
  return static_cast<unsigned>(sizeof(T)) | (number << 24);
}

}  // namespace symmcts::platform::nvml
