// Where the host waits for the device, with a deadline and the names of those who are missing.
#include <algorithm>

#include "own_stream.hpp"
#include "polling.hpp"
#include "symm_mem/block.hpp"

namespace symm_mem {
namespace {

// How long the device may take to come to rest once its waits have been let go.
constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(1);

std::string milliseconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

}  // namespace

std::vector<Block::Awaited> Block::awaited_words() const {
  std::vector<Awaited> words;
  const Group& group = site_.agreement->group();
  for (int channel = 0; channel < kChannels; ++channel) {
    const auto at = static_cast<std::size_t>(channel);
    const std::string where = " of channel " + std::to_string(channel);
    for (int from = 0; from < group.size(); ++from) {
      const std::uint32_t signals = awaited_[static_cast<std::size_t>(from)][at];
      if (from != me_ && barriers_[at] != 0) {
        words.push_back({word(me_, Word::barrier, channel, from), barriers_[at], from,
                         "has not come to barrier " + std::to_string(barriers_[at]) + where});
      }
      if (signals != 0) {
        words.push_back({word(me_, Word::signal, channel, from), signals, from,
                         "has not sent signal " + std::to_string(signals) + where});
      }
    }
  }
  return words;
}

// Word by word: each is written by a peer at any time, and a copy of four bytes is whole. Into
// plain memory: giving back pinned memory waits for the device.
Status Block::read_words(const std::vector<Awaited>& words, std::vector<std::uint32_t>& values) {
  values.resize(words.size());
  OwnStream stream(Phase::use);
  Status status = stream.open();
  for (std::size_t i = 0; i < words.size() && status; ++i) {
    status = check(cuMemcpyDtoHAsync(&values[i], words[i].address, 4, stream.get()),
                   "cuMemcpyDtoHAsync", Phase::use);
  }
  return status ? stream.finish(*site_.agreement) : status;
}

// Names those who are furthest behind: a rank that waits for another one is behind as well.
Error Block::late(const char* call, Phase phase, const std::string& what) {
  Error error{.call = call, .phase = phase, .text = what};
  const std::vector<Awaited> words = awaited_words();
  std::vector<std::uint32_t> values;
  if (const Status status = words.empty() ? Status() : read_words(words, values); !status) {
    error.text += "; " + status.error().line();
    return error;
  }
  std::int32_t furthest = 0;
  std::vector<std::int32_t> behind(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    behind[i] = static_cast<std::int32_t>(words[i].value - values[i]);
    furthest = std::max(furthest, behind[i]);
  }
  for (std::size_t i = 0; i < words.size() && furthest > 0; ++i) {
    if (behind[i] != furthest) continue;
    const int rank = site_.agreement->group().members[static_cast<std::size_t>(words[i].from)];
    if (error.rank < 0) error.rank = rank;
    error.text += "; rank " + std::to_string(rank) + " " + words[i].lacks;
  }
  if (error.rank < 0) error.text += "; no rank is behind in what was not captured";
  return error;
}

Status Block::wait(CUstream stream, std::chrono::nanoseconds deadline) {
  const ContextScope scope(site_.context);
  if (!scope.status()) return scope.status();
  const CaptureTolerance tolerance;
  const CUresult code =
      poll(*site_.agreement, deadline, [stream] { return cuStreamQuery(stream); });
  if (code != CUDA_ERROR_NOT_READY) return check(code, "cuStreamQuery", Phase::use);
  return late("wait", Phase::use, "the stream has not ended after " + milliseconds(deadline));
}

// Writes into this rank's own pad what it waits for.
Status Block::let_go() {
  OwnStream stream(Phase::teardown);
  Status status = stream.open();
  const auto write = [&](CUdeviceptr address, std::uint32_t value) {
    if (!status) return;
    status =
        check(cuStreamWriteValue32(stream.get(), address, value, CU_STREAM_WRITE_VALUE_DEFAULT),
              "cuStreamWriteValue32", Phase::teardown);
  };
  for (const Awaited& each : awaited_words()) write(each.address, each.value);
  if (!captured_ever_) return status;
  for (const Word kind : {Word::enter, Word::leave, Word::slot}) {
    for (int channel = 0; channel < kChannels; ++channel) {
      for (int from = 0; from < site_.agreement->group().size(); ++from) {
        write(word(me_, kind, channel, from), 1);
      }
    }
  }
  return status;
}

// The end of the operations is asked for, not waited for: cuCtxSynchronize has no deadline, and a
// peer that is gone leaves a wait that never ends.
Status Block::come_to_rest() {
  const ContextScope scope(site_.context, Phase::teardown);
  if (!scope.status()) return scope.status();
  const CaptureTolerance tolerance;
  const std::chrono::nanoseconds deadline = site_.agreement->deadline();
  const auto ended = [this] { return ask_uses(); };
  Status first;
  CUresult code = poll(*site_.agreement, deadline, ended);
  if (code == CUDA_ERROR_NOT_READY) {
    first =
        late("close", Phase::teardown, "device work has not ended after " + milliseconds(deadline));
    keep_first(first, let_go());
    code = poll(*site_.agreement, kGrace, ended);
  }
  at_rest_ = code != CUDA_ERROR_NOT_READY;
  if (at_rest_) keep_first(first, check(code, "cuEventQuery", Phase::teardown));
  return first;
}

}  // namespace symm_mem
