#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "harness/platform/model/profile.hpp"
#include "harness/platform/process/streams.hpp"

namespace symmcts::platform {

// Channel ids as a profiler shows them: they follow the stream, not the engine (measured). Each
// class has a range of ids; the streams of a device take them in the order in which they first use
// the range, and share ids when there are more streams than ids. Not thread safe.
class Channels {
 public:
  std::uint32_t id(const CopyRule& rule, int ordinal, StreamId stream) {
    auto& users = users_[{ordinal, rule.channel_base.value}];
    std::size_t index = 0;
    while (index < users.size() && users[index] != stream) ++index;
    if (index == users.size()) users.push_back(stream);
    return static_cast<std::uint32_t>(rule.channel_base.value +
                                      static_cast<int>(index) % rule.channel_count.value);
  }

 private:
  std::map<std::pair<int, int>, std::vector<StreamId>> users_;
};

}  // namespace symmcts::platform
