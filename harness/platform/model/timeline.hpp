#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "harness/platform/model/engine.hpp"
#include "harness/platform/model/op.hpp"
#include "harness/platform/model/profile.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// Something that the owner of a timeline must act on.
struct Happening {
  enum class Kind : std::uint8_t {
    completed,   // the operation is done at `at`: its bytes move now
    wait_ready,  // a word wait was reached at `at`: ask for the word, then resolve()
  };
  Kind kind{};
  OpPtr op;
  Ns at = 0;
};

// The device work of one process in virtual time: streams, the edges between them, and the engines
// that serve copies. A pure event queue: no threads, no clock of its own, no bytes. Its owner adds
// operations, asks when something happens next, and steps there when it knows that nothing earlier
// can still be added. The same calls in the same order give the same times.
//
// Something may be added that is earlier than the last step (a machine without a common clock runs
// everything at once). It then takes the place that the engines left idle.
class Timeline {
 public:
  // `profile` must outlive the timeline. `seed`: work that becomes ready may begin a little later,
  // so that what is unordered comes in another order; 0: nothing does.
  explicit Timeline(const Profile& profile, std::uint64_t seed = 0);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // `legacy`: the default stream of `device`, which orders itself against every stream of the
  // device that is not `non_blocking` (CUDA's legacy default stream). At most one a device.
  void add_stream(std::uint32_t stream, int device, bool legacy, bool non_blocking);
  // Work that is still queued runs on. `now`: the host's time.
  void remove_stream(std::uint32_t stream, Ns now);

  // Adds an operation behind all earlier ones of its stream. `submitted` is host time. The stream
  // must have been added. Deterministic: ids count up from 1 in call order, and break every tie.
  OpPtr copy(std::uint32_t stream, Ns submitted, CopyClass copy_class, std::uint64_t bytes);
  OpPtr write_word(std::uint32_t stream, Ns submitted);
  OpPtr wait_word(std::uint32_t stream, Ns submitted);
  OpPtr host_function(std::uint32_t stream, Ns submitted);
  // Done when everything before it on the stream is, and, for `after`, when that is done too.
  OpPtr marker(std::uint32_t stream, Ns submitted, OpPtr after = nullptr);

  // The last operation of a stream; null if it never had one.
  OpPtr last(std::uint32_t stream) const;
  // The last operations of all streams of a device that have any, of streams that have been removed
  // since the last call too. The caller waits for them all.
  std::vector<OpPtr> last_of_device(int device);

  // When something happens next; kNever if nothing will without a call of this class.
  Ns next() const { return queue_.empty() ? kNever : std::get<0>(*queue_.begin()); }
  // The operation that step() would complete, or whose wait it would reach. Null where it would do
  // neither, or complete a marker.
  const Op* next_act() const;
  // Goes there. Precondition: next() != kNever. Empty where nothing of interest happened.
  std::optional<Happening> step();

  // The word of a wait has been found satisfied at `at`.
  void resolve(const OpPtr& wait, Ns at);
  // Ready time of the earliest wait that has been reached and is not resolved; kNever if none.
  Ns earliest_wait() const;

  // Nothing will be submitted before `now`: lets the engines forget what they did before.
  void forget_before(Ns now);

 private:
  // Events at one time run in this order: an engine that becomes free, and whatever a completion
  // makes ready, are seen before any copy is chosen.
  enum Phase : int { kComplete, kReady, kStart };
  using Entry = std::tuple<Ns, int, std::uint64_t>;  // the last: operation id, or engine index

  struct Stream {
    int device = 0;
    bool legacy = false;
    bool non_blocking = false;
    bool removed = false;
    OpPtr last;
  };

  OpPtr add(std::uint32_t stream, Ns submitted, OpKind kind);
  void seal(const OpPtr& op);
  void becomes_ready(const OpPtr& op);
  static void depend(const OpPtr& op, const OpPtr& on);
  std::optional<Happening> on_ready(const OpPtr& op, Ns at);
  std::optional<Happening> complete(const OpPtr& op, Ns at);
  void on_start(Engine& engine, Ns at);
  void schedule_start(Engine& engine);
  void schedule_end(const OpPtr& op, Ns end);
  Engine& engine(int device, const std::string& name);
  Engine& choose_engine(const Op& op, Ns at);
  // Brings the progress of what runs on a device up to `at`, and sets the rates that hold from
  // then.
  void reprice(int device, Ns at);

  const Profile& profile_;
  const std::uint64_t seed_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint32_t, Stream> streams_;
  // Removed, and all their work done: whoever waits for the device, or for all of its blocking
  // streams, has seen that work done. The youngest, so that a program that never does stays small.
  std::deque<Stream> gone_;
  std::map<std::uint64_t, OpPtr> open_;  // operations that have an entry in the queue
  std::map<std::pair<int, std::string>, std::size_t> engine_index_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::set<Entry> queue_;
  std::set<std::pair<Ns, std::uint64_t>> waits_;
};

}  // namespace symmcts::platform
