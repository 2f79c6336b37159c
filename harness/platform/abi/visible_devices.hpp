#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace symmcts::platform::abi {

using Uuid = std::array<std::uint8_t, 16>;

// The identity of a GPU of the machine: the same on every host and in every process.
Uuid device_uuid(int gpu);

// As nvidia-smi prints it: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
std::string uuid_text(const Uuid& uuid);

// PCI address "0000:BB:00.0" of a host's `local`-th GPU.
int pci_bus(int local);
std::string pci_text(int local);

// The machine-wide indices of the GPUs that a process sees, by ordinal. `setting` is
// CUDA_VISIBLE_DEVICES: indices of this host's GPUs or GPU UUIDs (a prefix that fits one GPU is
// enough); the first entry that names no GPU, or one named before, ends the list. Unset: all.
std::vector<int> visible_devices(const std::optional<std::string>& setting, int first_gpu,
                                 int gpu_count);

}  // namespace symmcts::platform::abi
