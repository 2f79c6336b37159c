// Virtual memory, multicast, pointer attributes.
#include <array>

#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class MappedMemory : public World {};

TEST_F(MappedMemory, VirtualMemory) {
  std::size_t minimum = 0, recommended = 0;
  auto prop = property(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const auto granularity = CU(cuMemGetAllocationGranularity);
  EXPECT_CU(granularity(&minimum, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_CU(granularity(&recommended, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(minimum, kBlock) << "measured on H200";
  EXPECT_GE(recommended, minimum);
  const auto handle = create(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const CUdeviceptr at = map(handle, {0});
  unsigned long long flags = 0;
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, peer{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  EXPECT_CU(CU(cuMemGetAccess)(&flags, &here, at));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_CU(CU(cuMemGetAccess)(&flags, &peer, at));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_NONE));
  CUmemGenericAllocationHandle retained = 0;
  EXPECT_CU(CU(cuMemRetainAllocationHandle)(&retained, reinterpret_cast<void*>(at + 4096)));
  EXPECT_EQ(retained, handle) << "measured: also at an interior address";
  EXPECT_CU(CU(cuMemRelease)(retained));
  EXPECT_CU(CU(cuMemRelease)(handle)) << "the mapping keeps the memory";
  write(at, "kept");
  EXPECT_EQ(read(at, 4), "kept");
  unmap(at);

  CUmemGenericAllocationHandle out = 0;
  const auto make = CU(cuMemCreate);
  EXPECT_EQ(make(&out, kBlock, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(&out, kBlock, &prop, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(&out, kBlock + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE) << "measured";
  prop.location.id = 2;
  EXPECT_EQ(make(&out, kBlock, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
  prop.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  EXPECT_EQ(make(&out, kBlock, &prop, 0), CUDA_ERROR_INVALID_VALUE) << "A2.2: never shareable";
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  EXPECT_EQ(make(&out, kBlock, &prop, 0), CUDA_ERROR_NOT_SUPPORTED) << "not modelled";
  EXPECT_EQ(CU(cuMemRelease)(0x1234), CUDA_ERROR_INVALID_VALUE) << "a real driver crashes";
  CUdeviceptr reserved = 0;
  EXPECT_CU(CU(cuMemAddressReserve)(&reserved, kBlock, 0, 0, 0));
  EXPECT_EQ(CU(cuMemcpyHtoD_v2)(reserved, "x", 1), CUDA_ERROR_INVALID_VALUE) << "nothing mapped";
  EXPECT_CU(CU(cuMemAddressFree)(reserved, kBlock));
}

// CU_MEM_ACCESS_FLAGS_PROT_READ: "make the address range read accessible" (cuda.h).
TEST_F(MappedMemory, MemoryThatMayOnlyBeRead) {
  const auto handle = create(0, 0);
  const CUdeviceptr at = map(handle, {0}), other = map(handle, {0});
  write(at, "to be read");
  const CUmemAccessDesc reads{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
  ASSERT_CU(CU(cuMemSetAccess)(at, kBlock, &reads, 1));
  EXPECT_EQ(read(at, 10), "to be read");
  EXPECT_CU(CU(cuMemcpyDtoD_v2)(other + 4096, at, 10));
  EXPECT_EQ(read(other + 4096, 10), "to be read");
  EXPECT_CU(CU(cuStreamWaitValue32_v2)(nullptr, at + 64, 0, CU_STREAM_WAIT_VALUE_GEQ));
  unsigned flags = 0;
  EXPECT_CU(CU(cuPointerGetAttribute)(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ));

  EXPECT_EQ(CU(cuMemcpyHtoD_v2)(at, "x", 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuMemcpyDtoD_v2)(at, other, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuMemsetD8_v2)(at, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamWriteValue32_v2)(nullptr, at, 1, 0), CUDA_ERROR_INVALID_VALUE);
  unmap(at);
  unmap(other);
  EXPECT_CU(CU(cuMemRelease)(handle));
}

TEST_F(MappedMemory, MappedMemoryOfAPeer) {
  const auto handle = create(1, 0);
  const CUdeviceptr at = map(handle, {0});
  write(at, "to the peer");
  EXPECT_EQ(read(at, 11), "to the peer");
  int ordinal = -1;
  EXPECT_CU(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
  EXPECT_EQ(ordinal, 1) << "measured: the owner's";
  EXPECT_CU(CU(cuCtxSetCurrent)(context(1)));
  EXPECT_EQ(CU(cuMemcpyHtoD_v2)(at, "x", 1), CUDA_ERROR_INVALID_VALUE)
      << "the owner itself has not been granted access to this mapping";
  EXPECT_CU(CU(cuCtxSetCurrent)(context(0)));
  unmap(at);
  EXPECT_CU(CU(cuMemRelease)(handle));
}

// facts A9.16
TEST_F(MappedMemory, MulticastWithBothFormsOfBind) {
  CUmulticastObjectProp prop{2, kBlock, CU_MEM_HANDLE_TYPE_FABRIC, 0};
  std::size_t granularity = 0;
  EXPECT_CU(CU(cuMulticastGetGranularity)(&granularity, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
  EXPECT_EQ(granularity, kBlock);
  EXPECT_CU(
      CU(cuMulticastGetGranularity)(&granularity, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  prop.size = kBlock;
  CUmemGenericAllocationHandle native = 0, imported = 0;
  ASSERT_CU(CU(cuMulticastCreate)(&native, &prop));
  CUmemFabricHandle token{};
  ASSERT_CU(CU(cuMemExportToShareableHandle)(&token, native, CU_MEM_HANDLE_TYPE_FABRIC, 0));
  ASSERT_CU(CU(cuMemImportFromShareableHandle)(&imported, &token, CU_MEM_HANDLE_TYPE_FABRIC));
  EXPECT_NE(native, imported);
  for (int device : {0, 1}) ASSERT_CU(CU(cuMulticastAddDevice)(imported, device));
  const std::array memory = {create(0, CU_MEM_HANDLE_TYPE_FABRIC),
                             create(1, CU_MEM_HANDLE_TYPE_FABRIC)};
  const std::array replica = {map(memory[0], {0, 1}), map(memory[1], {1, 0})};
  using BindMem =
      CUresult (*)(CUmemGenericAllocationHandle, CUdevice, std::size_t,
                   CUmemGenericAllocationHandle, std::size_t, std::size_t, unsigned long long);
  using BindAddr = CUresult (*)(CUmemGenericAllocationHandle, CUdevice, std::size_t, CUdeviceptr,
                                std::size_t, unsigned long long);
  const auto bind_mem = find<BindMem>("cuMulticastBindMem_v2");
  const auto bind_address = find<BindAddr>("cuMulticastBindAddr_v2");
  EXPECT_EQ(bind_mem(imported, 1, 0, memory[0], 0, kBlock, 0), CUDA_ERROR_INVALID_DEVICE)
      << "the memory is not on the device that is named";
  ASSERT_CU(bind_mem(imported, 0, 0, memory[0], 0, kBlock, 0));
  ASSERT_CU(bind_address(imported, 1, 0, replica[1], kBlock, 0));
  const CUdeviceptr team = map(imported, {0});
  const CUdeviceptr kept = map(native, {0});
  for (CUdeviceptr at : replica) EXPECT_CU(CU(cuMemsetD8_v2)(at, '.', kBlock));
  write(team + 10, "team");
  write(kept + 20, "kept");
  for (CUdeviceptr at : replica) EXPECT_EQ(read(at + 9, 16), ".team......kept.");
  std::uint64_t types = 9;
  EXPECT_CU(CU(cuPointerGetAttribute)(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, team));
  EXPECT_EQ(types, 0U);
  EXPECT_CU(CU(cuPointerGetAttribute)(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, kept));
  EXPECT_EQ(types, static_cast<unsigned>(CU_MEM_HANDLE_TYPE_FABRIC));
  EXPECT_EQ(CU(cuStreamWaitValue32)(nullptr, team, 0, 0), CUDA_ERROR_NOT_SUPPORTED)
      << "reading a multicast address is undefined";
  for (CUdeviceptr at : {team, kept, replica[0], replica[1]}) unmap(at);
  for (int device : {0, 1}) EXPECT_CU(CU(cuMulticastUnbind)(imported, device, 0, kBlock));
  for (auto handle : {imported, native, memory[0], memory[1]}) EXPECT_CU(CU(cuMemRelease)(handle));

  EXPECT_EQ(CU(cuMulticastCreate)(&native, nullptr), CUDA_ERROR_INVALID_VALUE);
  prop.flags = 1;
  EXPECT_EQ(CU(cuMulticastCreate)(&native, &prop), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuMulticastAddDevice)(native, 7), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(MappedMemory, FirstFormsOfBind) {
  const CUmulticastObjectProp prop{2, kBlock, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0};
  CUmemGenericAllocationHandle object = 0;
  ASSERT_CU(CU(cuMulticastCreate)(&object, &prop));
  for (int device : {0, 1}) ASSERT_CU(CU(cuMulticastAddDevice)(object, device));
  const auto first = create(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const auto second = create(1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const CUdeviceptr at = map(second, {1});
  EXPECT_CU(CU(cuMulticastBindMem)(object, 0, first, 0, kBlock, 0));
  EXPECT_CU(CU(cuMulticastBindAddr)(object, 0, at, kBlock, 0));
  EXPECT_EQ(CU(cuMulticastBindMem)(object, 0, first, 0, kBlock, 1), CUDA_ERROR_INVALID_VALUE);
  for (int device : {0, 1}) EXPECT_CU(CU(cuMulticastUnbind)(object, device, 0, kBlock));
  unmap(at);
  for (auto handle : {object, first, second}) EXPECT_CU(CU(cuMemRelease)(handle));
}

TEST_F(MappedMemory, PointerAttributes) {
  const CUdeviceptr block = alloc(4096);
  CUcontext owner = nullptr;
  unsigned type = 0, managed = 7, mapped = 0, access = 0;
  std::uint64_t buffer = 0;
  CUpointer_attribute names[] = {
      CU_POINTER_ATTRIBUTE_CONTEXT,    CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
      CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MAPPED,
      CU_POINTER_ATTRIBUTE_BUFFER_ID,  CU_POINTER_ATTRIBUTE_ACCESS_FLAGS};
  void* data[] = {&owner, &type, &managed, &mapped, &buffer, &access};
  EXPECT_CU(CU(cuPointerGetAttributes)(6, names, data, block + 10));
  EXPECT_EQ(owner, context(0));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(managed, 0U);
  EXPECT_EQ(mapped, 1U);
  EXPECT_NE(buffer, 0U);
  EXPECT_EQ(access, static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
  // An address that the driver does not know: an error alone, zeros in the plural form.
  int local = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_EQ(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuPointerGetAttributes)(6, names, data, unknown));
  EXPECT_EQ(owner, nullptr);
  EXPECT_EQ(type, 0U);
  EXPECT_EQ(CU(cuPointerGetAttribute)(&type, static_cast<CUpointer_attribute>(999), block),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemFree_v2)(block));
  const auto handle = create(0, 0, 2 * kBlock);
  const CUdeviceptr at = map(handle, {0}, 2 * kBlock);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_CU(CU(cuPointerGetAttribute)(&base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at + 99));
  EXPECT_CU(CU(cuPointerGetAttribute)(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, at + 99));
  EXPECT_EQ(base, at);
  EXPECT_EQ(size, 2 * kBlock);
  unmap(at, 2 * kBlock);
  EXPECT_CU(CU(cuMemRelease)(handle));
}

}  // namespace
}  // namespace symmcts::platform::abi::test
