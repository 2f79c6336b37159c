// Programs that race, and their counterparts that do not. Each is named after what orders its work,
// or fails to.
#include "harness/platform/abi/tests/race_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

constexpr std::size_t kSmall = 4096;

CUdeviceptr pinned(const RaceWorld& w) { return reinterpret_cast<CUdeviceptr>(w.pinned); }

CUgraphExec captured(RaceWorld& w, const std::function<void()>& body) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CU(CU(cuStreamBeginCapture_v2)(w.a, CU_STREAM_CAPTURE_MODE_RELAXED));
  body();
  EXPECT_CU(CU(cuStreamEndCapture)(w.a, &graph));
  EXPECT_CU(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  return exec;
}

void launch(CUgraphExec exec, CUstream stream) { EXPECT_CU(CU(cuGraphLaunch)(exec, stream)); }

void batch(CUdeviceptr to, CUdeviceptr from, CUstream stream) {
  std::vector<CUdeviceptr> into{to, to + kSmall}, out{from, from + kSmall};
  std::vector<std::size_t> sizes{kSmall, kSmall};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t index = 0;
  EXPECT_CU(CU(cuMemcpyBatchAsync_v2)(into.data(), out.data(), sizes.data(), 2, &attributes, &index,
                                      1, stream));
}

CUmemAllocationProp on(int device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return prop;
}

CUmemGenericAllocationHandle create(const RaceWorld& w) {
  CUmemGenericAllocationHandle handle = 0;
  const auto prop = on(w.rank);
  EXPECT_CU(CU(cuMemCreate)(&handle, RaceWorld::kBlock, &prop, 0));
  return handle;
}

CUdeviceptr reserve() {
  CUdeviceptr at = 0;
  EXPECT_CU(CU(cuMemAddressReserve)(&at, RaceWorld::kBlock, 0, 0, 0));
  return at;
}

void map(const RaceWorld& w, CUdeviceptr at, CUmemGenericAllocationHandle handle) {
  EXPECT_CU(CU(cuMemMap)(at, RaceWorld::kBlock, 0, handle, 0));
  const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, w.rank},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CU(CU(cuMemSetAccess)(at, RaceWorld::kBlock, &grant, 1));
}

void callback(void*) {}

}  // namespace

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
