#include "harness/cli/again.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "harness/support/printable.hpp"

namespace symmcts::cli {
namespace {

std::string number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc() ? std::string(text, end) : std::to_string(value);
}

// $'...' of bash, ksh, zsh and POSIX.1-2024.
std::string spelt_out(const std::string& word) {
  std::string out = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    char escaped[8];
    if (c == '\'' || c == '\\') {
      std::snprintf(escaped, sizeof(escaped), "\\%c", c);
    } else if (byte < 0x20 || byte >= 0x7F) {
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", byte);
    } else {
      std::snprintf(escaped, sizeof(escaped), "%c", c);
    }
    out += escaped;
  }
  return out + "'";
}

bool looks_like_option(const std::string& word) { return word.starts_with('-'); }

}  // namespace

std::string quoted(const std::string& word) {
  static constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  if (printable(word) != word) return spelt_out(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string option(const std::string& name, const std::string& value) {
  return " " + name + (looks_like_option(value) ? "=" : " ") + quoted(value);
}

std::string repeat(const Machine& machine, const Placement& placement) {
  const Placement usual;
  std::string text = option("--platform", machine.name);
  if (placement.launcher != usual.launcher) text += option("--launcher", placement.launcher);
  for (const std::string& arg : placement.launch_args) text += option("--launch-arg", arg);
  if (placement.root_ordinal != usual.root_ordinal) {
    text += option("--root-ordinal", std::to_string(placement.root_ordinal));
  }
  if (placement.one_visible_gpu) text += " --one-visible-gpu";
  if (placement.allow_multicast) text += " --allow-multicast";
  if (placement.stall_seconds != usual.stall_seconds) {
    text += option("--stall", number(placement.stall_seconds));
  }
  if (placement.unit_seconds != usual.unit_seconds) {
    text += option("--deadline", number(placement.unit_seconds));
  }
  return text;
}

std::string again(const RunOptions& options, const Machine& machine, const std::string& unit) {
  std::string text = "symmcts run" + option("--impl", options.implementation) +
                     repeat(machine, options.placement) +
                     option("--ranks", std::to_string(options.ranks));
  if (!options.profile.empty()) text += option("--profile", options.profile);
  if (!unit.empty()) text += option("--filter", unit);
  if (!options.race_check) text += " --no-race-check";
  if (!options.scenario.empty()) text += option("--scenario", options.scenario);
  return text + option("--seed", std::to_string(options.seed));
}

std::string again(const ReproOptions& options, const Machine& machine) {
  return "symmcts repro " + quoted(options.id) + repeat(machine, options.placement) +
         option("--seed", std::to_string(options.seed));
}

std::string again(const CheckOptions& options) {
  std::string text = "symmcts check";
  for (const std::string& rank : options.ranks) text += option("--rank", rank);
  for (const std::string& id : options.required) text += option("--require", id);
  if (std::any_of(options.files.begin(), options.files.end(), looks_like_option)) text += " --";
  for (const std::string& file : options.files) text += " " + quoted(file);
  return text;
}

}  // namespace symmcts::cli
