#include "harness/evidence/model.hpp"

#include <array>

namespace symmcts::evidence {
namespace {

constexpr std::array<std::pair<CopyKind, const char*>, 5> kNames{{{CopyKind::htod, "HtoD"},
                                                                  {CopyKind::dtoh, "DtoH"},
                                                                  {CopyKind::dtod, "DtoD"},
                                                                  {CopyKind::ptop, "PtoP"},
                                                                  {CopyKind::htoh, "HtoH"}}};

}  // namespace

const char* name(CopyKind kind) {
  for (const auto& [value, text] : kNames) {
    if (value == kind) {
      return text;
    }
  }
  return "other";
}

std::optional<CopyKind> copy_kind(std::string_view name) {
  for (const auto& [value, text] : kNames) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace symmcts::evidence
