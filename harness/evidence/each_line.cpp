#include "harness/evidence/each_line.hpp"

#include "harness/support/printable.hpp"

namespace symmcts::evidence {
Status for_each_line(const std::string& path, std::string_view text,
                     std::vector<std::string>& notes, const LineReader& reader) {
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++line;
    const std::size_t stop = text.find('\n', at);
    const bool whole = stop != std::string_view::npos;
    const std::string_view part = text.substr(at, whole ? stop - at : std::string_view::npos);
    at = whole ? stop + 1 : text.size();
    const std::string where = path + ":" + std::to_string(line) + ": ";
    const nlohmann::json object = nlohmann::json::parse(part, nullptr, false);
    if (object.is_discarded() && !whole) {
      notes.push_back("line " + std::to_string(line) + ", the last, is cut off and left out");
      return {};
    }
    if (!object.is_object()) {
      return Error{where + "not a JSON object"};
    }
    JsonFields fields(object);
    reader(fields.need_text("type"), fields, line);
    if (!fields.problem().empty()) {
      return Error{where + printable(fields.problem())};
    }
  }
  return {};
}

}  // namespace symmcts::evidence
