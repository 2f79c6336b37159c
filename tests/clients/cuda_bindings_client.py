#!/usr/bin/env python3
"""cuda.bindings.driver (PyPI cuda-bindings), a client that nobody here wrote, on the platform.

  cuda_bindings_client.py --lib ABSOLUTE/libcuda.so.1 --venv FOLDER [--foreign OTHER.so]

Two processes: memory shared by FABRIC handles and mapped, one multicast object with a self-import on
its creator, copies up, down, between devices and to the multicast address, events and streams.
Expected are the bytes that were written, and what was measured on two H200 or is in cuda.h. Exits 77
where the package is missing, 3 for any driver that is not the software platform.
"""
import argparse
import ctypes
import subprocess
import sys

from client import REFUSED, claim_driver, inside_venv, refuse, swap, two_ranks

SIZE = 2 << 20
cu = None


def must(answer):
    """The values of a call, without the code, which must be success."""
    code, *values = answer
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{code!r}")
    return values[0] if len(values) == 1 else values


def check(seen, expected, what):
    if seen != expected:
        sys.exit(f"{what}: {seen!r}, expected {expected!r}")


class Rank:
    FABRIC = None

    def __init__(self, rank):
        must(cu.cuInit(0))
        check(must(cu.cuDeviceGetCount()), 2, "devices of gb200-nvl2")
        self.rank, self.device = rank, must(cu.cuDeviceGet(rank))
        must(cu.cuCtxSetCurrent(must(cu.cuDevicePrimaryCtxRetain(self.device))))
        self.fabric = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC
        supported = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
        check(must(cu.cuDeviceGetAttribute(supported, self.device)), 1, "MULTICAST_SUPPORTED")
        self.stream = must(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def create(self):
        prop = cu.CUmemAllocationProp()
        prop.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        prop.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        prop.location.id = int(self.device)
        prop.requestedHandleTypes = self.fabric
        minimum = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        check(SIZE % must(cu.cuMemGetAllocationGranularity(prop, minimum)), 0, "granularity")
        return must(cu.cuMemCreate(SIZE, prop, 0))

    def map(self, handle):
        at = must(cu.cuMemAddressReserve(SIZE, 0, 0, 0))
        must(cu.cuMemMap(at, SIZE, 0, handle, 0))
        access = cu.CUmemAccessDesc()
        access.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = int(self.device)
        access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        must(cu.cuMemSetAccess(at, SIZE, [access], 1))
        return at

    def unmap(self, at):
        must(cu.cuMemUnmap(at, SIZE))
        must(cu.cuMemAddressFree(at, SIZE))

    def export(self, handle):
        return bytes(must(cu.cuMemExportToShareableHandle(handle, self.fabric, 0)).data).hex()

    def take(self, text):
        token = cu.CUmemFabricHandle()
        token.data = bytes.fromhex(text)
        return must(cu.cuMemImportFromShareableHandle(token.getPtr(), self.fabric))

    def write(self, at, offset, data):
        must(cu.cuMemcpyHtoDAsync(int(at) + offset, data, len(data), self.stream))
        must(cu.cuStreamSynchronize(self.stream))

    def read(self, at, offset, length):
        out = bytearray(length)
        address = ctypes.addressof((ctypes.c_char * length).from_buffer(out))
        must(cu.cuMemcpyDtoH(address, int(at) + offset, length))
        return bytes(out)


def rank_program(number):
    rank, peer = Rank(number), 1 - number
    memory = rank.create()
    mine = rank.map(memory)
    must(cu.cuMemsetD8(mine, 0, SIZE))
    must(cu.cuCtxSynchronize())
    theirs = rank.take(swap(rank.export(memory)))
    remote = rank.map(theirs)
    ordinal = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    check(must(cu.cuPointerGetAttribute(ordinal, remote)), peer, "ordinal of the peer's memory")

    # A copy between devices, timed by events.
    rank.write(mine, 0, b"from rank %d" % number)
    begin, end = [must(cu.cuEventCreate(0)) for _ in range(2)]
    must(cu.cuEventRecord(begin, rank.stream))
    must(cu.cuMemcpyDtoDAsync(int(remote) + 4096, mine, 11, rank.stream))
    must(cu.cuEventRecord(end, rank.stream))
    must(cu.cuEventSynchronize(end))
    check(must(cu.cuEventElapsedTime(begin, end)) > 0, True, "time passes")
    swap("written")
    check(rank.read(mine, 4096, 11), b"from rank %d" % peer, "what the peer wrote")

    # One multicast object; the creator imports its own handle too.
    prop = cu.CUmulticastObjectProp()
    prop.numDevices, prop.size = 2, SIZE
    prop.handleTypes = int(rank.fabric)
    native = must(cu.cuMulticastCreate(prop)) if number == 0 else None
    own = rank.export(native) if number == 0 else "none"
    told = swap(own)
    team = rank.take(own if number == 0 else told)
    if number == 0:
        check(int(team) != int(native), True, "a self-import has a handle of its own")
    must(cu.cuMulticastAddDevice(team, rank.device))
    swap("added")
    must(cu.cuMulticastBindMem(team, 0, memory, 0, SIZE, 0))
    multicast = rank.map(team)
    swap("mapped")
    if number == 0:
        must(cu.cuMemRelease(native))
    rank.write(multicast, 8192 * (1 + number), b"to all from %d" % number)
    swap("written")
    for writer in (0, 1):
        check(rank.read(mine, 8192 * (1 + writer), 13), b"to all from %d" % writer, "the replica")
    swap("read")

    # Misuse is a value, as on a real driver.
    code, = cu.cuMulticastAddDevice(team, rank.device)
    check(code, cu.CUresult.CUDA_ERROR_INVALID_VALUE, "a device twice")

    rank.unmap(multicast)
    must(cu.cuMulticastUnbind(team, rank.device, 0, SIZE))
    must(cu.cuMemRelease(team))
    for at in (remote, mine):
        rank.unmap(at)
    for handle in (theirs, memory):
        must(cu.cuMemRelease(handle))
    must(cu.cuStreamDestroy(rank.stream))
    print("done", flush=True)


def refused(options):
    """A driver without the marker must be refused before any of its functions is called."""
    ended = subprocess.run([sys.executable, "-B", sys.argv[0], "--lib", options.foreign, "--venv",
                            options.venv, "--rank", "0"], capture_output=True, text=True)
    said = ended.stderr.replace("nothing was called", "")
    return ended.returncode == REFUSED and "was called" not in said


def main():
    global cu
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--venv", required=True)
    parser.add_argument("--foreign")
    parser.add_argument("--rank", type=int)
    options = parser.parse_args()
    inside_venv(options.venv)
    claim_driver(options.lib)
    if options.rank is None:
        if options.foreign is None:
            refuse("--foreign is missing")
        if not refused(options):
            sys.exit("a driver without the marker was not refused")
        codes, lines = two_ranks([sys.executable, "-B", sys.argv[0], "--lib", options.lib,
                                  "--venv", options.venv], ranks_are_told=True)
        if (codes, lines) != ([0, 0], ["done\n", "done\n"]):
            sys.exit("a rank failed")
        print("two ranks of cuda.bindings.driver have shared memory")
        return
    from cuda.bindings import driver
    cu = driver
    rank_program(options.rank)


if __name__ == "__main__":
    main()
