// What two ranks do together. Each step's expectation is the survey's: A4 for what travels, A8 to
// A10 for multicast objects, A14 for words.
#include "tests/fuzz/episodes.hpp"

#include "tests/fuzz/actions.hpp"
#include "tests/fuzz/partner.hpp"

namespace symmcts::fuzz {
namespace {

const Expect kSuccess = Expect::success();

void share_memory(Partner& p) {
  const bool drop = p.types == kFd && p.plan.once_in(2);  // a descriptor is a reference (A4.2)
  const auto first = p.plan.next(), second = p.plan.next();
  const HandlePtr mine = p.is_root() ? p.create_memory(static_cast<int>(p.plan.below(2))) : nullptr;
  const CUdeviceptr kept = p.is_root() ? p.map(mine) : 0;
  const HandlePtr handle = p.hand_over(mine, false, drop);
  const CUdeviceptr at = p.is_root() ? kept : p.map(handle);
  if (p.is_root()) p.write(at, first);
  p.meet();
  if (!p.is_root()) {
    p.expect(at, first, "what the root wrote");
    p.write(at + kCell, second);
  }
  p.meet();
  if (p.is_root()) p.expect(at + kCell, second, "what the peer wrote");
  p.unmap(at);
  if (!p.is_root() || !drop) p.release(handle);
}

void signal_words(Partner& p) {
  const std::uint64_t word = p.plan.next() | 1;
  const HandlePtr mine = p.is_root() ? p.create_memory(p.root) : nullptr;
  const HandlePtr handle = p.hand_over(mine, false, false);
  const CUdeviceptr at = p.map(handle);
  Session& s = p.s;
  CUstream stream = nullptr;
  s.call("create stream", kSuccess,
         [&] { return s.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); });
  s.world.streams.push_back({stream, s.world.current, 63});
  if (p.is_root()) {
    p.write(at, 0);
    p.meet();
    s.call("wait for the peer's word", kSuccess,
           [&] { return s.cu.cuStreamWaitValue64(stream, at, word, CU_STREAM_WAIT_VALUE_EQ); });
  } else {
    p.meet();
    s.call("write of the root's word", kSuccess,
           [&] { return s.cu.cuStreamWriteValue64(stream, at, word, 0); });
  }
  s.call("synchronize with the peer", kSuccess, [&] { return s.cu.cuStreamSynchronize(stream); });
  if (p.is_root()) p.expect(at, word, "the word that was waited for");
  s.call("destroy stream", kSuccess, [&] { return s.cu.cuStreamDestroy(stream); });
  s.world.streams.pop_back();
  p.meet();
  p.unmap(at);
  p.release(handle);
}

void team_up(Partner& p, int rank) {
  Session& s = p.s;
  const bool self_import = p.plan.once_in(2), votes = p.plan.once_in(2),
             swapped = p.plan.once_in(2);
  const std::uint64_t words[2] = {p.plan.next(), p.plan.next()};
  const int device = swapped ? 1 - rank : rank;
  const HandlePtr mine = p.is_root() ? p.create_multicast() : nullptr;
  const HandlePtr team = p.hand_over(mine, self_import, false);
  s.call("add device of the team", kSuccess,
         [&] { return s.cu.cuMulticastAddDevice(team->value, device); });
  if (votes) p.meet();
  const HandlePtr memory = p.create_memory(device);
  const CUdeviceptr replica = p.map(memory);
  s.call("bind to the team", kSuccess,
         [&] { return s.cu.cuMulticastBindMem(team->value, 0, memory->value, 0, p.size, 0); });
  const CUdeviceptr at = p.map(team);
  p.meet();
  if (p.is_root() && self_import) p.release(mine);  // safe from here on (A4.8b)
  p.write(at + kCell * static_cast<std::size_t>(rank), words[rank]);
  p.meet();
  for (std::size_t writer = 0; writer < 2; ++writer) {
    p.expect(replica + kCell * writer, words[writer], "a replica after a multicast write");
  }
  p.meet();
  const bool memory_first = s.draw.once_in(3);
  if (memory_first) {
    p.unmap(replica);
    p.release(memory);
  }
  p.unmap(at);
  // Memory that is gone has left the team (A10.3).
  s.call("unbind from the team", memory_first ? Expect::failure() : kSuccess,
         [&] { return s.cu.cuMulticastUnbind(team->value, device, 0, p.size); });
  p.release(team);
  if (!memory_first) {
    p.unmap(replica);
    p.release(memory);
  }
}

// The root drops its create reference before the peer imports: a descriptor still keeps the object,
// a token gives an empty one (A4.8, torchcomms#3506). A device can be added to either.
void import_late(Partner& p) {
  const HandlePtr mine = p.is_root() ? p.create_multicast() : nullptr;
  const HandlePtr late = p.hand_over(mine, false, true);
  if (!p.is_root()) {
    p.s.call("add device to a late import", kSuccess,
             [&] { return p.s.cu.cuMulticastAddDevice(late->value, 0); });
    p.release(late);
  }
  p.meet();
}

}  // namespace

void meet_peer(Session& session, Link& link, int rank, std::uint64_t episode) {
  try {
    Partner partner(session, link, rank, episode);
    use(session, rank);
    switch (partner.plan.below(4)) {
      case 0:
        return share_memory(partner);
      case 1:
        return signal_words(partner);
      case 2:
        return team_up(partner, rank);
      default:
        return import_late(partner);
    }
  } catch (const PeerGone&) {
    give_up(session);  // nobody else will say what has become of what was shared
  }
}

}  // namespace symmcts::fuzz
