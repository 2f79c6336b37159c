// Programs that do not race. Each is named after what orders its work.
#include "harness/platform/abi/tests/race_steps.hpp"

namespace symmcts::platform::abi::test {

const std::vector<RaceProgram>& ordered_programs() {
  static const std::vector<RaceProgram> programs = {
      {"one stream",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.fill(w.mine, w.a);
       }},
      {"event",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.order(w.a, w.b);
         w.fill(w.mine, w.b);
       }},
      {"event by way of a third stream",
       [](RaceWorld& w) {
         CUstream third = nullptr;
         EXPECT_CU(CU(cuStreamCreate)(&third, CU_STREAM_NON_BLOCKING));
         w.copy(w.mine, w.source, w.a);
         w.order(w.a, third);
         w.order(third, w.b);
         w.fill(w.mine, w.b);
         EXPECT_CU(CU(cuStreamDestroy_v2)(third));
       }},
      {"the host waits for the stream",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.synchronize(w.a);
         w.fill(w.mine, w.b);
       }},
      {"the host waits for the event",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         EXPECT_CU(CU(cuEventRecord)(w.event, w.a));
         EXPECT_CU(CU(cuEventSynchronize)(w.event));
         w.fill(w.mine, w.b);
       }},
      {"the host asks until the stream is done",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         while (CU(cuStreamQuery)(w.a) == CUDA_ERROR_NOT_READY) {
         }
         w.fill(w.mine, w.b);
       }},
      {"the host waits for the device",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         EXPECT_CU(CU(cuCtxSynchronize)());
         w.fill(w.mine, w.b);
       }},
      {"legacy stream between blocking ones",
       [](RaceWorld& w) {
         CUstream one = nullptr, two = nullptr;
         for (CUstream* each : {&one, &two}) EXPECT_CU(CU(cuStreamCreate)(each, 0));
         w.copy(w.mine, w.source, one);
         w.fill(w.mine, nullptr);
         w.copy(w.mine, w.source, two);
       }},
      {"neighbours",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a, 1001);
         w.copy(w.mine + 1001, w.source, w.b, 1000);
       }},
      {"two readers",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         w.copy(w.mine + RaceWorld::kWords, w.source, w.b);
       }},
      {"batch behind an event",
       [](RaceWorld& w) {
         batch(w.mine, w.source, w.a);
         w.order(w.a, w.b);
         batch(w.mine, w.source, w.b);
       }},
      {"graph replays follow each other",
       [](RaceWorld& w) {
         const auto graph = captured(w, [&] {
           w.copy(w.mine, w.source, w.a);
           w.order(w.a, w.b);
           w.fill(w.mine, w.b);
           EXPECT_CU(CU(cuEventRecord)(w.other, w.b));
           EXPECT_CU(CU(cuStreamWaitEvent)(w.a, w.other, 0));
         });
         launch(graph, w.a);
         launch(graph, w.b);
         w.copy(w.mine, w.source, w.b);
       }},
      {"host function",
       [](RaceWorld& w) {
         w.copy(w.mine, w.source, w.a);
         EXPECT_CU(CU(cuLaunchHostFunc)(w.a, callback, nullptr));
         w.fill(w.mine, w.a);
       }},
      {"other memory at the same address",
       [](RaceWorld& w) {
         const CUdeviceptr at = reserve();
         for (int i = 0; i < 3; ++i) {
           const auto handle = create(w);
           map(w, at, handle);
           w.copy(at, w.source, i % 2 == 0 ? w.a : w.b);
           EXPECT_CU(CU(cuCtxSynchronize)());
           EXPECT_CU(CU(cuMemUnmap)(at, RaceWorld::kBlock));
           EXPECT_CU(CU(cuMemRelease)(handle));
         }
       }},
      {"copy, signal, wait, read, around a ring",
       [](RaceWorld& w) {
         w.share();
         for (std::uint32_t round = 1; round <= 3; ++round) {
           w.copy(w.block(w.next()), w.source, w.a);
           w.write(w.word(w.next(), 0), round, w.a);
           w.wait(w.word(w.rank, 0), round, w.a);
           w.copy(w.mine, w.block(w.rank), w.a);
           w.write(w.word(w.last(), 1), round, w.a);
           w.wait(w.word(w.rank, 1), round, w.a);
         }
       }},
      {"a short copy as the signal",
       [](RaceWorld& w) {
         w.share();
         w.write(w.source + RaceWorld::kWords, 1, w.a);
         w.copy(w.block(w.next()), w.source, w.a);
         w.copy(w.word(w.next(), 0), w.source + RaceWorld::kWords, w.a, 4);
         w.wait(w.word(w.rank, 0), 1, w.b);
         w.copy(w.mine, w.block(w.rank), w.b);
       }},
      {"passed on from rank to rank",
       [](RaceWorld& w) {
         w.share();
         if (w.rank == 0) w.copy(w.block(0), w.source, w.a);
         if (w.rank != 0) w.wait(w.word(w.rank, 0), 1, w.a);
         if (w.rank != w.size - 1) w.write(w.word(w.rank + 1, 0), 1, w.a);
         if (w.rank == w.size - 1) w.fill(w.block(0), w.a);
       }},
      {"message after the copy is done",
       [](RaceWorld& w) {
         w.share();
         w.copy(w.block(w.rank), w.source, w.a);
         w.synchronize(w.a);
         w.send(w.next());
         w.receive(w.last());
         w.copy(w.mine, w.block(w.last()), w.b);
         w.synchronize(w.b);
         w.barrier();
         w.fill(w.block(w.rank), w.a);
       }},
      {"multicast writes side by side, then signals to all",
       [](RaceWorld& w) {
         w.share();
         const CUdeviceptr all = w.multicast();
         const auto slot = kSmall * static_cast<std::size_t>(w.rank);
         for (std::uint32_t round = 1; round <= 2; ++round) {
           w.copy(all + slot, w.source, w.a, kSmall);
           for (int step = 0; step < 2; ++step) {
             const auto value = 2 * round + static_cast<std::uint32_t>(step) - 1;
             for (int to = 0; to < w.size; ++to) w.write(w.word(to, w.rank), value, w.a);
             for (int from = 0; from < w.size; ++from) w.wait(w.word(w.rank, from), value, w.a);
             if (step == 0) {
               w.copy(w.mine, w.block(w.rank), w.a, kSmall * static_cast<std::size_t>(w.size));
             }
           }
         }
       }},
      {"words written by everybody at once",
       [](RaceWorld& w) {
         w.share();
         for (int to = 0; to < w.size; ++to) w.write(w.word(to, 0), 1, w.a);
         w.wait(w.word(w.rank, 0), 1, w.b);
       }},
  };
  return programs;
}

}  // namespace symmcts::platform::abi::test
