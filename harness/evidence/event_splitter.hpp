#pragma once

#include <cstdint>
#include <string_view>

namespace symmcts::evidence {

// Cuts the text of a Chrome-JSON trace into its events without parsing them, and finds its way
// again after damage: a bare quote inside a name costs that event, a cut-off file only its last
// one. Holds a view of the text, which must outlive it.
class EventSplitter {
 public:
  explicit EventSplitter(std::string_view text);

  // The text has an array of events: `"traceEvents": [` or a top-level array (profilers of 2020).
  bool found() const { return found_; }
  // The next event with its braces; false after the last.
  bool next(std::string_view& event);

  // Events that could not be cut out so far.
  std::int64_t broken() const { return broken_; }
  // The text of those that the last call of next() came upon.
  std::string_view last_broken() const { return last_broken_; }
  // The text is an array, with nothing around it.
  bool bare() const { return array_ < text_.size() && text_[array_] == '['; }
  // The text ended inside the array.
  bool cut_off() const { return cut_off_; }
  // Top-level text before the array; after it once next() has returned false.
  std::string_view before() const { return text_.substr(0, array_); }
  std::string_view after() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  std::size_t array_ = 0;  // of the key, or of the `[` of a top-level array
  std::size_t at_ = 0;
  bool found_ = false;
  bool ended_ = false;
  bool cut_off_ = false;
  std::int64_t broken_ = 0;
  std::string_view last_broken_;
};

}  // namespace symmcts::evidence
