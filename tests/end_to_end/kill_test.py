"""kill -9 of any party at any time: nothing of the run is left but its output folder, and a surviving
supervisor has a verdict.

  kill_test.py [--seed N] [--count N] [unittest's own arguments]

`count` kills at moments drawn from `seed`; `ci/nightly` asks for 200.
"""

import argparse
import random
import sys

from symmcts import (BIN, Case, alive, descendants, os, signal, sockets_under, subprocess, time,
                     unittest, wait_until)

OPTIONS = argparse.Namespace(seed=1, count=21)

# Every party, of every way to start one; the whole list is gone through before any comes again.
PARTIES = [("symmcts", ()), ("symmcts-reaper", ()), ("symmcts-broker", ()), ("symmcts-rank", ()),
           ("mpirun", ("--launcher", "mpirun")), ("symmcts", ("--launcher", "mpirun")),
           ("symmcts-rank", ("--launcher", "mpirun"))]


def works(pid, name):
    """False for a rank program that only tells what it has, before the run: that is no rank."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return name != "symmcts-rank" or b"--unit" in words.read().split(b"\0")
    except OSError:
        return False  # it has gone


class Kill(Case):
    def start(self, *more):
        self.tmp = self.scratch / "tmp"
        self.tmp.mkdir(exist_ok=True)
        return subprocess.Popen(
            [BIN / "symmcts", "run", "--platform", "gb200-nvl2", "--out", self.scratch / "out",
             *more],
            env={**os.environ, "TMPDIR": str(self.tmp)}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)

    def victim(self, supervisor, name):
        """Waits until a descendant of that name lives; its pid, or None if the run ended first."""
        found = []

        def look():
            found[:] = [p for p, n in descendants(supervisor.pid).items()
                        if n == name and works(p, name)]
            return found or supervisor.poll() is not None

        self.assertTrue(wait_until(look), f"no {name} appeared")
        return found[0] if found else None

    def check_clean(self, pids, what):
        self.assertTrue(wait_until(lambda: not alive(pids)), f"{what}: alive: {alive(pids)}")
        self.assertTrue(wait_until(lambda: not os.listdir(self.tmp)),
                        f"{what}: left in TMPDIR: {os.listdir(self.tmp)}")
        # The kernel lets go of a killed process's sockets a moment after the process.
        self.assertTrue(wait_until(lambda: not sockets_under(self.tmp)),
                        f"{what}: sockets: {sockets_under(self.tmp)}")

    def kill_one(self, name, more=(), after_more=0.0):
        supervisor = self.start(*more)
        pid = supervisor.pid if name == "symmcts" else self.victim(supervisor, name)
        if name == "symmcts":
            self.victim(supervisor, "symmcts-rank")
        if after_more:
            wait_until(lambda: supervisor.poll() is not None, after_more)
        pids = set(descendants(supervisor.pid)) | {supervisor.pid}
        try:
            if pid is None or pid not in alive([pid]):
                raise ProcessLookupError
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it had ended by itself
            supervisor.communicate(timeout=300)
            return False
        out, err = supervisor.communicate(timeout=300)
        self.check_clean(pids - {supervisor.pid}, name)
        if name == "symmcts":
            self.assertEqual(supervisor.returncode, -signal.SIGKILL)
        else:
            # Exit 0 is possible only where the victim had already done its part.
            self.assertIn(supervisor.returncode, (0, 1, 3, 4), f"{name}\n{out}\n{err}")
            self.assertTrue(out.strip(), f"{name}: the supervisor said nothing\n{err}")
        return True

    def length_of_a_run(self, more):
        """Seconds from the first rank to the end: over these the moments are drawn."""
        supervisor = self.start(*more)
        self.victim(supervisor, "symmcts-rank")
        begun = time.monotonic()
        out, err = supervisor.communicate(timeout=300)
        self.assertEqual(supervisor.returncode, 0, f"{out}\n{err}")
        return time.monotonic() - begun

    def test_each_party_at_drawn_moments(self):
        draw = random.Random(OPTIONS.seed)
        length = {more: self.length_of_a_run(more) for more in {more for _, more in PARTIES}}
        met = 0
        for number in range(OPTIONS.count):
            name, more = PARTIES[number % len(PARTIES)]
            moment = draw.choice((0.0, draw.random()))  # a part of that length
            with self.subTest(number=number, name=name, more=more, moment=moment):
                met += self.kill_one(name, more, moment * length[more])
        # Some have ended by themselves before their moment comes. None killed: nothing was tested.
        print(f"{met} of {OPTIONS.count} kills met a process that lived", file=sys.stderr)
        self.assertGreaterEqual(met, OPTIONS.count // 4)

    def test_a_killed_rank_is_no_pass(self):
        for _ in range(20):
            supervisor = self.start()
            pid = self.victim(supervisor, "symmcts-rank")
            try:
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            out, err = supervisor.communicate(timeout=300)
            if supervisor.returncode == 0:
                continue  # that rank had ended already
            # One rank is blamed; the requirement whose phase it was may give the same reason.
            blamed = [line for line in out.splitlines()
                      if line.startswith("error") and "was killed by signal 9" in line]
            self.assertEqual(len(blamed), 1, f"{out}\n{err}")
            return
        self.fail("no kill met a rank that lived")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=OPTIONS.seed)
    parser.add_argument("--count", type=int, default=OPTIONS.count)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
