#include "harness/recorder/call_rules.hpp"

#include <unordered_map>

namespace symmcts::recorder {
namespace {

bool take_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

std::string_view without_thread_suffix(std::string_view name) {
  if (!take_suffix(name, "_ptsz")) take_suffix(name, "_ptds");
  return name;
}

using Index = std::unordered_map<std::string_view, CallRule>;

// Rules by complete name, and rules without arguments by base name.
struct Rules {
  Index complete;
  Index base;
};

Rules make_rules() {
  Rules rules;
  for (const std::span<const CallRule> family : {memory_rules(), multicast_rules(), copy_rules(),
                                                 fill_rules(), stream_rules(), alloc_rules()}) {
    for (const CallRule& rule : family) {
      rules.complete.emplace(rule.name, rule);
      CallRule bare;
      bare.name = base_name(rule.name);
      bare.may_block = rule.may_block;
      rules.base.emplace(bare.name, bare);
    }
  }
  return rules;
}

}  // namespace

std::string_view base_name(std::string_view function) {
  std::string_view name = without_thread_suffix(function);
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at + 2 == name.size()) return name;
  const bool digits = name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? name.substr(0, at) : name;
}

bool is_per_thread(std::string_view function) {
  return function.ends_with("_ptsz") || function.ends_with("_ptds");
}

const CallRule* find_rule(std::string_view function) {
  // Never destroyed: calls come until the process is gone.
  static const Rules& rules = *new Rules(make_rules());
  const auto complete = rules.complete.find(without_thread_suffix(function));
  if (complete != rules.complete.end()) return &complete->second;
  const auto base = rules.base.find(base_name(function));
  return base != rules.base.end() ? &base->second : nullptr;
}

std::string place(const Numbering& numbering, std::uint64_t address) {
  JsonObject object;
  if (const Piece* mapping = numbering.mappings.find(address)) {
    object.number("mapping", mapping->number).number("offset", address - mapping->base);
  } else if (const Piece* alloc = numbering.allocs.find(address)) {
    object.number("alloc", alloc->number).number("offset", address - alloc->base);
  } else if (numbering.pinned.find(address) != nullptr) {
    object.text("host", "pinned");
  }
  return object.take();
}

std::string host_place(const Numbering& numbering, const void* address) {
  const std::string known = place(numbering, reinterpret_cast<std::uint64_t>(address));
  return known == "{}" ? "{\"host\":\"pageable\"}" : known;
}

Number stream_number(Numbering& numbering, const CallView& view, CUstream stream) {
  const auto value = reinterpret_cast<std::uint64_t>(stream);
  constexpr std::uint64_t kLegacy = 1, kPerThread = 2;  // cuda.h:CU_STREAM_LEGACY, _PER_THREAD
  if (value > kPerThread) return numbering.streams.of(value);
  const std::uint64_t kind = value != 0 ? value : (view.per_thread_stream ? kPerThread : kLegacy);
  // Contexts and streams are both addresses of the driver's objects, which are aligned.
  return numbering.streams.of(reinterpret_cast<std::uint64_t>(view.context) | kind);
}

}  // namespace symmcts::recorder
