// Contexts, peers and what the machine says of its memory.
#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

void change_device(Session& s) {
  use(s, static_cast<int>(s.draw.below(static_cast<std::size_t>(s.world.devices))));
}

void push_and_pop(Session& s) {
  World& w = s.world;
  const int other = static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices)));
  CUcontext context = w.contexts[static_cast<std::size_t>(other)];
  CUdevice device = -1;
  s.call("push context", Expect::success(), [&] { return s.cu.cuCtxPushCurrent(context); });
  s.call("device of context", Expect::success(), [&] { return s.cu.cuCtxGetDevice(&device); });
  s.check(device == other, "the context of another device is current");
  s.call("pop context", Expect::success(), [&] { return s.cu.cuCtxPopCurrent(&context); });
  s.check(context == w.contexts[static_cast<std::size_t>(other)], "another context was popped");
}

void peers(Session& s) {
  World& w = s.world;
  const int other = static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices)));
  const CUcontext context = w.contexts[static_cast<std::size_t>(other)];
  const std::pair pair(w.current, other);
  const bool enabled = w.peers.count(pair) != 0, own = other == w.current;
  if (s.draw.once_in(10)) {
    s.call("enable peer with flags", Expect::invalid(),
           [&] { return s.cu.cuCtxEnablePeerAccess(context, 1); });
  } else if (s.draw.once_in(2)) {
    const Expect expected = own       ? Expect::exactly(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
                            : enabled ? Expect::exactly(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
                                      : Expect::success();
    if (s.call("enable peer", expected, [&] { return s.cu.cuCtxEnablePeerAccess(context, 0); }))
      w.peers.insert(pair);
  } else {
    const Expect expected =
        enabled ? Expect::success() : Expect::exactly(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    if (s.call("disable peer", expected, [&] { return s.cu.cuCtxDisablePeerAccess(context); }))
      w.peers.erase(pair);
  }
}

void primary(Session& s) {
  World& w = s.world;
  const int device = static_cast<int>(s.draw.below(static_cast<std::size_t>(w.devices)));
  CUcontext context = nullptr;
  s.call("retain primary", Expect::success(),
         [&] { return s.cu.cuDevicePrimaryCtxRetain(&context, device); });
  s.check(context == w.contexts[static_cast<std::size_t>(device)], "primary: another context");
  s.call("release primary", Expect::success(),
         [&] { return s.cu.cuDevicePrimaryCtxRelease(device); });
  unsigned flags = 0;
  int active = 0;
  s.call("state of primary", Expect::success(),
         [&] { return s.cu.cuDevicePrimaryCtxGetState(device, &flags, &active); });
  s.check(active == 1, "primary: not active although retained");
}

void memory_info(Session& s) {
  std::size_t free = 0, total = 0;
  s.call("memory info", Expect::success(), [&] { return s.cu.cuMemGetInfo(&free, &total); });
  // Whether what only a descriptor keeps (A4.2) is shown to the process that closed the handle,
  // nobody has measured.
  const std::size_t used = total - free, most = s.world.memory_used(s.world.current);
  const std::size_t least = s.world.memory_used(s.world.current, false);
  if (!s.world.alone) return;
  s.check(least <= used && used <= most, "memory info: " + std::to_string(used) +
                                             " bytes are used, something keeps " +
                                             std::to_string(most));
}

void synchronize(Session& s) {
  s.call("synchronize context", Expect::success(), [&] { return s.cu.cuCtxSynchronize(); });
  s.world.settle(s.world.bits_of(s.world.current));
}

void no_context(Session& s) {
  s.call("no context", Expect::success(), [&] { return s.cu.cuCtxSetCurrent(nullptr); });
  const Expect none = Expect::exactly(CUDA_ERROR_INVALID_CONTEXT);
  CUdeviceptr at = 0;
  CUstream stream = nullptr;
  switch (s.draw.below(4)) {
    case 0:
      s.call("alloc without context", none, [&] { return s.cu.cuMemAlloc(&at, 4); });
      break;
    case 1:
      s.call("stream without context", none, [&] { return s.cu.cuStreamCreate(&stream, 0); });
      break;
    case 2:
      s.call("synchronize without context", none, [&] { return s.cu.cuCtxSynchronize(); });
      break;
    default:
      s.call("pop without context", none, [&] { return s.cu.cuCtxPopCurrent(nullptr); });
      break;
  }
  use(s, s.world.current);
}

}  // namespace

void use(Session& session, int device) {
  session.call("use device " + std::to_string(device), Expect::success(), [&] {
    return session.cu.cuCtxSetCurrent(session.world.contexts[static_cast<std::size_t>(device)]);
  });
  session.world.current = device;
}

void settle_all(Session& session) {
  for (int device = 0; device < session.world.devices; ++device) {
    use(session, device);
    synchronize(session);
  }
}

std::vector<Choice> context_actions() {
  return {{change_device, 6}, {push_and_pop, 1}, {peers, 2},     {primary, 1},
          {memory_info, 4},   {synchronize, 8},  {no_context, 1}};
}

}  // namespace symmcts::fuzz
