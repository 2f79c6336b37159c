#include "tests/fuzz/partner.hpp"

#include <unistd.h>

#include <cstring>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

const Expect kSuccess = Expect::success();

}  // namespace

Partner::Partner(Session& session, Link& link, int rank, std::uint64_t episode)
    : s(session), plan(episode), link_(link), rank_(rank) {
  root = static_cast<int>(plan.below(2));
  types = s.world.fabric && plan.once_in(2) ? kFabric : kFd;
  size = kBlock * (1 + plan.below(2));
}

void Partner::meet() {
  if (!link_.meet()) throw PeerGone();
}

ObjectPtr Partner::object(bool multicast, int device) {
  auto made = std::make_shared<Object>();
  made->number = ++s.world.made;
  made->multicast = multicast;
  made->size = size;
  made->types = types;
  made->device = device;
  made->wanted = multicast ? 2 : 0;
  made->cells.resize(multicast ? 0 : size / kCell);
  return made;
}

HandlePtr Partner::keep(CUmemGenericAllocationHandle value, const ObjectPtr& made, bool native) {
  return s.world.handles[value] = std::make_shared<Handle>(Handle{value, made, native, 1});
}

HandlePtr Partner::create_memory(int device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(types);
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemGenericAllocationHandle value = 0;
  s.call("shared memory", kSuccess, [&] { return s.cu.cuMemCreate(&value, size, &prop, 0); });
  return keep(value, object(false, device), true);
}

HandlePtr Partner::create_multicast() {
  CUmulticastObjectProp prop{};
  prop.numDevices = 2;
  prop.size = size;
  prop.handleTypes = types;
  CUmemGenericAllocationHandle value = 0;
  s.call("shared multicast", kSuccess, [&] { return s.cu.cuMulticastCreate(&value, &prop); });
  return keep(value, object(true, -1), true);
}

HandlePtr Partner::hand_over(const HandlePtr& mine, bool self_import, bool drop) {
  if (!is_root()) {
    auto letter = link_.receive();
    if (!letter) throw PeerGone();
    const auto made = import(letter->text, letter->fd);
    if (letter->fd >= 0) close(letter->fd);  // the norm, right after (A4.13)
    return made;
  }
  CUmemFabricHandle token{};
  int fd = -1;
  void* out = types == kFd ? static_cast<void*>(&fd) : &token;
  s.call("export to the peer", kSuccess, [&] {
    return s.cu.cuMemExportToShareableHandle(out, mine->value,
                                             static_cast<CUmemAllocationHandleType>(types), 0);
  });
  std::string text(reinterpret_cast<const char*>(token.data), sizeof token.data);
  HandlePtr used = mine;
  if (self_import) used = import(text, fd);
  if (drop) release(mine);
  const bool sent = link_.send(text, fd);
  if (fd >= 0) close(fd);
  if (!sent) throw PeerGone();
  return used;
}

HandlePtr Partner::import(const std::string& text, int fd) {
  CUmemFabricHandle token{};
  std::memcpy(token.data, text.data(), sizeof token.data);
  void* from = types == kFd ? reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)) : &token;
  CUmemGenericAllocationHandle value = 0;
  s.call("import of a shared handle", kSuccess, [&] {
    return s.cu.cuMemImportFromShareableHandle(&value, from,
                                               static_cast<CUmemAllocationHandleType>(types));
  });
  return keep(value, object(false, 0), false);
}

void Partner::release(const HandlePtr& handle) {
  s.call("release of a shared handle", kSuccess, [&] { return s.cu.cuMemRelease(handle->value); });
  if (--handle->references == 0) s.world.handles.erase(handle->value);
}

CUdeviceptr Partner::map(const HandlePtr& handle) {
  CUdeviceptr at = 0;
  s.call("reserve", kSuccess, [&] { return s.cu.cuMemAddressReserve(&at, size, 0, 0, 0); });
  s.world.reservations[at] = size;
  s.call("map of a shared handle", kSuccess,
         [&] { return s.cu.cuMemMap(at, size, 0, handle->value, 0); });
  s.world.mappings[at] = {at, size, handle, {}};
  for (int device = 0; device < 2; ++device) {
    const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    s.call("set access", kSuccess, [&] { return s.cu.cuMemSetAccess(at, size, &grant, 1); });
  }
  return at;
}

void Partner::unmap(CUdeviceptr at) {
  s.call("unmap", kSuccess, [&] { return s.cu.cuMemUnmap(at, size); });
  s.world.mappings.erase(at);
  s.call("free range", kSuccess, [&] { return s.cu.cuMemAddressFree(at, size); });
  s.world.reservations.erase(at);
}

void Partner::write(CUdeviceptr at, std::uint64_t word) {
  s.call("write for the peer", kSuccess, [&] { return s.cu.cuMemcpyHtoD(at, &word, sizeof word); });
  s.call("synchronize context", kSuccess, [&] { return s.cu.cuCtxSynchronize(); });
}

void Partner::expect(CUdeviceptr at, std::uint64_t word, const char* what) {
  std::uint64_t found = 0;
  s.call("read of shared memory", kSuccess,
         [&] { return s.cu.cuMemcpyDtoH(&found, at, sizeof found); });
  s.check(found == word,
          std::string(what) + ": " + std::to_string(found) + " instead of " + std::to_string(word));
}

}  // namespace symmcts::fuzz
