#!/usr/bin/env python3
"""Drives the software platform with ctypes alone: no GPU, no supervisor, no CUDA package.

  ctypes_platform.py --lib ABSOLUTE/libcuda.so.1 --foreign ABSOLUTE/other.so

Opens the platform's library by its absolute path and refuses (exit 3) any library that does not
carry the platform's marker, because creating multicast objects on a real driver changes state that
other users of the host share. `--foreign` is a library without the marker, for the test of that.
Expected values are those measured on 2 x H200 (provenance, result codes) and of cuda.h (layouts).
"""
import argparse
import os
import select
import subprocess
import sys
import tempfile
import unittest
from ctypes import byref, c_int, c_size_t, c_ubyte, c_ulonglong, c_void_p

from ctypes_driver import (ALLOWED, FABRIC, FD, INVALID_VALUE, MAPPED, MIB, ORDINAL, UNKNOWN,
                           MulticastProp, Platform, open_platform, refuse)
from two_ranks import swap, two_ranks

OPTIONS = None


class OneProcess(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cuda = Platform(OPTIONS.lib)
        cls.cuda.use(0)
        prop = MulticastProp(devices=2, size=0, handle_types=FD, flags=0)
        size = c_size_t()
        cls.cuda("cuMulticastGetGranularity", byref(size), byref(prop), 0)
        cls.size = max(2 * MIB, size.value)

    def test_memory_provenance_is_the_measured_table(self):
        cuda, size = self.cuda, self.size
        native = cuda.create(0, size, FD)
        fd = cuda.export_fd(native)
        imported = cuda.import_fd(fd)
        os.close(fd)
        plain = cuda.create(0, size, 0)
        self.assertNotEqual(native, imported)
        self.assertEqual(cuda.requested_types(native), 1)
        self.assertEqual(cuda.requested_types(imported), 0)
        maps = [cuda.map(handle, size, [0]) for handle in (native, imported, plain)]
        self.assertEqual([cuda.attribute(ALLOWED, at) for at in maps], [1, 0, 0])
        self.assertEqual([cuda.attribute(ORDINAL, at) for at in maps], [0, 0, 0])
        self.assertEqual([cuda.attribute(MAPPED, at) for at in maps], [1, 1, 1])
        retained = c_ulonglong()
        cuda("cuMemRetainAllocationHandle", byref(retained), c_void_p(maps[1] + 4096))
        self.assertEqual(retained.value, imported)
        cuda("cuMemRelease", retained.value)
        cuda.write(maps[0], b"one memory, two mappings")
        self.assertEqual(cuda.read(maps[1], 24), b"one memory, two mappings")
        for at in maps:
            cuda.unmap(at, size)
        for handle in (native, imported, plain):
            cuda("cuMemRelease", handle)

    def test_misuse_gives_the_measured_codes(self):
        cuda, size = self.cuda, self.size
        native = cuda.create(0, 2 * size, FD)
        at = cuda.map(native, 2 * size, [0])
        handle, fd = c_ulonglong(), c_int()
        codes = {
            "map over a mapped range": cuda.code("cuMemMap", at, 2 * size, 0, native, 0),
            "partial unmap": cuda.code("cuMemUnmap", at, size),
            "free while mapped": cuda.code("cuMemAddressFree", at, 2 * size),
            "import of a bad descriptor": cuda.code(
                "cuMemImportFromShareableHandle", byref(handle), c_void_p(12345), FD),
            "export of a type not requested": cuda.code(
                "cuMemExportToShareableHandle", (c_ubyte * 64)(), native, FABRIC, 0),
        }
        exported = cuda.export_fd(native)
        imported = cuda.import_fd(exported)
        os.close(exported)
        codes["re-export of an import"] = cuda.code(
            "cuMemExportToShareableHandle", byref(fd), imported, FD, 0)
        with open("/dev/null", "rb") as other:
            codes["import of a foreign descriptor"] = cuda.code(
                "cuMemImportFromShareableHandle", byref(handle), c_void_p(other.fileno()), FD)
        expected = dict.fromkeys(codes, INVALID_VALUE)
        expected["import of a bad descriptor"] = UNKNOWN
        expected["import of a foreign descriptor"] = UNKNOWN  # number 0 alone is INVALID_VALUE
        self.assertEqual(codes, expected)
        cuda.unmap(at, 2 * size)
        for used in (native, imported):
            cuda("cuMemRelease", used)

    def test_multicast_reaches_both_replicas(self):
        cuda, size = self.cuda, self.size
        native = cuda.create_multicast(2, size, FD)
        fd = cuda.export_fd(native)
        imported = cuda.import_fd(fd)
        os.close(fd)
        self.assertNotEqual(native, imported)
        memory = [cuda.create(device, size, FD) for device in (0, 1)]
        for device in (0, 1):
            cuda("cuMulticastAddDevice", imported, device)
        for device in (0, 1):
            cuda("cuMulticastBindMem", imported, 0, memory[device], 0, size, 0)
        team = cuda.map(imported, size, [0, 1])
        kept = cuda.map(native, size, [0, 1])
        replicas = [cuda.map(memory[device], size, [device, 0]) for device in (0, 1)]
        self.assertEqual(cuda.attribute(ALLOWED, team), 0)
        self.assertEqual(cuda.attribute(ALLOWED, kept), 1)
        self.assertEqual(cuda.attribute(ORDINAL, kept), 0)
        self.assertEqual([cuda.attribute(ORDINAL, at) for at in replicas], [0, 1])
        for at in replicas:
            cuda("cuMemsetD8_v2", at, 0xEE, size)
        cuda.write(team + 512, b"to both")
        for at in replicas:
            self.assertEqual(cuda.read(at + 511, 9), b"\xeeto both\xee")
        for at in [team, kept] + replicas:
            cuda.unmap(at, size)
        for device in (0, 1):
            cuda("cuMulticastUnbind", imported, device, 0, size)
        for handle in [native, imported] + memory:
            cuda("cuMemRelease", handle)


class TwoProcesses(unittest.TestCase):
    def test_one_machine_joined_by_fabric_handles(self):
        codes, lines = two_ranks([sys.executable, __file__, "--lib", OPTIONS.lib],
                                 ranks_are_told=False)
        self.assertEqual(codes, [0, 0])
        self.assertEqual(lines, ["done\n", "done\n"])


class Holds(unittest.TestCase):
    SCENARIO = """schema = "symm-cts/scenario/1"
[[hold]]
rank = 1
before = "cuCtxSynchronize"
until_rank = 0
until_passed = "cuDeviceGetCount"
"""

    def test_a_call_waits_for_the_call_of_another_rank(self):
        with tempfile.TemporaryDirectory(prefix="symmcts-ctypes-") as folder:
            scenario = os.path.join(folder, "hold.toml")
            with open(scenario, "w", encoding="utf-8") as out:
                out.write(self.SCENARIO)
            environment = dict(os.environ, SYMMCTS_MACHINE=os.path.join(folder, "machine"),
                               SYMMCTS_SCENARIO=scenario)
            ranks = [subprocess.Popen([sys.executable, __file__, "--lib", OPTIONS.lib,
                                       "--held", str(rank)], text=True,
                                      env=dict(environment, SYMMCTS_RANK=str(rank)),
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                     for rank in (0, 1)]
            self.assertEqual([rank.stdout.readline() for rank in ranks], ["ready\n"] * 2)
            ranks[1].stdin.write("go\n")
            ranks[1].stdin.flush()
            held = select.select([ranks[1].stdout], [], [], 0.5)[0] == []
            ranks[0].stdin.write("go\n")
            ranks[0].stdin.flush()
            self.assertEqual([rank.stdout.readline() for rank in ranks], ["passed\n"] * 2)
            self.assertTrue(held, "rank 1 did not wait")
            for rank in ranks:
                rank.stdin.close()
                rank.stdout.close()
            self.assertEqual([rank.wait(60) for rank in ranks], [0, 0])


class Refusal(unittest.TestCase):
    def test_a_library_without_the_marker_is_refused_before_any_call(self):
        for rank in ([], ["--rank", "0"]):
            ended = subprocess.run([sys.executable, __file__, "--lib", OPTIONS.foreign, *rank],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 3, ended.stderr)
            self.assertIn("not the software platform", ended.stderr)
            # Every function of that library says so when it is called.
            self.assertNotIn("was called", ended.stderr.replace("nothing was called", ""))

    def test_a_relative_path_is_refused(self):
        ended = subprocess.run([sys.executable, __file__, "--lib", "libcuda.so.1"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 3, ended.stderr)


def rank_program(rank):
    """One of two processes: memory and a multicast object shared by FABRIC handles."""
    def check(seen, expected, what):
        if seen != expected:
            sys.exit(f"rank {rank}: {what}: {seen!r}, expected {expected!r}")

    cuda, peer, size = Platform(OPTIONS.lib), 1 - rank, 2 * MIB
    cuda.use(rank)
    memory = cuda.create(rank, size, FABRIC)
    mine = cuda.map(memory, size, [rank])
    cuda("cuMemsetD8_v2", mine, 0, size)
    cuda("cuCtxSynchronize")

    theirs = cuda.import_fabric(bytes.fromhex(swap(cuda.export_fabric(memory).hex())))
    remote = cuda.map(theirs, size, [rank])
    check(cuda.requested_types(memory), FABRIC, "requested types of the native handle")
    check(cuda.requested_types(theirs), 0, "requested types of the import")
    check(cuda.attribute(ORDINAL, remote), peer, "ordinal of the peer's memory")
    cuda.write(remote, b"from rank %d" % rank)
    swap("written")
    check(cuda.read(mine, 11), b"from rank %d" % peer, "what the peer wrote")

    native = cuda.create_multicast(2, size, FABRIC) if rank == 0 else None
    token = swap(cuda.export_fabric(native).hex() if rank == 0 else "none")
    own_token = cuda.export_fabric(native).hex() if rank == 0 else token
    team = cuda.import_fabric(bytes.fromhex(own_token))  # the creator imports its own handle too
    cuda("cuMulticastAddDevice", team, rank)
    swap("added")
    cuda("cuMulticastBindMem", team, 0, memory, 0, size, 0)
    at = cuda.map(team, size, [rank])
    check(cuda.attribute(ALLOWED, at), 0, "handle types of the imported mapping")
    swap("mapped")
    if rank == 0:
        cuda("cuMemRelease", native)
    cuda.write(at + 4096 * (1 + rank), b"multicast from rank %d" % rank)
    swap("written")
    for writer in (0, 1):
        check(cuda.read(mine + 4096 * (1 + writer), 21), b"multicast from rank %d" % writer,
              "the replica")
    swap("read")
    cuda.unmap(at, size)
    cuda("cuMulticastUnbind", team, rank, 0, size)
    cuda("cuMemRelease", team)
    for address in (remote, mine):
        cuda.unmap(address, size)
    for handle in (theirs, memory):
        cuda("cuMemRelease", handle)
    print("done", flush=True)


def held_program(rank):
    """Rank 1's call must wait for rank 0's, which the parent starts later."""
    cuda = Platform(OPTIONS.lib)
    cuda.use(rank)
    print("ready", flush=True)
    sys.stdin.readline()
    if rank == 0:
        cuda("cuDeviceGetCount", byref(c_int()))
    else:
        cuda("cuCtxSynchronize")
    print("passed", flush=True)
    sys.stdin.readline()


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--foreign")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--held", type=int)
    OPTIONS = parser.parse_args()
    if OPTIONS.rank is not None:
        rank_program(OPTIONS.rank)
        return
    if OPTIONS.held is not None:
        held_program(OPTIONS.held)
        return
    open_platform(OPTIONS.lib)
    if OPTIONS.foreign is None:
        refuse("--foreign is missing")
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
