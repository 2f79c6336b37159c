// Programs that are ordered by what the platform does not see: where it sees no messages, it must
// not call them certain races.
#include "harness/platform/abi/tests/race_steps.hpp"

namespace symmcts::platform::abi::test {

const std::vector<RaceProgram>& unseen_programs() {
  static const std::vector<RaceProgram> programs = {
      {"message after the copy is done",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.rank), w.source, w.a);
         w.synchronize(w.a);
         w.send(w.next());
         w.receive(w.last());
         w.copy(w.mine, w.block(w.last()), w.b);
       }},
      {"taking turns with a peer's memory",
       [](RaceWorld& w) {
         w.share();
         for (int turn = 0; turn < 2 * w.size; ++turn) {
           if (turn % w.size == w.rank) {
             w.fill(w.block(0), turn % 2 == 0 ? w.a : w.b);
             w.synchronize(turn % 2 == 0 ? w.a : w.b);
           }
           w.barrier();
         }
       }},
      {"passed on after a download",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.next()), w.source, w.a);
         std::vector<char> seen(RaceWorld::kBytes);
         EXPECT_CU(CU(cuMemcpyDtoH_v2)(seen.data(), w.source, seen.size()));
         w.synchronize(w.a);
         w.barrier();
         w.fill(w.block(w.rank), w.b);
       }},
      {"told by a host function",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.next()), w.source, w.a);
         EXPECT_CU(CU(cuLaunchHostFunc)(
             w.a,
             [](void* world) {
               static_cast<RaceWorld*>(world)->send(static_cast<RaceWorld*>(world)->next());
             },
             &w));
         w.receive(w.last());
         w.copy(w.mine, w.block(w.rank), w.b);
       }},
      {"multicast, then a message",
       [](RaceWorld& w) {
         w.share();
         const CUdeviceptr all = w.multicast();
         w.copy(all + kSmall * static_cast<std::size_t>(w.rank), w.source, w.a, kSmall);
         w.synchronize(w.a);
         w.barrier();
         w.copy(w.mine, w.block(w.rank), w.b, kSmall * static_cast<std::size_t>(w.size));
       }},
  };
  return programs;
}

}  // namespace symmcts::platform::abi::test
