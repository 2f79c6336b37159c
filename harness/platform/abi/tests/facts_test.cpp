// Facts about multicast objects that only the whole driver shows; each test names them
// (facts/driver-semantics.md, part A; facts.toml lists which are modelled).
#include <unistd.h>

#include <array>

#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

constexpr auto kPosix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

class Facts : public World {
 protected:
  // An object of both GPUs, all devices added.
  static CUmemGenericAllocationHandle team(std::size_t bytes = kBlock, unsigned types = kPosix) {
    const CUmulticastObjectProp prop{2, bytes, types, 0};
    CUmemGenericAllocationHandle out = 0;
    EXPECT_CU(CU(cuMulticastCreate)(&out, &prop));
    for (int device : {0, 1}) EXPECT_CU(CU(cuMulticastAddDevice)(out, device));
    return out;
  }
  static int attribute(CUdevice_attribute name) {
    int value = -1;
    EXPECT_CU(CU(cuDeviceGetAttribute)(&value, name, 0));
    return value;
  }
};

// A0.1: the attributes to query; A14.1: those of memory operations, as measured on H200.
TEST_F(Facts, AttributesOfCapability) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR), 1);
}

// A3.6: the query needs no object and neither size nor count (FlashInfer mixed_comm). A3.1: two
// options, INVALID_VALUE on anything else. A3.3: 2 MiB and 512 MiB.
TEST_F(Facts, GranularityIsAQueryOfProperties) {
  const CUmulticastObjectProp unset{0, 0, kPosix, 0};
  std::size_t minimum = 0, recommended = 0;
  const auto ask = CU(cuMulticastGetGranularity);
  EXPECT_CU(ask(&minimum, &unset, CU_MULTICAST_GRANULARITY_MINIMUM));
  EXPECT_CU(ask(&recommended, &unset, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(minimum, 2 * kMiB);
  EXPECT_EQ(recommended, 512 * kMiB);
  EXPECT_EQ(ask(&minimum, &unset, static_cast<CUmulticastGranularity_flags>(2)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask(&minimum, nullptr, CU_MULTICAST_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
  const CUmulticastObjectProp flagged{2, kBlock, kPosix, 1};
  EXPECT_EQ(ask(&minimum, &flagged, CU_MULTICAST_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
}

// A7.1: flags 0 and a size in granules; A7.4: one device is refused, and so is none.
TEST_F(Facts, CreateRefusals) {
  CUmemGenericAllocationHandle out = 0;
  for (const CUmulticastObjectProp& prop :
       {CUmulticastObjectProp{2, kBlock, kPosix, 1}, CUmulticastObjectProp{2, kMiB, kPosix, 0},
        CUmulticastObjectProp{2, 0, kPosix, 0}, CUmulticastObjectProp{1, kBlock, kPosix, 0},
        CUmulticastObjectProp{0, kBlock, kPosix, 0}}) {
    EXPECT_EQ(CU(cuMulticastCreate)(&out, &prop), CUDA_ERROR_INVALID_VALUE);
  }
}

// A4.13: the descriptor may be closed right after the import. A4.5, A4.6, A4.7: each import is a
// handle of its own with its own release.
TEST_F(Facts, AnImportKeepsNothingOfTheCallersDescriptor) {
  const auto native = create(0, kPosix);
  int fd = -1;
  ASSERT_CU(CU(cuMemExportToShareableHandle)(&fd, native, kPosix, 0));
  const auto import = CU(cuMemImportFromShareableHandle);
  CUmemGenericAllocationHandle first = 0, second = 0;
  void* const token = reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd));
  ASSERT_CU(import(&first, token, kPosix));
  ASSERT_CU(import(&second, token, kPosix));
  close(fd);
  EXPECT_NE(first, second);
  EXPECT_NE(first, native);
  EXPECT_CU(CU(cuMemRelease)(native));
  EXPECT_CU(CU(cuMemRelease)(first));
  const CUdeviceptr at = map(second, {0});
  write(at, "alive");
  EXPECT_EQ(read(at, 5), "alive");
  EXPECT_CU(CU(cuMemRelease)(second));
  unmap(at);
}

// A4.11, A16.5: a FABRIC import cannot be exported again; measured for POSIX_FD as INVALID_VALUE,
// which is what both routes answer here.
TEST_F(Facts, AnImportIsNotExportedAgain) {
  const auto native = create(0, CU_MEM_HANDLE_TYPE_FABRIC);
  CUmemFabricHandle token{};
  ASSERT_CU(CU(cuMemExportToShareableHandle)(&token, native, CU_MEM_HANDLE_TYPE_FABRIC, 0));
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_CU(CU(cuMemImportFromShareableHandle)(&imported, &token, CU_MEM_HANDLE_TYPE_FABRIC));
  EXPECT_EQ(CU(cuMemExportToShareableHandle)(&token, imported, CU_MEM_HANDLE_TYPE_FABRIC, 0),
            CUDA_ERROR_INVALID_VALUE);
  for (auto handle : {native, imported}) EXPECT_CU(CU(cuMemRelease)(handle));
}

// A5.2: Retain on the multicast address gives the imported value back, not the created one. A5.4:
// what the properties of a multicast handle would be is not known: refused.
TEST_F(Facts, RetainTellsAnImportFromTheCreation) {
  const auto native = team();
  int fd = -1;
  ASSERT_CU(CU(cuMemExportToShareableHandle)(&fd, native, kPosix, 0));
  CUmemGenericAllocationHandle imported = 0, retained = 0;
  ASSERT_CU(CU(cuMemImportFromShareableHandle)(
      &imported, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)), kPosix));
  close(fd);
  const CUdeviceptr at = map(imported, {0, 1});
  EXPECT_CU(CU(cuMemRetainAllocationHandle)(&retained, reinterpret_cast<void*>(at + 4096)));
  EXPECT_EQ(retained, imported);
  CUmemAllocationProp seen{};
  EXPECT_EQ(CU(cuMemGetAllocationPropertiesFromHandle)(&seen, native), CUDA_ERROR_INVALID_VALUE);
  unmap(at);
  for (auto handle : {retained, imported, native}) EXPECT_CU(CU(cuMemRelease)(handle));
}

// A6.5: the offset of a map is 0; a view at m is got by mapping [0, m + n) and adding m. A6.2: the
// whole object may be mapped. A7.7b: SetAccess on the one address may list every GPU.
TEST_F(Facts, APrefixOfAnObjectIsMappedNotAWindow) {
  const auto object = team(3 * kBlock);
  CUdeviceptr at = 0;
  ASSERT_CU(CU(cuMemAddressReserve)(&at, 3 * kBlock, 0, 0, 0));
  EXPECT_NE(CU(cuMemMap)(at, kBlock, kBlock, object, 0), CUDA_SUCCESS);
  EXPECT_CU(CU(cuMemMap)(at, 2 * kBlock, 0, object, 0));
  const std::array<CUmemAccessDesc, 2> both{
      {{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
       {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}};
  EXPECT_CU(CU(cuMemSetAccess)(at, 2 * kBlock, both.data(), both.size()));
  EXPECT_CU(CU(cuMemUnmap)(at, 2 * kBlock));
  EXPECT_CU(CU(cuMemMap)(at, 3 * kBlock, 0, object, 0)) << "the whole of it";
  EXPECT_CU(CU(cuMemUnmap)(at, 3 * kBlock));
  EXPECT_CU(CU(cuMemAddressFree)(at, 3 * kBlock));
  EXPECT_CU(CU(cuMemRelease)(object));
}

// A6.6: a map does not have to follow the bind (NCCL, FlashInfer, TransformerEngine map first);
// what is bound later is reached through it.
TEST_F(Facts, MapMayComeBeforeBind) {
  const auto object = team();
  const CUdeviceptr at = map(object, {0});
  const auto memory = create(0, kPosix);
  ASSERT_CU(CU(cuMulticastBindMem)(object, 0, memory, 0, kBlock, 0));
  const CUdeviceptr replica = map(memory, {0});
  write(at, "later");
  EXPECT_EQ(read(replica, 5), "later");
  unmap(at);
  unmap(replica);
  for (auto handle : {object, memory}) EXPECT_CU(CU(cuMemRelease)(handle));
}

// A9.4: BindAddr takes memory of cuMemCreate; cuMemAlloc's is INVALID_VALUE (NCCL#1584).
TEST_F(Facts, BindAddrRefusesMemoryOfCuMemAlloc) {
  const auto object = team();
  const CUdeviceptr block = alloc(kBlock);
  EXPECT_EQ(CU(cuMulticastBindAddr)(object, 0, block, kBlock, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemFree_v2)(block));
  EXPECT_CU(CU(cuMemRelease)(object));
}

// A10.7: undefined by the manual, a crash on hardware; here an error, and named.
TEST_F(Facts, ReleaseOfAnInvalidHandleIsNamed) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(CU(cuMemRelease)(0), CUDA_ERROR_INVALID_VALUE);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("garbage instead of a physical handle in cuMemRelease"), std::string::npos)
      << said;
}

// A14.4: NCCL's flag: a copy of 4 bytes to the multicast slot, then an EQ wait on the local unicast
// word. A14.3: a wait on the multicast address is a read, and refused; a write is a store.
TEST_F(Facts, AFlagThroughTheMulticastAddressEndsAWaitOnTheUnicastOne) {
  const auto object = team();
  const std::array memory = {create(0, kPosix), create(1, kPosix)};
  const std::array replica = {map(memory[0], {0, 1}), map(memory[1], {0, 1})};
  for (auto handle : memory) ASSERT_CU(CU(cuMulticastBindMem)(object, 0, handle, 0, kBlock, 0));
  const CUdeviceptr at = map(object, {0});
  for (CUdeviceptr word : replica) ASSERT_CU(CU(cuMemsetD32_v2)(word, 0, 4));
  ASSERT_CU(CU(cuCtxSynchronize)());
  const CUdeviceptr value = alloc(4);
  ASSERT_CU(CU(cuMemsetD32_v2)(value, 7, 1));
  CUstream waits = nullptr, writes = nullptr;
  ASSERT_CU(CU(cuStreamCreate)(&waits, CU_STREAM_NON_BLOCKING));
  ASSERT_CU(CU(cuStreamCreate)(&writes, CU_STREAM_NON_BLOCKING));
  const auto wait = CU(cuStreamWaitValue32_v2);
  EXPECT_CU(wait(waits, replica[0], 7, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(wait(waits, replica[1], 7, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_EQ(wait(waits, at, 7, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(at, value, 4, writes));
  EXPECT_CU(CU(cuStreamSynchronize)(waits));
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(writes, at + 4, 9, 0));
  EXPECT_CU(wait(waits, replica[1] + 4, 9, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(CU(cuStreamSynchronize)(waits));
  for (auto stream : {waits, writes}) EXPECT_CU(CU(cuStreamDestroy_v2)(stream));
  EXPECT_CU(CU(cuMemFree_v2)(value));
  for (CUdeviceptr address : {at, replica[0], replica[1]}) unmap(address);
  for (auto handle : {object, memory[0], memory[1]}) EXPECT_CU(CU(cuMemRelease)(handle));
}

// A15.1, A15.3, A15.5: what an address of a multicast object shows. A15.2: no attribute says
// "multicast"; A15.4: MEMORY_BLOCK_ID is the same for all mappings of one object.
TEST_F(Facts, AttributesOfAMulticastAddress) {
  const auto native = team(2 * kBlock);
  CUdeviceptr range = 0;
  ASSERT_CU(CU(cuMemAddressReserve)(&range, 4 * kBlock, 0, 0, 0));
  ASSERT_CU(CU(cuMemMap)(range + kBlock, 2 * kBlock, 0, native, 0));
  const CUdeviceptr other = map(native, {1}, 2 * kBlock);
  const auto ask = [&](CUpointer_attribute name, CUdeviceptr address) {
    std::uint64_t value = 0;
    EXPECT_CU(CU(cuPointerGetAttribute)(&value, name, address)) << name;
    return value;
  };
  const CUdeviceptr inside = range + kBlock + 4096;
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), range) << "the reservation";
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), 4 * kBlock);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside), range + kBlock);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside), 2 * kBlock);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MAPPED, inside), 1U);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside), 2U) << "as any device memory";
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), 0U);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, other), 0U) << "whoever has access";
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_CONTEXT, inside), 0U) << "no context to recover";
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, inside),
            ask(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, other));
  unmap(other, 2 * kBlock);
  EXPECT_CU(CU(cuMemUnmap)(range + kBlock, 2 * kBlock));
  EXPECT_CU(CU(cuMemAddressFree)(range, 4 * kBlock));
  EXPECT_CU(CU(cuMemRelease)(native));
}

}  // namespace
}  // namespace symmcts::platform::abi::test
