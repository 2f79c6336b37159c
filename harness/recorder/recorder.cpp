#include "harness/recorder/recorder.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/recorder/activity.hpp"
#include "harness/recorder/driver_info.hpp"
#include "harness/recorder/json.hpp"
#include "harness/recorder/pending_call.hpp"
#include "harness/recorder/report_line.hpp"

namespace symmcts::recorder {
namespace {

std::atomic<Recorder*> running{nullptr};

// Set while this thread asks the driver something for the recorder's own sake.
thread_local bool own_calls = false;

class OwnCalls {
 public:
  OwnCalls() : before_(std::exchange(own_calls, true)) {}
  ~OwnCalls() { own_calls = before_; }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

 private:
  bool before_;
};

CallView view_of(const CUpti_CallbackData& data) {
  CallView view;
  view.params = data.functionParams;
  view.per_thread_stream = is_per_thread(data.functionName);
  view.context = data.context;
  return view;
}

}  // namespace

Recorder* running_recorder() { return running.load(); }
void set_running_recorder(Recorder* recorder) { running.store(recorder); }

Recorder::Recorder(Environment environment, LoadedDriver driver, PermitEnvironment permit)
    : environment_(std::move(environment)),
      driver_(std::move(driver)),
      guard_(driver_, std::move(permit), environment_.rank) {}

void Recorder::start() {
  Status started;
  Result<CuptiApi> api = load_cupti(driver_);
  if (!api) {
    started = Error{api.error()};
  } else {
    cupti_ = api.value();
    started = subscribe();
  }
  if (!started) {
    guard_.require_permit(started.error());
    report_line("this process is not watched: " + started.error());
    return;
  }
  if (environment_.evidence.empty()) {
    if (environment_.evidence_named) return;  // whoever empties it wants the guard alone
    return report_line("SYMMCTS_EVIDENCE is not set: nothing of this process is recorded");
  }
  if (!environment_.problem.empty())
    return lose("no evidence of this process: " + environment_.problem);
  if (Status records = enable_activity(); !records) {
    report_line("no evidence of this process: " + records.error());
    return;
  }
  const std::string path = writer_.open(environment_.evidence);
  if (path.empty()) {
    return lose("cannot write " + environment_.evidence + ": " + std::strerror(errno));
  }
  if (path != environment_.evidence) {
    report_line(environment_.evidence +
                " is there already, of another process or an earlier run; writing " + path);
  }
  path_ = path;
  recording_ = true;
  enable_calls();
}

void Recorder::on_call(const CUpti_CallbackData& data) {
  if (own_calls) return;
  const bool entering = data.callbackSite == CUPTI_API_ENTER;
  if (entering && Guard::concerns(data.functionName)) {
    guard_.check(data.functionName, [this](const std::string& text) {
      mark(JsonObject().text("what", "give-up").text("cause", "refusal").text("text", text).take());
    });
  }
  if (!recording_) return;
  if (!entering) return leave_call(data);
  if (const CallRule* rule = find_rule(data.functionName)) enter_call(data, *rule);
}

void Recorder::enter_call(const CUpti_CallbackData& data, const CallRule& rule) {
  PendingCall call;
  call.rule = &rule;
  call.correlation = data.correlationId;
  call.begun = now();
  {
    const std::lock_guard lock(mutex_);
    call.sequence = ++calls_;
    if (rule.newest != nullptr) {
      call.newest = rule.newest(numbering_);
      JsonObject args;
      rule.describe(numbering_, view_of(data), args);
      call.args = args.take();
    }
  }
  if (rule.may_block) {
    JsonObject line;
    line.text("type", "enter").number("seq", call.sequence).number("t", call.begun);
    append(Line::enter, line.text("name", base_name(rule.name)).take());
  }
  push_pending(std::move(call));
}

void Recorder::leave_call(const CUpti_CallbackData& data) {
  PendingCall call;
  if (!pop_pending(data.correlationId, call)) return;
  const auto* result = static_cast<const CUresult*>(data.functionReturnValue);
  CallView view = view_of(data);
  view.ok = result != nullptr && *result == CUDA_SUCCESS;
  view.last = call.newest;
  if (call.rule->newest == nullptr) {
    JsonObject args;
    const std::lock_guard lock(mutex_);
    if (call.rule->describe != nullptr) call.rule->describe(numbering_, view, args);
    call.args = args.take();
  } else if (view.ok) {
    const std::lock_guard lock(mutex_);
    call.rule->forget(numbering_, view);
  }
  JsonObject line;
  line.text("type", "call").number("seq", call.sequence).number("t0", call.begun);
  line.number("t1", now()).text("name", base_name(call.rule->name));
  line.integer("result", result != nullptr ? *result : CUDA_ERROR_UNKNOWN);
  append(Line::call, line.number("corr", call.correlation).raw("args", call.args).take());
}

void Recorder::on_records(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t bytes) {
  CUpti_Activity* record = nullptr;
  while (cupti_.activity_get_next_record(buffer, bytes, &record) == CUPTI_SUCCESS) {
    const std::optional<std::string> line = activity_line(*record);
    if (!line) continue;
    append(is_copy(*record) ? Line::copy : Line::fill, *line);
  }
  std::size_t dropped = 0;
  if (cupti_.activity_get_dropped != nullptr &&
      cupti_.activity_get_dropped(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) {
    append(Line::dropped, JsonObject().text("type", "dropped").number("records", dropped).take());
  }
}

void Recorder::mark(std::string_view json_object) {
  const std::size_t open = json_object.find('{');
  if (!recording_ || open == std::string_view::npos) return;
  const std::string_view rest = json_object.substr(open + 1);
  const bool empty = rest.find_first_not_of(" \t") == rest.find('}');
  append(Line::mark, "{\"type\":\"mark\",\"t\":" + std::to_string(now()) + (empty ? "" : ",") +
                         std::string(rest));
}

bool Recorder::flush() {
  if (recording_) cupti_.activity_flush_all(0);
  return recording_ && !lost_;
}

void Recorder::finish() {
  if (!recording_) return;
  cupti_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const bool deterministic = run_is_deterministic(driver_);
  begin_file();
  const bool written = writer_.finish([&](const LineCounts& lines) {
    JsonObject footer;
    const auto count = [&](const char* key, Line type) {
      footer.number(key, lines[static_cast<std::size_t>(type)]);
    };
    footer.text("type", "footer");
    {
      // Other threads may have entered calls that have no line yet, never the other way round.
      const std::lock_guard lock(mutex_);
      footer.number("seq", calls_);
    }
    count("enters", Line::enter);
    count("calls", Line::call);
    count("copies", Line::copy);
    count("fills", Line::fill);
    count("marks", Line::mark);
    return footer.flag("deterministic", deterministic).take();
  });
  check(written);
  recording_ = false;
}

void Recorder::lose(const std::string& why) {
  if (!lost_.exchange(true)) report_line(why);
}

void Recorder::append(Line type, std::string_view line) {
  if (own_calls) return;
  begin_file();
  check(writer_.append(type, line));
}

void Recorder::check(bool written) {
  if (!written) {
    lose("the evidence of this process ends early: " + path_ + ": " + std::strerror(errno));
  }
}

void Recorder::begin_file() {
  std::call_once(header_, [this] {
    const OwnCalls own;
    check(writer_.append(Line::header, header_line(environment_, driver_, cupti_version_)));
  });
}

std::uint64_t Recorder::now() const {
  std::uint64_t time = 0;
  cupti_.get_timestamp(&time);
  return time;
}

}  // namespace symmcts::recorder
