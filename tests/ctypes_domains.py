#!/usr/bin/env python3
"""What crosses an NVLink domain and what does not, between two processes on two virtual hosts.

  ctypes_domains.py --lib ABSOLUTE/libcuda.so.1

Profile gb200-4x64: 16 hosts of four GPUs make a domain. Expected: a FABRIC handle imports anywhere
(nvbandwidth#44), memory of another domain is refused when access is asked for (INVALID_VALUE, the
same report), and a GPU of another domain when it is added to a multicast object (INVALID_DEVICE:
open kernel modules, facts A8.3 and A8.4). Refuses any library that is not the software platform.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from ctypes import byref, c_ulonglong

from ctypes_driver import (FABRIC, INVALID_VALUE, MIB, SUCCESS, AccessDesc, Location, Platform,
                           open_platform)

INVALID_DEVICE = 101
SIZE = 2 * MIB
OPTIONS = None


def host_program():
    """Host 0 sends two tokens, each host adds its GPU 0 in turn, and says what it got."""
    cuda = Platform(OPTIONS.lib)
    cuda.use(0)
    if OPTIONS.first:
        memory = cuda.create(0, SIZE, FABRIC)
        team = cuda.create_multicast(2, SIZE, FABRIC)
        cuda("cuMulticastAddDevice", team, 0)
        print(cuda.export_fabric(memory).hex(), cuda.export_fabric(team).hex(), flush=True)
        sys.stdin.readline()  # the other one is done
        return
    memory, team = [cuda.import_fabric(bytes.fromhex(word)) for word in sys.stdin.readline().split()]
    address = c_ulonglong()
    cuda("cuMemAddressReserve", byref(address), SIZE, 0, 0, 0)
    cuda("cuMemMap", address.value, SIZE, 0, memory, 0)
    grant = AccessDesc(Location(1, 0), 3)
    print(cuda.code("cuMemSetAccess", address.value, SIZE, byref(grant), 1),
          cuda.code("cuMulticastAddDevice", team, 0), flush=True)


class Domains(unittest.TestCase):
    def codes(self, host):
        """Of access and of adding a device, on `host`, to what host 0 has created."""
        with tempfile.TemporaryDirectory(prefix="symmcts-domains-") as folder:
            environment = dict(os.environ, SYMMCTS_MACHINE=os.path.join(folder, "machine"),
                               SYMMCTS_PLATFORM="gb200-4x64")
            first, other = [subprocess.Popen(
                [sys.executable, __file__, "--lib", OPTIONS.lib, *arguments],
                env=dict(environment, SYMMCTS_HOST=str(at)), text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for at, arguments in ((0, ["--first"]), (host, ["--other"]))]
            answer, _ = other.communicate(first.stdout.readline(), timeout=60)
            first.communicate("done\n", timeout=60)
            self.assertEqual([first.returncode, other.returncode], [0, 0])
            return [int(word) for word in answer.split()]

    def test_within_a_domain_everything_works(self):
        self.assertEqual(self.codes(15), [SUCCESS, SUCCESS])

    def test_across_domains_access_and_add_are_refused(self):
        self.assertEqual(self.codes(16), [INVALID_VALUE, INVALID_DEVICE])
        self.assertEqual(self.codes(63), [INVALID_VALUE, INVALID_DEVICE])


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--other", action="store_true")
    OPTIONS = parser.parse_args()
    if OPTIONS.first or OPTIONS.other:
        host_program()
        return
    open_platform(OPTIONS.lib)
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
