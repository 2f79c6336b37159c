// cuMemAlloc and the host's memory, as measured.
#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

constexpr std::size_t kMost = 8;

void alloc(Session& s) {
  World& w = s.world;
  if (w.blocks.size() >= kMost) return;
  std::size_t size = s.draw.of<std::size_t>({1, 4, 4096, 1 << 20, kBlock, kBlock + 1});
  Expect expected = Expect::success();
  switch (s.draw.below(8)) {
    case 0:
      size = 0;
      expected = Expect::invalid();
      break;
    case 1:
      size =
          s.draw.of<std::size_t>({std::size_t{1} << 50, ~std::size_t{0}, ~std::size_t{0} - kBlock});
      expected = Expect::exactly(CUDA_ERROR_OUT_OF_MEMORY);
      break;
    default:
      break;
  }
  CUdeviceptr at = 0;
  if (!s.call("alloc " + std::to_string(size), expected,
              [&] { return s.cu.cuMemAlloc(&at, size); }))
    return;
  w.blocks[at] = {w.current, size};
  CUdeviceptr base = 0;
  std::size_t length = 0;
  s.call("address range", Expect::success(),
         [&] { return s.cu.cuMemGetAddressRange(&base, &length, at + size - 1); });
  s.check(base == at && length == size, "address range: not what was asked for");  // measured
}

void free_block(Session& s) {
  World& w = s.world;
  if (w.blocks.empty()) return;
  const auto [at, block] = s.draw.from(w.blocks);
  switch (s.draw.below(8)) {
    case 0:
      if (block.second == 1) return;
      s.call("free inside", Expect::invalid(), [&, at = at] { return s.cu.cuMemFree(at + 1); });
      return;
    case 1:
      s.call("free of address 0", Expect::success(), [&] { return s.cu.cuMemFree(0); });
      return;
    default:
      break;
  }
  s.call("free", Expect::success(), [&, at = at] { return s.cu.cuMemFree(at); });
  w.settle(w.bits_of(block.first));
  w.blocks.erase(at);
  if (s.draw.once_in(4))
    s.call("free again", Expect::invalid(), [&, at = at] { return s.cu.cuMemFree(at); });
}

void host_alloc(Session& s) {
  World& w = s.world;
  if (w.pinned.size() >= kMost) return;
  void* at = nullptr;
  std::size_t size = s.draw.of<std::size_t>({1, 4096, 100'000});
  Expect expected = Expect::success();
  if (s.draw.once_in(8)) size = 0, expected = Expect::invalid();
  if (s.draw.once_in(16)) size = ~std::size_t{0}, expected = Expect::failure();
  if (!s.call("host alloc " + std::to_string(size), expected,
              [&] { return s.cu.cuMemHostAlloc(&at, size, 0); }))
    return;
  w.pinned[at] = size;
  static_cast<char*>(at)[size - 1] = 'x';  // it is there
}

void host_free(Session& s) {
  World& w = s.world;
  int local = 0;
  if (w.pinned.empty() || s.draw.once_in(8)) {
    s.call("host free of other memory", Expect::invalid(),
           [&] { return s.cu.cuMemFreeHost(&local); });
    return;
  }
  void* at = s.draw.from(w.pinned).first;
  s.call("host free", Expect::success(), [&] { return s.cu.cuMemFreeHost(at); });
  w.settle(w.bits_of(w.current));
  w.pinned.erase(at);
}

void host_register(Session& s) {
  alignas(4096) static char memory[8192];
  const bool whole = !s.draw.once_in(4);
  if (!whole) {
    s.call("register null", Expect::invalid(),
           [&] { return s.cu.cuMemHostRegister(nullptr, 4096, 0); });
    s.call("register size 0", Expect::invalid(),
           [&] { return s.cu.cuMemHostRegister(memory, 0, 0); });
    s.call("unregister what is not", Expect::exactly(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
           [&] { return s.cu.cuMemHostUnregister(memory); });
    s.call("register over the end of memory", Expect::failure(),
           [&] { return s.cu.cuMemHostRegister(memory, ~std::size_t{0}, 0); });
    return;
  }
  s.call("register", Expect::success(),
         [&] { return s.cu.cuMemHostRegister(memory, sizeof memory, 0); });
  s.call("register again", Expect::exactly(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
         [&] { return s.cu.cuMemHostRegister(memory, 4096, 0); });
  s.call("unregister inside", Expect::invalid(),
         [&] { return s.cu.cuMemHostUnregister(memory + 4096); });
  s.call("unregister", Expect::success(), [&] { return s.cu.cuMemHostUnregister(memory); });
  s.world.settle(s.world.bits_of(s.world.current));
}

}  // namespace

std::vector<Choice> block_actions() {
  return {{alloc, 3}, {free_block, 3}, {host_alloc, 2}, {host_free, 2}, {host_register, 1}};
}

}  // namespace symmcts::fuzz
