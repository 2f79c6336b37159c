// Barriers and signals of a block, by stream memory operations on the pads.
//
// Outside of captures a word counts: its source writes a number that is one higher each time, its
// owner waits for that number. One write and one wait a peer; that is the fast way. A captured call
// would write the number of its capture again on every replay (vllm#35772, flashinfer#3304), so
// captured calls use other words, which hold 0 or 1 and which the owner puts back to 0.
//
// A word that is put back must not be written again before that has happened. A captured barrier
// therefore has two halves, each with its own words, and the two take turns: a rank writes `enter`
// again only after the `leave` of every peer, and a peer writes `leave` after it has put its
// `enter` words back. Each operation has both halves, whatever runs between them, so the turns hold
// over any number of replays and graphs. A captured signal waits for the word in the receiver's pad
// to be 0.
#include "misuse.hpp"
#include "symm_mem/block.hpp"

namespace symm_mem {
namespace {

bool is_channel(int channel) { return channel >= 0 && channel < kChannels; }

// The write is ordered after all earlier work of the stream, memory included: that is the default
// of cuStreamWriteValue32.
Status write_word(CUstream stream, CUdeviceptr word, std::uint32_t value) {
  return check(cuStreamWriteValue32(stream, word, value, CU_STREAM_WRITE_VALUE_DEFAULT),
               "cuStreamWriteValue32", Phase::use);
}

Status wait_word(CUstream stream, CUdeviceptr word, std::uint32_t value,
                 CUstreamWaitValue_flags test) {
  return check(cuStreamWaitValue32(stream, word, value, test), "cuStreamWaitValue32", Phase::use);
}

}  // namespace

Status Block::is_member(const char* call, int member) const {
  if (member >= 0 && member < site_.agreement->group().size()) return {};
  return misuse(call, "no rank " + std::to_string(member) + " in the group");
}

// Both halves of a barrier; outside of captures each is one.
Status Block::enter(CUstream stream, int channel, bool captured) {
  return captured ? meet(stream, channel, Word::enter) : count_in(stream, channel);
}

Status Block::leave(CUstream stream, int channel, bool captured) {
  return captured ? meet(stream, channel, Word::leave) : count_in(stream, channel);
}

Status Block::count_in(CUstream stream, int channel) {
  const std::uint32_t round = ++barriers_[static_cast<std::size_t>(channel)];
  const int ranks = site_.agreement->group().size();
  Status status;
  for (int step = 1; step < ranks && status; ++step) {
    status = write_word(stream, word((me_ + step) % ranks, Word::barrier, channel, me_), round);
  }
  for (int step = 1; step < ranks && status; ++step) {
    // GEQ compares cyclically, so the counter may wrap and a peer may be ahead.
    status = wait_word(stream, word(me_, Word::barrier, channel, (me_ + step) % ranks), round,
                       CU_STREAM_WAIT_VALUE_GEQ);
  }
  return status;
}

Status Block::meet(CUstream stream, int channel, Word kind) {
  const int ranks = site_.agreement->group().size();
  Status status;
  for (int step = 1; step < ranks && status; ++step) {
    status = write_word(stream, word((me_ + step) % ranks, kind, channel, me_), 1);
  }
  for (int step = 1; step < ranks && status; ++step) {
    const CUdeviceptr own = word(me_, kind, channel, (me_ + step) % ranks);
    status = wait_word(stream, own, 1, CU_STREAM_WAIT_VALUE_EQ);
    if (status) status = write_word(stream, own, 0);
  }
  return status;
}

Status Block::barrier(CUstream stream, int channel) {
  if (!is_channel(channel)) return misuse("barrier", "no channel " + std::to_string(channel));
  return enqueue(stream, [&](bool captured) {
    const Status entered = enter(stream, channel, captured);
    return entered && captured ? leave(stream, channel, true) : entered;
  });
}

Status Block::put_signal(int to, int channel, CUstream stream) {
  if (!is_channel(channel)) return misuse("put_signal", "no channel " + std::to_string(channel));
  if (const Status member = is_member("put_signal", to); !member) return member;
  return enqueue(stream, [&](bool captured) {
    if (captured) {
      const CUdeviceptr slot = word(to, Word::slot, channel, me_);
      // A wait may poll a peer's memory (measured on H200).
      const Status free = wait_word(stream, slot, 0, CU_STREAM_WAIT_VALUE_EQ);
      return free ? write_word(stream, slot, 1) : free;
    }
    const std::uint32_t count =
        ++sent_[static_cast<std::size_t>(to)][static_cast<std::size_t>(channel)];
    return write_word(stream, word(to, Word::signal, channel, me_), count);
  });
}

Status Block::wait_signal(int from, int channel, CUstream stream) {
  if (!is_channel(channel)) return misuse("wait_signal", "no channel " + std::to_string(channel));
  if (const Status member = is_member("wait_signal", from); !member) return member;
  return enqueue(stream, [&](bool captured) {
    if (captured) {
      const CUdeviceptr slot = word(me_, Word::slot, channel, from);
      const Status full = wait_word(stream, slot, 1, CU_STREAM_WAIT_VALUE_EQ);
      return full ? write_word(stream, slot, 0) : full;
    }
    const std::uint32_t count =
        ++awaited_[static_cast<std::size_t>(from)][static_cast<std::size_t>(channel)];
    return wait_word(stream, word(me_, Word::signal, channel, from), count,
                     CU_STREAM_WAIT_VALUE_GEQ);
  });
}

}  // namespace symm_mem
