#include "harness/evidence/canonical.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/evidence/file_bytes.hpp"
#include "harness/evidence/json_scan.hpp"
#include "harness/support/seal.hpp"

namespace symmcts::evidence {
namespace {

// Where a line stands in the file: what it is, its time, and what decides among equals.
struct Line {
  int part = 1;  // 0 header, 1 what happened, 2 dropped, 3 footer
  std::int64_t time = 0;
  bool record = false;    // an activity record: after the host's lines of the same time
  std::size_t order = 0;  // host lines: as written
  std::string_view text;

  auto key() const {
    return std::tuple(part, time, record, record ? 0 : order, record ? text : std::string_view());
  }
};

std::int64_t number(std::string_view object, std::string_view key) {
  const auto value = member(object, key);
  return value ? integer(*value).value_or(0) : 0;
}

// False where the line has no type that the schema knows.
bool place(Line& line) {
  const auto type = member(line.text, "type");
  if (!type || type->kind != JsonValue::Kind::string) {
    return false;
  }
  if (type->text == "header") {
    line.part = 0;
  } else if (type->text == "dropped") {
    line.part = 2;
  } else if (type->text == "footer") {
    line.part = 3;
  } else if (type->text == "call") {
    line.time = number(line.text, "t0");
  } else if (type->text == "enter" || type->text == "mark") {
    line.time = number(line.text, "t");
  } else if (type->text == "copy" || type->text == "fill") {
    line.time = number(line.text, "start");
    line.record = true;
  } else {
    return false;
  }
  return true;
}

// A footer's line without its seal; nothing where it has none.
std::optional<std::string> unsealed(std::string_view line) {
  const std::size_t at = line.rfind(kSealMember);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(line.substr(0, at)) + "}";
}

// The footer speaks of what the recorder wrote: it must be true of that before it is made to speak
// of the same lines in another order. A file without one has been cut, and stays so.
Status reseal(const std::string& path, std::string_view raw, std::vector<Line>& lines,
              std::string& footer) {
  if (lines.empty() || lines.back().part != 3) {
    return {};
  }
  const std::optional<std::string> bare = unsealed(lines.back().text);
  if (!bare || read_seal(raw) != Seal::whole) {
    return Error{path + ":" + std::to_string(lines.size()) +
                 ": the lines are not those that the footer was written for"};
  }
  Digest digest;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    digest.add(lines[i].text);
    digest.add("\n");
  }
  footer = sealed(digest, *bare);
  lines.back().text = footer;
  return {};
}

Status write_replacing(const std::string& path, const std::vector<Line>& lines) {
  const std::string temporary = path + ".new";
  FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    return Error{temporary + ": " + std::strerror(errno)};
  }
  bool written = true;
  for (const Line& line : lines) {
    written = written &&
              std::fwrite(line.text.data(), 1, line.text.size(), file) == line.text.size() &&
              std::fputc('\n', file) != EOF;
  }
  written = std::fclose(file) == 0 && written;
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error{path + ": " + std::strerror(errno)};
    unlink(temporary.c_str());
    return error;
  }
  return {};
}

}  // namespace

Status canonicalize(const std::string& raw_path, const std::string& out_path) {
  const Result<FileBytes> file = read_file(raw_path);
  if (!file) {
    return Error{file.error()};
  }
  const std::string_view text = file.value().bytes;
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = text.find('\n', at);
    if (stop == std::string_view::npos) {
      break;  // cut off while it was written
    }
    Line line;
    line.order = lines.size();
    line.text = text.substr(at, stop - at);
    at = stop + 1;
    if (!place(line)) {
      return Error{raw_path + ":" + std::to_string(lines.size() + 1) + ": no line of the schema"};
    }
    lines.push_back(line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.key() < b.key(); });
  std::string footer;
  if (const Status status = reseal(raw_path, text, lines, footer); !status) {
    return status;
  }
  return write_replacing(out_path, lines);
}

}  // namespace symmcts::evidence
