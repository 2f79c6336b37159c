#!/usr/bin/env python3
"""The measuring programs work: on the software platform, with few rounds. Nothing is said of speed.

  bench_test.py --programs FOLDER --lib ABSOLUTE/libcuda.so.1 --foreign ABSOLUTE/other.so
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None
CI_BENCH = pathlib.Path(__file__).resolve().parents[2] / "ci" / "bench"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="symmcts-bench-test-")
        self.addCleanup(folder.cleanup)
        self.tmp = folder.name

    def run_program(self, *command, **variables):
        ended = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=300,
                               env={**os.environ, "TMPDIR": self.tmp, **variables})
        self.assertEqual(os.listdir(self.tmp), [], "left in TMPDIR")
        return ended

    def on_platform(self, name, *arguments, platform="gb200-nvl2"):
        ended = self.run_program(pathlib.Path(OPTIONS.programs, name), *arguments,
                                 LD_LIBRARY_PATH=os.path.dirname(OPTIONS.lib), SYMMCTS_PLATFORM=platform)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout


class Platform(Case):
    def test_a_library_without_the_marker_is_refused(self):
        program = pathlib.Path(OPTIONS.programs, "platform_bench")
        for library in (OPTIONS.foreign, "libcuda.so.1"):
            ended = self.run_program(program, "--lib", library)
            self.assertEqual(ended.returncode, 3, ended.stderr)
            self.assertNotIn("was called", ended.stderr.replace("nothing was called", ""))

    def test_it_measures_calls_and_ranks(self):
        ended = self.run_program(pathlib.Path(OPTIONS.programs, "platform_bench"), "--lib", OPTIONS.lib,
                                 "--ranks", 2, 8)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for expected in (r"enqueue of an async copy +\d+\.\d+ us", r"create \+ map \+ set access +\d+\.\d+ us",
                         r" 2 ranks: +\d+", r" 8 ranks: +\d+"):
            self.assertRegex(ended.stdout, expected)


class TwoRanks(Case):
    def test_the_all_gathers_bring_the_right_bytes(self):
        for platform in ("gb200-nvl2", "hgx-h200"):
            out = self.on_platform("all_gather_bench", "--sizes", 65536, 1048576, "--rounds", 2, platform=platform)
            rows = [line.split() for line in out.splitlines()[1:]]
            self.assertEqual([row[0] for row in rows], ["65536", "1048576"])
            for row in rows:
                self.assertTrue(all(float(time) > 0 for time in row[1:4]), out)

    def test_the_rendezvous_is_compared_with_its_calls(self):
        for platform in ("gb200-nvl2", "hgx-h200"):
            out = self.on_platform("rendezvous_bench", "--sizes", 2097152, "--rounds", 2, platform=platform)
            self.assertRegex(out, r"sum \d+\.\d us, rendezvous \d+\.\d us: \d+\.\d\d times the sum")

    def test_no_multicast_object_is_made(self):
        program = pathlib.Path(OPTIONS.programs, "all_gather_bench")
        ended = self.run_program(program, "--sizes", 65536, "--rounds", 1, SYMMCTS_TRACE="1",
                                 LD_LIBRARY_PATH=os.path.dirname(OPTIONS.lib))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("cuMemCreate", ended.stderr)
        self.assertNotRegex(ended.stderr, re.compile("cuMulticast(Create|AddDevice|Bind)"))


class Command(Case):
    def test_what_is_unknown_is_refused(self):
        ended = self.run_program(CI_BENCH, "speed")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("platform, all-gather, rendezvous", ended.stderr)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("--programs", "--lib", "--foreign"):
        parser.add_argument(name, required=True)
    OPTIONS = parser.parse_args()
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
