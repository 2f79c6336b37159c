#include "conformance/cases/marks.hpp"

#include <dlfcn.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace symmcts::cases {
namespace {

using Json = nlohmann::ordered_json;

// Names and messages come from elsewhere: bytes that are no UTF-8 must not end the rank.
void write(void (*mark)(const char*), const Json& object) {
  if (mark == nullptr) return;
  mark(object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

Marks::Marks(std::string unit, std::vector<std::string> ids)
    : unit_(std::move(unit)), ids_(std::move(ids)) {}

bool Marks::connect() {
  mark_ = reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "symmcts_recorder_mark"));
  flush_ = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "symmcts_recorder_flush"));
  return mark_ != nullptr && flush_ != nullptr;
}

void Marks::case_begin() const {
  write(mark_, {{"what", "case-begin"}, {"case", unit_}, {"ids", ids_}});
}

void Marks::case_end() const {
  write(mark_, {{"what", "case-end"}, {"case", unit_}, {"ids", ids_}});
}

void Marks::group(const std::string& name, const std::vector<int>& ranks, int root) const {
  write(mark_, {{"what", "group"}, {"group", name}, {"ranks", ranks}, {"root", root}});
}

void Marks::phase(std::string_view phase) {
  if (phase == phase_) return;
  phase_ = phase;
  write(mark_, {{"what", "phase"}, {"phase", phase}});
  hooks_.phase(phase_.c_str());
}

void Marks::measure_begin(const std::string& label) const {
  write(mark_, {{"what", "measure-begin"}, {"label", label}});
}

void Marks::measure_end(const std::string& label) const {
  write(mark_, {{"what", "measure-end"}, {"label", label}});
}

void Marks::check(const std::vector<std::string>& ids, bool ok, const std::string& text) const {
  write(mark_, {{"what", "check"}, {"case", unit_}, {"ids", ids}, {"ok", ok}, {"text", text}});
}

void Marks::skip(const std::string& reason) const {
  write(mark_, {{"what", "skip"}, {"case", unit_}, {"ids", ids_}, {"reason", reason}});
}

void Marks::outcome(const std::string& call, const Outcome& outcome) const {
  write(mark_, {{"what", "outcome"},
                {"call", outcome.call.empty() ? call : outcome.call},
                {"code", outcome.code},
                {"phase", outcome.phase},
                {"ok", outcome.ok},
                {"text", outcome.text}});
}

bool Marks::flush() const { return flush_ != nullptr && flush_() != 0; }

void Marks::give_up(std::string_view cause, const std::string& text, int lost) const {
  Json mark = {{"what", "give-up"}, {"cause", cause}, {"text", text}};
  if (lost >= 0) mark["ranks"] = {lost};
  write(mark_, mark);
}

}  // namespace symmcts::cases
