// Programs that race. Each is named after what fails to order its work.
#include "harness/platform/abi/tests/race_steps.hpp"

namespace symmcts::platform::abi::test {

const std::vector<RaceProgram>& racing_programs() {
  static const std::vector<RaceProgram> programs = {
      {"two streams write",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.copy(w.mine, w.source, w.b);
       }},
      {"read on another stream than the write",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.copy(w.mine + RaceWorld::kWords, w.mine, w.b);
       }},
      {"event recorded before the write",
       [](RaceWorld& w) {
         EXPECT_CU(CU(cuEventRecord)(w.event, w.a));
         w.copy(w.mine, w.source, w.a);
         EXPECT_CU(CU(cuStreamWaitEvent)(w.b, w.event, 0));
         w.fill(w.mine, w.b);
       }},
      {"wait for an event that was never recorded",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         EXPECT_CU(CU(cuEventRecord)(w.event, w.a));
         EXPECT_CU(CU(cuStreamWaitEvent)(w.b, w.other, 0));
         w.fill(w.mine, w.b);
       }},
      {"the legacy stream does not wait for non-blocking ones",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.fill(w.mine, nullptr);
       }},
      {"the host waits for the wrong stream",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.fill(w.mine + RaceWorld::kWords, w.b);
         w.synchronize(w.b);
         w.fill(w.mine, w.b);
       }},
      {"overlap by one byte",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a, 1001);
         w.copy(w.mine + 1000, w.source, w.b, 1000);
       }},
      {"batch against fill",
       [](RaceWorld& w) {
         batch(w.mine, w.source, w.a);
         w.fill(w.mine + kSmall, w.b, kSmall);
       }},
      {"graph replay against a copy",
       [](RaceWorld& w) {
         const auto graph = captured(w, [&] { w.copy(w.mine, w.source, w.a); });
         launch(graph, w.a);
         w.synchronize(w.a);
         launch(graph, w.a);
         w.fill(w.mine, w.b);
       }},
      {"two branches of a graph",
       [](RaceWorld& w) {
         const auto graph = captured(w, [&] {
           w.order(w.a, w.b);
           w.copy(w.mine, w.source, w.a);
           w.fill(w.mine, w.b);
           EXPECT_CU(CU(cuEventRecord)(w.other, w.b));
           EXPECT_CU(CU(cuStreamWaitEvent)(w.a, w.other, 0));
         });
         launch(graph, w.a);
       }},
      {"upload from pinned memory that a download fills",
       [](RaceWorld& w) {
         w.copy(pinned(w), w.source, w.a);
         w.copy(w.mine, pinned(w), w.b);
       }},
      {"one allocation under two addresses",
       [](RaceWorld& w) {
         const auto handle = create(w);
         const CUdeviceptr one = reserve(), two = reserve();
         map(w, one, handle);
         map(w, two, handle);
         w.copy(one, w.source, w.a);
         w.fill(two, w.b);
       }},
      {"signal that does not wait for the copy",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.next()), w.source, w.a);
         w.write(w.word(w.next(), 0), 1, w.b);
         w.wait(w.word(w.rank, 0), 1, w.b);
         w.copy(w.mine, w.block(w.rank), w.b);
       }},
      {"the next copy does not wait for the reader",
       [](RaceWorld& w) {
         w.share();
         for (std::uint32_t round = 1; round <= 2; ++round) {
           w.copy(w.block(w.next()), w.source, w.a);
           w.write(w.word(w.next(), 0), round, w.a);
         }
         w.wait(w.word(w.rank, 0), 1, w.b);
         w.copy(w.mine, w.block(w.rank), w.b);
       }},
      {"peer read that nothing orders",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.rank), w.source, w.a);
         w.copy(w.mine, w.block(w.next()), w.a);
       }},
      {"message before the copy is done",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.rank), w.source, w.a, RaceWorld::kWords);
         w.send(w.next());
         w.receive(w.last());
         w.copy(w.mine, w.block(w.last()), w.b, RaceWorld::kWords);
       }},
      {"multicast write against a local one",
       [](RaceWorld& w) {
         w.share();
         const CUdeviceptr all = w.multicast();
         if (w.rank == 0) w.copy(all, w.source, w.a);
         if (w.rank == 1) w.fill(w.block(1), w.a);
       }},
      {"multicast writes that overlap",
       [](RaceWorld& w) {
         w.share();
         const CUdeviceptr all = w.multicast();
         w.copy(all + kSmall * static_cast<std::size_t>(w.rank), w.source, w.a, kSmall + 4);
       }},
      {"flags wiped while a peer may signal",
       [](RaceWorld& w) {
         w.share();
         w.write(w.word(w.next(), 0), 1, w.a);
         w.fill(w.word(w.rank, 0), w.b, 256);
       }},
      {"memory mapped elsewhere while a copy runs",
       [](RaceWorld& w) {
         const auto handle = create(w);
         const CUdeviceptr one = reserve(), two = reserve();
         map(w, one, handle);
         w.copy(one, w.source, w.a);
         map(w, two, handle);
         EXPECT_CU(CU(cuStreamQuery)(w.b));
         w.copy(w.mine, two, w.b);
         w.synchronize(w.a);
         EXPECT_CU(CU(cuMemUnmap)(one, RaceWorld::kBlock));
       }},
  };
  return programs;
}

}  // namespace symmcts::platform::abi::test
