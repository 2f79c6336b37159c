#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "harness/permit/driver_kind.hpp"
#include "harness/recorder/call_rules.hpp"
#include "harness/recorder/cupti_api.hpp"
#include "harness/recorder/environment.hpp"
#include "harness/recorder/guard.hpp"
#include "harness/recorder/numbering.hpp"
#include "harness/recorder/writer.hpp"

namespace symmcts::recorder {

// Watches the process that loaded it: guards multicast creation, and writes evidence where
// SYMMCTS_EVIDENCE asks for it. One a process; lives until the process ends. Thread safe.
class Recorder {
 public:
  Recorder(Environment environment, LoadedDriver driver, PermitEnvironment permit);

  // Finds CUPTI, subscribes and opens the evidence file. What fails is said in one line on stderr
  // and the program runs on, unwatched; on a real driver without a permit it is ended (guard.hpp),
  // since nothing would stop it from creating a multicast object.
  void start();
  // Evidence was asked for, and some of it could not be written: said in one line already.
  bool lost() const { return lost_; }

  // From CUPTI's callback: one end of a driver call.
  void on_call(const CUpti_CallbackData& data);
  // From CUPTI's buffers: `bytes` of records.
  void on_records(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes);

  // Appends a mark; `json_object` is one complete object.
  void mark(std::string_view json_object);
  // Takes in the records of all work that has ended. True if everything so far is in the file.
  bool flush();
  // The last line. Nothing is recorded afterwards; the guard stays.
  void finish();

 private:
  Status subscribe();
  void enable_calls();
  Status enable_activity();
  void enter_call(const CUpti_CallbackData& data, const CallRule& rule);
  void leave_call(const CUpti_CallbackData& data);
  void append(Line type, std::string_view line);
  void check(bool written);
  // The header, before anything else is written.
  void begin_file();
  void lose(const std::string& why);
  std::uint64_t now() const;

  const Environment environment_;
  const LoadedDriver driver_;
  const Guard guard_;
  CuptiApi cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::uint32_t cupti_version_ = 0;
  Writer writer_;
  std::string path_;  // of its file
  std::once_flag header_;
  std::atomic<bool> recording_{false};
  std::atomic<bool> lost_{false};

  std::mutex mutex_;  // of what follows
  Numbering numbering_;
  std::uint64_t calls_ = 0;  // that were entered
};

// The recorder of this process, or null: CUPTI's buffer callbacks carry no context of ours.
Recorder* running_recorder();
void set_running_recorder(Recorder* recorder);

}  // namespace symmcts::recorder
