"""Runs the built `symmcts` for the end-to-end tests, and finds what a run left behind.

The folder of the programs comes from SYMMCTS_BIN. Standard library only.
"""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["SYMMCTS_BIN"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# A bound on any one command, so that a hang of the product fails a test and does not block it.
PATIENCE = float(os.environ.get("SYMMCTS_TEST_PATIENCE", "300"))


class Run:
    """A finished command: exit code, output, and the parsed JSON if there was any."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def symmcts(*arguments, env=None, limits=None):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for what, value in (limits or {}).items():
            resource.setrlimit(what, (value, value))

    done = subprocess.run([str(BIN / "symmcts"), *map(str, arguments)], capture_output=True,
                          text=True, timeout=PATIENCE, env={**os.environ, **(env or {})},
                          stdin=subprocess.DEVNULL, preexec_fn=limit if limits else None)
    return Run(done.returncode, done.stdout, done.stderr)


class Case(unittest.TestCase):
    """A test with a scratch folder of its own."""

    maxDiff = None

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="symmcts-test-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)

    def expect_exit(self, code, *arguments, **options):
        run = symmcts(*arguments, **options)
        self.assertEqual(run.code, code, f"symmcts {' '.join(map(str, arguments))}\n{run}")
        return run

    def one_line_naming(self, run, text):
        lines = [line for line in run.err.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, run)
        self.assertIn(text, lines[0])


def verdicts(half):
    """Requirement id -> verdict of a result or of a repro's half."""
    return {v["id"]: v for v in half["requirements"]}


def copies(half):
    """Rank -> device copies over 16 bytes by kind."""
    return {r["rank"]: r["copies"] for r in half["ranks"]}


def processes():
    """pid -> (parent, name, state) of everything that runs now."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        name = stat[stat.index("(") + 1:stat.rindex(")")]
        rest = stat[stat.rindex(")") + 2:].split()
        found[int(entry)] = (int(rest[1]), name, rest[0])
    return found


def descendants(pid):
    table = processes()
    children = {}
    for child, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(child)
    found, queue = {}, [pid]
    while queue:
        for child in children.get(queue.pop(), []):
            found[child] = table[child][1]
            queue.append(child)
    return found


def alive(pids):
    table = processes()
    return {p: table[p][1] for p in pids if p in table and table[p][2] != "Z"}


def wait_until(condition, seconds=PATIENCE):
    """True as soon as the condition holds; False when the patience is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def foreign_driver(folder):
    """Makes a libcuda.so.1 without the platform's marker, so one that counts as real. It says what it is called for."""
    names = subprocess.run(["nm", "-D", "--defined-only", "--format=posix",
                            BIN.parent / "platform" / "libcuda.so.1"],
                           capture_output=True, text=True, check=True).stdout
    body = "".join(
        f"int {line.split()[0]}(void) {{ fputs(\"CALLED {line.split()[0]}\\n\", stderr); "
        "return 999; }\n"
        for line in names.splitlines()
        if line.split()[0].startswith("cu") and line.split()[1] in "TW")
    source = folder / "foreign_driver.c"
    source.write_text("#include <stdio.h>\n" + body)
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o",
                    folder / "libcuda.so.1", source], check=True)


def sockets_under(folder):
    return [line for line in pathlib.Path("/proc/net/unix").read_text().splitlines()
            if str(folder) in line]


__all__ = ["BIN", "PATIENCE", "SOURCE", "Case", "Run", "symmcts", "verdicts", "copies", "descendants", "alive",
           "wait_until", "foreign_driver", "sockets_under", "signal", "subprocess", "unittest", "os",
           "time"]
