#pragma once

#include <vector>

#include "harness/platform/abi/cupti/cupti_state.hpp"

namespace symmcts::platform::cupti {

// Activity records: which kinds are wanted, and the client's buffers that they go into. A buffer is
// requested when a record needs one and handed back when the next record does not fit, or at a
// flush. Client functions are called on the thread that adds or flushes; `complete` without a lock
// held, because clients call CUPTI from it. Thread safe.
class Activity {
 public:
  CUptiResult set_kind(CUpti_ActivityKind kind, bool enable);
  CUptiResult set_driver_api(CUpti_CallbackId cbid, bool enable);
  CUptiResult set_buffers(CUpti_BuffersCallbackRequestFunc request,
                          CUpti_BuffersCallbackCompleteFunc complete);
  void set_thread_ids(CUpti_ActivityThreadIdType type) { thread_ids_ = type; }
  CUpti_ActivityThreadIdType thread_ids() const { return thread_ids_; }

  void add_api(const abi::ApiEvent& event, Ns end);
  void add_copy(const CopyRecord& record);
  void add_fill(const FillRecord& record);

  // Hands the current buffer back; with `forced` also one that holds no record.
  void flush(bool forced);
  void disable_all();
  std::size_t take_dropped() { return dropped_.exchange(0); }

 private:
  struct Buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0, used = 0;
    std::size_t records = 0, most_records = 0;  // 0: as many as fit
  };

  template <typename Record>
  void add(const Record& record) {
    append(&record, sizeof record);
  }
  void append(const void* record, std::size_t size);
  bool wants(CUpti_ActivityKind kind) const { return kinds_[kind]; }

  std::mutex mutex_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  Buffer buffer_;
  std::atomic<bool> kinds_[CUPTI_ACTIVITY_KIND_COUNT] = {};
  std::atomic<bool> driver_api_[kDriverCallbacks] = {};
  std::atomic<std::size_t> dropped_{0};
  std::atomic<CUpti_ActivityThreadIdType> thread_ids_{CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT};
};
Activity& activity();

// Ends the subscription, whoever holds it.
CUptiResult end_subscription();

}  // namespace symmcts::platform::cupti
