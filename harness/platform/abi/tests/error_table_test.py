#!/usr/bin/env python3
"""The error table that was kept on two H200s (fixtures/oracles/h200-x2), made again on the platform.

Compares the program's lines with the oracle's, by section, once with two visible GPUs and once with
one. A line in GAPS is known to differ; when it no longer does, the test fails, so that the list
shrinks with the gaps.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import unittest

OPTIONS = None
SECTIONS = ["creation", "reservations", "mappings", "sharing", "pointers", "streams", "captures",
            "peers"]
FIRST_OF_CAPTURES = "capture of the legacy stream: "
FIRST_OF_PEERS = "can access peer: "
AFTER_PEERS = "synchronize at the end: "
# Copies to a peer without access go through the host on the hardware.
PEER_GAPS = {"peer copy without access", "plain copy to a peer without access"}
# Stream capture is not modelled yet: every line of its section.
CAPTURE_GAPS = True


def numbered(lines):
    """(name, how often it came before) -> line, in order; a name may come more than once."""
    seen = collections.Counter()
    out = {}
    for line in lines:
        name = line.split(": CUDA_")[0]
        out[name, seen[name]] = line
        seen[name] += 1
    return out


def run(section, gpus):
    environment = dict(os.environ, SYMMCTS_PLATFORM="hgx-h200", CUDA_VISIBLE_DEVICES=gpus)
    for name in ("SYMMCTS_MACHINE", "SYMMCTS_SCENARIO", "SYMMCTS_TRACE"):
        environment.pop(name, None)
    return subprocess.run([OPTIONS.program, section], env=environment, text=True, timeout=100,
                          capture_output=True)


def table(gpus):
    """The lines of the whole program; a section that cannot be finished hides no other one."""
    frame = run("none", gpus)
    if frame.returncode != 0:
        raise AssertionError(f"exit code {frame.returncode}: {frame.stderr}")
    frame = frame.stdout.splitlines()
    head = frame[:-2]
    lines, unfinished = list(head), []
    for section in SECTIONS:
        ended = run(section, gpus)
        out = ended.stdout.splitlines()
        if out[:len(head)] != head:
            raise AssertionError(f"{section}: begins otherwise than the others: {ended.stderr}")
        if ended.returncode != 0:
            unfinished.append(f"{section}: {ended.stderr.strip()}")
            lines += out[len(head):]
        else:
            lines += out[len(head):-2]
    return lines + frame[-2:], unfinished


def position(lines, prefix):
    found = [i for i, line in enumerate(lines) if line.startswith(prefix)]
    if len(found) != 1:
        raise AssertionError(f"{prefix!r} begins {len(found)} lines")
    return found[0]


class ErrorTable(unittest.TestCase):
    def compare(self, oracle, gpus):
        captures = oracle[position(oracle, FIRST_OF_CAPTURES):]
        captures = captures[:next(i for i, line in enumerate(captures)
                                  if line.startswith((FIRST_OF_PEERS, "no second GPU")))]
        gaps = {key for key in numbered(oracle) if key[0] in PEER_GAPS}
        if CAPTURE_GAPS:
            gaps |= set(numbered(captures))
        expected = numbered(oracle)
        seen_lines, unfinished = table(gpus)
        seen = numbered(seen_lines)
        wrong = [f"{line}\n    platform: {seen.get(key)}"
                 for key, line in expected.items() if key not in gaps and seen.get(key) != line]
        self.assertFalse(wrong, "hardware answers otherwise:\n" + "\n".join(wrong + unfinished))
        more = [line for key, line in seen.items() if key not in expected]
        self.assertFalse(more, "the oracle has no such lines")
        closed = [expected[key] for key in gaps if seen.get(key) == expected[key]]
        self.assertFalse(closed, "these are no gaps any more: take them off the list in "
                                 "error_table_test.py")
        if not gaps:
            self.assertEqual(seen_lines, oracle, "the order of the lines")
            self.assertFalse(unfinished)

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
