#!/usr/bin/env python3
"""The error table that was kept on two H200s (fixtures/oracles/h200-x2), made again on the platform,
once with two visible GPUs and once with one."""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import unittest

OPTIONS = None
FIRST_OF_PEERS = "can access peer: "
AFTER_PEERS = "synchronize at the end: "


def position(lines, prefix):
    found = [i for i, line in enumerate(lines) if line.startswith(prefix)]
    if len(found) != 1:
        raise AssertionError(f"{prefix!r} begins {len(found)} lines")
    return found[0]


class ErrorTable(unittest.TestCase):
    def compare(self, oracle, gpus):
        environment = dict(os.environ, SYMMCTS_PLATFORM="hgx-h200", CUDA_VISIBLE_DEVICES=gpus)
        for name in ("SYMMCTS_MACHINE", "SYMMCTS_SCENARIO", "SYMMCTS_TRACE"):
            environment.pop(name, None)
        ended = subprocess.run([OPTIONS.program], env=environment, text=True, timeout=100,
                               capture_output=True)
        difference = "\n".join(difflib.unified_diff(oracle, ended.stdout.splitlines(), "hardware",
                                                    "platform", lineterm="", n=0))
        self.assertEqual((difference, ended.returncode), ("", 0), ended.stderr)

    def test_two_gpus(self):
        self.compare(OPTIONS.oracle.read_text().splitlines(), "0,1")

    def test_one_gpu(self):
        lines = OPTIONS.oracle.read_text().splitlines()
        lines[position(lines, FIRST_OF_PEERS):position(lines, AFTER_PEERS)] = ["no second GPU"]
        self.compare(lines, "0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--oracle", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
