#include "harness/platform/process/streams_fakes.hpp"

#include <algorithm>
#include <cstring>

namespace symmcts::platform {

std::uint32_t FakeBroker::word(std::uint64_t address) {
  std::lock_guard lock(mutex);
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | bytes[address + static_cast<std::uint64_t>(i)];
  return value;
}

bool FakeBroker::satisfied(const WordWait& wait, std::uint64_t value) const {
  switch (wait.test) {
    case WordTest::geq:
      return static_cast<std::int32_t>(value - wait.value) >= 0;
    case WordTest::eq:
      return value == wait.value;
    case WordTest::bit_and:
      return (value & wait.value) != 0;
    case WordTest::nor:
      return static_cast<std::uint32_t>(~(value | wait.value)) != 0;
  }
  return false;
}

std::optional<Ns> FakeBroker::answer(const WordWait& wait) {
  const auto& log = log_[wait.allocation + wait.offset];
  std::uint64_t value = 0;
  if (log.empty()) {
    for (int i = 3; i >= 0; --i) {
      value = value << 8 | bytes[wait.allocation + wait.offset + static_cast<std::uint64_t>(i)];
    }
  }
  for (const auto& [at, written] : log) {
    if (at <= wait.ready) value = written;
  }
  if (satisfied(wait, value)) return wait.ready;
  for (const auto& [at, written] : log) {
    if (at > wait.ready && satisfied(wait, written)) return at;
  }
  return std::nullopt;
}

void FakeBroker::answer_pending() {
  for (auto it = pending_.begin(); it != pending_.end();) {
    const auto at = answer(it->wait);
    if (!at) {
      ++it;
      continue;
    }
    Notice notice;
    notice.kind = Notice::Kind::word_done;
    notice.id = it->wait.id;
    notice.at = *at;
    FakeRank* rank = it->rank;
    it = pending_.erase(it);
    rank->tell(notice);
  }
}

void FakeBroker::move() {
  if (!managed || in_flight != 0) return;
  FakeRank* grant = nullptr;
  FakeRank* deadline = nullptr;
  for (FakeRank* rank : ranks) {
    if (!rank->stuck_ || (rank->stuck_->in_call && !rank->parked_)) return;
    const Stuck& stuck = *rank->stuck_;
    if (stuck.next_event != kNever &&
        (grant == nullptr || stuck.next_event < grant->stuck_->next_event)) {
      grant = rank;
    }
    if (stuck.deadline != kNever &&
        (deadline == nullptr || stuck.deadline < deadline->stuck_->deadline)) {
      deadline = rank;
    }
  }
  Notice notice;
  const auto log = [&](const char* what, FakeRank* rank) {
    moves.push_back(std::string(what) + " " + std::to_string(rank->rank_) + " @" +
                    std::to_string(notice.at));
  };
  if (grant != nullptr) {
    notice.kind = Notice::Kind::granted;
    notice.at = grant->stuck_->next_event;
    log("grant", grant);
    grant->tell(notice);
  } else if (deadline != nullptr) {
    notice.kind = Notice::Kind::deadline;
    notice.at = deadline->stuck_->deadline;
    log("deadline", deadline);
    deadline->tell(notice);
  } else if (moves.empty() || moves.back() != "deadlock") {
    moves.push_back("deadlock");
  }
}

FakeRank::FakeRank(FakeBroker& broker, int rank) : broker_(broker), rank_(rank) {
  std::lock_guard lock(broker_.mutex);
  broker_.ranks.push_back(this);
}

FakeRank::~FakeRank() { leave(); }

void FakeRank::leave() {
  std::lock_guard lock(broker_.mutex);
  std::erase(broker_.ranks, this);
  if (!broker_.ranks.empty()) broker_.move();
}

void FakeRank::lose_broker() {
  std::lock_guard lock(broker_.mutex);
  Notice notice;
  notice.kind = Notice::Kind::broker_gone;
  tell(notice);
}

void FakeRank::tell(Notice notice) {
  stuck_.reset();
  notices_.push_back(std::move(notice));
  arrived_.notify_all();
}

void FakeRank::word_write(std::uint64_t allocation, std::uint64_t offset, std::uint8_t,
                          std::uint64_t value, Ns at) {
  std::lock_guard lock(broker_.mutex);
  auto& log = broker_.log_[allocation + offset];
  log.emplace_back(at + FakeBroker::kVisible, value);
  std::stable_sort(log.begin(), log.end(), [](auto& a, auto& b) { return a.first < b.first; });
  broker_.answer_pending();
}

void FakeRank::word_wait(const WordWait& wait) {
  std::lock_guard lock(broker_.mutex);
  broker_.pending_.push_back({this, wait});
  broker_.answer_pending();
}

bool FakeRank::deterministic() const {
  std::lock_guard lock(broker_.mutex);
  return broker_.managed;
}

void FakeRank::message_out(int) {
  std::lock_guard lock(broker_.mutex);
  ++broker_.in_flight;
}

void FakeRank::message_in(std::uint64_t count) {
  std::lock_guard lock(broker_.mutex);
  broker_.in_flight -= static_cast<int>(count);
  broker_.move();
}

void FakeRank::report_stuck(const Stuck& stuck) {
  std::lock_guard lock(broker_.mutex);
  if (!notices_.empty()) return;  // crossed a notice: old
  stuck_ = stuck;
  broker_.move();
}

void FakeRank::report_running() {
  std::lock_guard lock(broker_.mutex);
  stuck_.reset();
}

void FakeRank::park(bool parked) {
  std::lock_guard lock(broker_.mutex);
  parked_ = parked;
  if (!parked) stuck_.reset();
  broker_.move();
}

std::optional<Notice> FakeRank::next_notice() {
  std::unique_lock lock(broker_.mutex);
  arrived_.wait(lock, [&] { return woken_ || !notices_.empty(); });
  if (notices_.empty()) {
    woken_ = false;
    return std::nullopt;
  }
  Notice notice = notices_.front();
  notices_.pop_front();
  return notice;
}

void FakeRank::wake() {
  std::lock_guard lock(broker_.mutex);
  woken_ = true;
  arrived_.notify_all();
}

// --- memory

AddressInfo FakeMemory::resolve(std::uint64_t address) {
  AddressInfo info;
  if (address >= kPinned) {
    info.kind = AddressInfo::Kind::host_pinned;
  } else if (address >> 40 == 1 || address >> 41 == 1) {
    info.kind = AddressInfo::Kind::multicast;
    info.native = address < kImported;
    info.ordinal = 0;
  } else if (address >= device(0) && address < device(8)) {
    info.kind = AddressInfo::Kind::memory;
    info.gpu = static_cast<int>(address >> 32) - 1;
    const auto found = std::find(visible_.begin(), visible_.end(), info.gpu);
    info.ordinal = static_cast<int>(found - visible_.begin());
    info.object = address >> 32 << 32;
    info.offset = address - info.object;
  }
  return info;
}

std::vector<std::uint64_t> FakeMemory::places(std::uint64_t address) {
  if (address >> 40 == 1) return {device(0, address - kNative), device(1, address - kNative)};
  if (address >> 41 == 1) return {device(0, address - kImported), device(1, address - kImported)};
  return {address};
}

Code FakeMemory::copy_bytes(std::uint64_t destination, std::uint64_t source, std::uint64_t size) {
  if (fail_with != Code::success) return fail_with;
  const bool real_source = resolve(source).kind == AddressInfo::Kind::host_pageable;
  const bool real_destination = resolve(destination).kind == AddressInfo::Kind::host_pageable;
  std::lock_guard lock(broker_.mutex);
  // Large copies are about time: their first bytes stand for the rest.
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size, 64); ++i) {
    const std::uint8_t byte = real_source ? *reinterpret_cast<const std::uint8_t*>(source + i)
                                          : broker_.bytes[source + i];
    if (real_destination) {
      *reinterpret_cast<std::uint8_t*>(destination + i) = byte;
    } else {
      for (const std::uint64_t place : places(destination)) broker_.bytes[place + i] = byte;
    }
  }
  return Code::success;
}

Code FakeMemory::fill_bytes(std::uint64_t destination, std::uint32_t value, int width,
                            std::uint64_t count) {
  std::lock_guard lock(broker_.mutex);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, 16); ++i) {
    for (int b = 0; b < width; ++b) {
      const auto byte = static_cast<std::uint8_t>(value >> (8 * b));
      const std::uint64_t at = i * static_cast<std::uint64_t>(width) + static_cast<unsigned>(b);
      for (const std::uint64_t place : places(destination)) broker_.bytes[place + at] = byte;
    }
  }
  return Code::success;
}

Code FakeMemory::write_word(std::uint64_t destination, std::uint64_t value, int width, Ns at) {
  for (const std::uint64_t place : places(destination)) {
    {
      std::lock_guard lock(broker_.mutex);
      for (int b = 0; b < width; ++b) {
        broker_.bytes[place + static_cast<unsigned>(b)] =
            static_cast<std::uint8_t>(value >> (8 * b));
      }
    }
    rank_.word_write(place >> 32 << 32, place & 0xffff'ffff, 4, value, at);
  }
  return Code::success;
}

void FakeMemory::log_words(std::uint64_t destination, std::uint64_t size, Ns at) {
  if (size > 16) return;  // no test here waits for a word that a long copy sets
  for (const std::uint64_t place : places(destination)) {
    for (std::uint64_t i = 0; i + 4 <= size; i += 4) {
      const std::uint32_t value = broker_.word(place + i);
      rank_.word_write((place + i) >> 32 << 32, (place + i) & 0xffff'ffff, 4, value, at);
    }
  }
}

void FakeSink::on_copy(const CopyRecord& record) {
  std::lock_guard lock(mutex_);
  copies_.push_back(record);
}

void FakeSink::on_fill(const FillRecord& record) {
  std::lock_guard lock(mutex_);
  fills_.push_back(record);
}

std::vector<CopyRecord> FakeSink::copies() {
  std::lock_guard lock(mutex_);
  return copies_;
}

std::vector<FillRecord> FakeSink::fills() {
  std::lock_guard lock(mutex_);
  return fills_;
}

}  // namespace symmcts::platform
