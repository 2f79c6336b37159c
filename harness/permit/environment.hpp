#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symmcts {

// A variable by which the user of a host forbids multicast, with the value that does so.
struct DisableVariable {
  std::string_view name;
  std::string_view value;
};

// The four variables of design section 3. A supervisor sets each to its value for children that may
// reach a real driver without a permit.
inline constexpr std::array<DisableVariable, 4> kDisableVariables = {{
    {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "1"},
    {"NCCL_NVLS_ENABLE", "0"},
    {"NVSHMEM_DISABLE_NVLS", "1"},
    {"SYMM_MEM_DISABLE_MULTICAST", "1"},
}};

// True if `text`, the content of `variable`, forbids multicast. Where the value is 1, everything
// but
// "" and "0" forbids: a user who wrote "true" or "yes" meant it. NCCL_NVLS_ENABLE forbids as any
// spelling of the number 0, as NCCL reads it.
bool forbids_multicast(const DisableVariable& variable, std::string_view text);

enum class ExpectedDriver { anything, software, real };

// What the environment says about multicast. Only the supervisor writes the last two.
struct PermitEnvironment {
  std::vector<std::string> forbidding;  // "NAME=value" of each variable that forbids multicast
  bool allow_multicast = false;         // SYMMCTS_PERMIT is exactly "1"
  std::optional<ExpectedDriver> expected = ExpectedDriver::anything;  // SYMMCTS_EXPECT; empty: bad
  std::string expected_text;                                          // as it was written
};

// Reads the process's environment. The only place in the harness that looks at these variables.
PermitEnvironment read_permit_environment();

}  // namespace symmcts
