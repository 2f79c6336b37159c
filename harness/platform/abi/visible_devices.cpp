#include "harness/platform/abi/visible_devices.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace symmcts::platform::abi {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The machine-wide index that an entry names, or -1.
int find_gpu(std::string_view entry, int first_gpu, int gpu_count) {
  int index = -1;
  const auto [stop, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error == std::errc() && stop == entry.data() + entry.size()) {
    return index >= 0 && index < gpu_count ? first_gpu + index : -1;
  }
  if (!entry.starts_with("GPU-")) return -1;
  int found = -1;
  for (int gpu = first_gpu; gpu < first_gpu + gpu_count; ++gpu) {
    if (!uuid_text(device_uuid(gpu)).starts_with(entry)) continue;
    if (found >= 0) return -1;  // the prefix fits two
    found = gpu;
  }
  return found;
}

}  // namespace

Uuid device_uuid(int gpu) {
  // SplitMix64 of the index: spread well enough that short prefixes differ.
  Uuid uuid{};
  std::uint64_t state = 0x53594d4d43545300ULL + static_cast<std::uint64_t>(gpu);
  for (std::size_t half = 0; half < 2; ++half) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31;
    for (std::size_t byte = 0; byte < 8; ++byte) {
      uuid[half * 8 + byte] = static_cast<std::uint8_t>(mixed >> (byte * 8));
    }
  }
  return uuid;
}

std::string uuid_text(const Uuid& uuid) {
  std::string out = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(uuid[i]));
    out += digits;
  }
  return out;
}

int pci_bus(int local) { return 0x10 + local; }

std::string pci_text(int local) {
  char out[16];
  std::snprintf(out, sizeof out, "0000:%02X:00.0", static_cast<unsigned>(pci_bus(local)) & 0xffU);
  return out;
}

std::vector<int> visible_devices(const std::optional<std::string>& setting, int first_gpu,
                                 int gpu_count) {
  std::vector<int> out;
  if (!setting) {
    for (int gpu = first_gpu; gpu < first_gpu + gpu_count; ++gpu) out.push_back(gpu);
    return out;
  }
  std::string_view rest = *setting;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const int gpu = find_gpu(trim(rest.substr(0, comma)), first_gpu, gpu_count);
    if (gpu < 0 || std::find(out.begin(), out.end(), gpu) != out.end()) break;
    out.push_back(gpu);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

}  // namespace symmcts::platform::abi
