#include "mailbox.hpp"

#include <algorithm>
#include <array>

namespace symm_mem {
namespace {

using Clock = std::chrono::steady_clock;

// Without an observer's descriptor a turn is cut up so that no wait is longer than this and sums
// of large deadlines cannot overflow.
constexpr std::chrono::nanoseconds kLongestTurn = std::chrono::seconds(10);

}  // namespace

void Mailbox::post(Letter letter, ExchangeObserver* observer) {
  letters_.push_back(std::move(letter));
  if (observer == nullptr) return;
  (void)observer->wait_begins(std::chrono::nanoseconds(1));
  (void)observer->wait_ends(std::array<std::uint64_t, 1>{0});
}

bool Mailbox::take(int from, std::uint64_t tag, Letter::Kind kind, Letter& letter) {
  const auto found = std::find_if(letters_.begin(), letters_.end(), [&](const Letter& each) {
    return each.source == from && each.tag == tag && each.kind == kind;
  });
  if (found == letters_.end()) return false;
  letter = std::move(*found);
  letters_.erase(found);
  return true;
}

ExchangeResult Mailbox::receive(Carrier& carrier, ExchangeObserver* observer, int from,
                                std::uint64_t tag, Letter::Kind kind,
                                std::chrono::nanoseconds deadline, Letter& letter) {
  // An observer may read a deadline of 0 as none.
  deadline = std::max(deadline, std::chrono::nanoseconds(1));
  if (take(from, tag, kind, letter)) {
    if (observer != nullptr) {
      (void)observer->leaving(rank_);
      (void)observer->wait_begins(deadline);
      (void)observer->wait_ends(std::array<std::uint64_t, 1>{letter.value});
    }
    return {};
  }

  const Clock::time_point begin = Clock::now();
  while (true) {
    const int watched = observer != nullptr ? observer->wait_begins(deadline) : -1;
    const std::chrono::nanoseconds left = deadline - (Clock::now() - begin);
    const std::chrono::nanoseconds limit =
        watched >= 0 ? kLongestTurn : std::clamp(left, std::chrono::nanoseconds(0), kLongestTurn);

    std::vector<Letter> arrived;
    ExchangeResult result = carrier.turn(from, watched, limit, arrived);

    std::vector<std::uint64_t> values;
    bool found = false;
    for (Letter& each : arrived) {
      const bool wanted = !found && each.source == from && each.tag == tag && each.kind == kind;
      values.push_back(wanted ? each.value : 0);
      if (wanted) {
        found = true;
        letter = std::move(each);
      } else {
        letters_.push_back(std::move(each));
      }
    }
    bool passed = watched < 0 && arrived.empty() && Clock::now() - begin >= deadline;
    if (observer != nullptr) passed = observer->wait_ends(values) || passed;

    if (found) return {};
    if (!arrived.empty()) continue;
    if (result || result.end == ExchangeResult::End::timed_out) {
      if (!passed) continue;
      return {.end = ExchangeResult::End::timed_out, .rank = from, .text = {}};
    }
    return result;
  }
}

}  // namespace symm_mem
