#include "harness/evidence/event_splitter.hpp"

#include <algorithm>

namespace symmcts::evidence {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) {
    ++at;
  }
  return at;
}

// Does a string that ends before `quote` end with `}, {`? Then it is no string: a bare quote has
// swapped inside and outside, and the `{` begins the next event. Returns its position, or npos.
std::size_t event_start_before(std::string_view text, std::size_t begin, std::size_t quote) {
  std::size_t at = quote;
  const auto back = [&](char wanted) {
    while (at > begin && is_space(text[at - 1])) {
      --at;
    }
    if (at > begin && text[at - 1] == wanted) {
      --at;
      return true;
    }
    return false;
  };
  if (!back('{')) {
    return std::string_view::npos;
  }
  const std::size_t start = at;
  return back(',') && back('}') ? start : std::string_view::npos;
}

}  // namespace

EventSplitter::EventSplitter(std::string_view text) : text_(text) {
  const std::size_t first = skip_space(text_, 0);
  if (first < text_.size() && text_[first] == '[') {
    const std::size_t element = skip_space(text_, first + 1);
    found_ = element < text_.size() && text_[element] == '{';
    array_ = first;
    at_ = first + 1;
    return;
  }
  if (first >= text_.size() || text_[first] != '{') {
    return;
  }
  constexpr std::string_view kKey = "\"traceEvents\"";
  for (std::size_t key = text_.find(kKey); key != std::string_view::npos;
       key = text_.find(kKey, key + 1)) {
    std::size_t at = skip_space(text_, key + kKey.size());
    if (at >= text_.size() || text_[at] != ':') {
      continue;
    }
    at = skip_space(text_, at + 1);
    if (at < text_.size() && text_[at] == '[') {
      found_ = true;
      array_ = key;
      at_ = at + 1;
      return;
    }
  }
}

bool EventSplitter::next(std::string_view& event) {
  if (!found_ || ended_) {
    return false;
  }
  std::size_t first_broken = text_.size();
  while (true) {
    while (at_ < text_.size() && text_[at_] != '{' && text_[at_] != ']') {
      ++at_;
    }
    if (at_ >= text_.size() || text_[at_] == ']') {
      ended_ = true;
      cut_off_ = at_ >= text_.size();
      at_ += cut_off_ ? 0 : 1;
      return false;
    }
    const std::size_t begin = at_;
    std::size_t restart = std::string_view::npos;
    int depth = 0;
    std::size_t at = begin;
    while (at < text_.size() && restart == std::string_view::npos) {
      const char c = text_[at];
      if (c == '"') {
        const std::size_t inside = ++at;
        while (at < text_.size() && text_[at] != '"') {
          at += text_[at] == '\\' ? 2 : 1;
        }
        if (at < text_.size()) {
          restart = event_start_before(text_, inside, at);
          ++at;
        }
        continue;
      }
      ++at;
      if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        event = text_.substr(begin, at - begin);
        at_ = at;
        return true;
      }
    }
    ++broken_;
    first_broken = std::min(first_broken, begin);
    last_broken_ = text_.substr(first_broken, std::min(restart, text_.size()) - first_broken);
    if (restart == std::string_view::npos) {
      at_ = text_.size();
      ended_ = true;
      cut_off_ = true;
      return false;
    }
    at_ = restart;
  }
}

}  // namespace symmcts::evidence
