#!/usr/bin/env python3
"""The fuzzer itself: what it refuses, what it notices, and that it leaves nothing behind.

  fuzz_test.py --fuzz PROGRAM --lib ABSOLUTE/libcuda.so.1 --foreign ABSOLUTE/other.so

`--foreign` is a library without the platform's marker: a real driver counts as one.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

OPTIONS = None
PATIENCE = 900


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="symmcts-fuzz-test-")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.tmp = self.scratch / "tmp"
        self.tmp.mkdir()

    def command(self, *arguments, lib=None):
        return [OPTIONS.fuzz, "--lib", lib or OPTIONS.lib, *map(str, arguments)]

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.tmp)}

    def fuzz(self, *arguments, lib=None):
        ended = subprocess.run(self.command(*arguments, lib=lib), env=self.environment(), text=True,
                               capture_output=True, timeout=PATIENCE)
        self.assertEqual(os.listdir(self.tmp), [], "left in TMPDIR")
        return ended


class Refusal(Case):
    def test_a_library_without_the_marker_is_refused_before_any_call(self):
        ended = self.fuzz("--rounds", 1, lib=OPTIONS.foreign)
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("not the software platform", ended.stderr)
        # Every function of that library says so when it is called.
        self.assertNotIn("was called", ended.stderr.replace("nothing was called", ""))

    def test_a_relative_path_is_refused(self):
        ended = self.fuzz("--rounds", 1, lib="libcuda.so.1")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("not an absolute path", ended.stderr)

    def test_a_run_without_an_end_is_refused(self):
        self.assertEqual(self.fuzz().returncode, 2)


class Watching(Case):
    def expect_finding(self, text, *arguments):
        ended = self.fuzz("--rounds", 1, *arguments)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn(text, ended.stderr)
        self.assertIn("again: fuzz_platform", ended.stderr)
        return ended.stderr

    def test_a_hang_is_noticed_and_its_call_named(self):
        for processes in (1, 2):
            said = self.expect_finding("hangs", "--pretend", 1, "--patience", 15, "--processes",
                                       processes)
            self.assertIn("pretends to hang ...", said)

    def test_a_crash_is_noticed(self):
        self.expect_finding("was killed by signal 6", "--pretend", 2, "--processes", 1)

    def test_a_finding_is_told(self):
        said = self.expect_finding("pretends to find something", "--pretend", 3, "--processes", 1)
        # It has left without giving anything up: the platform's own report must be heard, too.
        self.assertIn("left at exit", said)


class Transcript(Case):
    def written(self, name, seed):
        ended = self.fuzz("--seed", seed, "--rounds", 3, "--processes", 1, "--steps", 150,
                          "--transcript", self.scratch / name)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return (self.scratch / f"{name}.0").read_text()

    def test_one_seed_gives_one_transcript(self):
        first = self.written("first", 11)
        self.assertGreater(len(first.splitlines()), 300)
        self.assertEqual(first, self.written("again", 11))
        self.assertNotEqual(first, self.written("other", 12))


class Interruption(Case):
    def test_a_signal_leaves_nothing_behind(self):
        for ending in (signal.SIGTERM, signal.SIGINT):
            running = subprocess.Popen(self.command("--seconds", PATIENCE, "--processes", 2),
                                       env=self.environment(), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            patience = time.monotonic() + PATIENCE
            while not list(self.tmp.glob("*/machine/*")) and time.monotonic() < patience:
                time.sleep(0.01)
            running.send_signal(ending)
            _, said = running.communicate(timeout=PATIENCE)
            self.assertEqual(running.returncode, 128 + ending, said)
            self.assertEqual(os.listdir(self.tmp), [])


class Rounds(Case):
    def test_some_rounds_in_one_process(self):
        ended = self.fuzz("--seed", 1, "--rounds", 8, "--processes", 1, "--steps", 250)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_some_rounds_in_two_processes(self):
        ended = self.fuzz("--seed", 1, "--rounds", 6, "--processes", 2, "--steps", 150)
        self.assertEqual(ended.returncode, 0, ended.stderr)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("--fuzz", "--lib", "--foreign"):
        parser.add_argument(name, required=True)
    OPTIONS = parser.parse_args()
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
