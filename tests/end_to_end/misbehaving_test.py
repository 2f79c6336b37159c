"""An implementation that ends its rank, or the disk, is at fault itself; the harness is not.

Design, section 5: a crash that no requirement covers is exit 4, `error` (exit 3) is for harness and infrastructure.
The implementations are in tests/misbehaving; each does its deed on one rank in phase `import`.
"""

import json
import shutil

from symmcts import BIN, PATIENCE, Case, Run, foreign_driver, os, subprocess, unittest

CASE = "Provenance.EveryRankMapsAnImport"
MIB = 1 << 20


class Installation(Case):
    """Runs `symmcts` from a folder in which programs can be replaced."""

    def setUp(self):
        super().setUp()
        # An installation of its own, but for the rank program.
        self.prefix = self.scratch / "prefix"
        for folder in ("bin", "lib", "platform"):
            (self.prefix / folder).mkdir(parents=True)
        shutil.copy(BIN / "symmcts", self.prefix / "bin")
        self.link("bin/symmcts-broker", BIN / "symmcts-broker")
        self.link("bin/symmcts-rank", BIN.parent / "test" / "misbehaving_rank")
        self.link("lib/libsymmcts_recorder.so", BIN.parent / "lib" / "libsymmcts_recorder.so")
        for library in (BIN.parent / "platform").iterdir():
            self.link(f"platform/{library.name}", library)
        self.tmp = self.scratch / "tmp"
        self.tmp.mkdir()
        self.out = self.scratch / "out"

    def link(self, name, target):
        self.assertTrue(target.exists(), target)
        (self.prefix / name).unlink(missing_ok=True)
        (self.prefix / name).symlink_to(target)

    def run_impl(self, name, *more):
        done = subprocess.run(
            [self.prefix / "bin" / "symmcts", "run", "--impl", name, "--filter", CASE, "--json", "--out",
             self.out, *more], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self.tmp)}, timeout=PATIENCE)
        self.assertEqual(os.listdir(self.tmp), [])
        return Run(done.returncode, done.stdout, done.stderr)


class Misbehaving(Installation):
    def blamed(self, deed, rank, words, *more):
        """Exit 4, and the one thing that is said is said of that rank."""
        run = self.run_impl(f"{deed}@{rank}", *more)
        self.assertEqual(run.code, 4, run)
        self.assertEqual(len(run.json["uncovered"]), 1, run)
        text = run.json["uncovered"][0]
        self.assertTrue(text.startswith(f"crash: rank {rank} "), text)
        for word in words:
            self.assertIn(word, text)
        self.assertNotIn(f"rank {1 - rank}", text)
        lines = (self.out / "evidence" / CASE / "machine.jsonl").read_text().splitlines()
        unit = json.loads(lines[-1])
        self.assertEqual((unit["end"], unit["ranks"]), ("crash", [rank]))
        # Whoever reads the evidence later is told the same.
        check = self.expect_exit(4, "check", "--json", self.out / "evidence" / CASE)
        self.assertEqual(check.json["uncovered"], [text])

    def test_the_reference_in_the_same_place_passes(self):
        run = self.run_impl("reference")
        self.assertEqual(run.code, 0, run)

    def test_each_deed_on_each_rank(self):
        for deed, words in (("throws", ("threw in phase import: boom",)),
                            ("throws-a-number", ("threw in phase import",)),
                            ("cannot-be-made", ("threw in phase construct: no licence",)),
                            ("exits-0", ("exited with code 0 before the end in phase import",)),
                            ("exits-0-at-once", ("exited with code 0 before the end in phase import",)),
                            ("exits-3", ("exited with code 3 before the end in phase import",)),
                            ("exits-7-at-once", ("exited with code 7 before the end in phase import",)),
                            ("aborts", ("SIGABRT", "in phase import")),
                            ("segfaults", ("SIGSEGV", "in phase import"))):
            for rank in (0, 1):
                with self.subTest(deed=deed, rank=rank):
                    self.blamed(deed, rank, words)

    def test_under_mpirun(self):
        for deed, words in (("throws", ("threw in phase import: boom",)),
                            ("exits-0", ("before the end in phase import",)),
                            ("exits-0-at-once", ("before the end in phase import",)),
                            ("exits-3", ("before the end in phase import",)),
                            ("segfaults", ("SIGSEGV", "in phase import"))):
            for rank in (0, 1):
                with self.subTest(deed=deed, rank=rank):
                    self.blamed(deed, rank, words, "--launcher", "mpirun")

    def test_floods_are_bounded(self):
        for deed, stream in (("floods-stdout", "stdout"), ("floods-stderr-for-ever", "stderr")):
            for rank in (0, 1):
                with self.subTest(deed=deed, rank=rank):
                    self.blamed(deed, rank, (f"printed more than {64 * MIB} bytes on {stream}",
                                             "in phase import"))
                    kept = sum(f.stat().st_size for f in self.out.rglob("*") if f.is_file())
                    self.assertLess(kept, 4 * MIB)
        self.blamed("floods-stdout", 1, ("bytes on stdout",), "--launcher", "mpirun")


class Infrastructure(Installation):
    """What is not the implementation's doing stays an error of ours: exit 3."""

    def error(self, text):
        run = self.run_impl("reference")
        self.assertEqual(run.code, 3, run)
        self.assertIn(text, run.out + run.err)

    def test_rank_program_missing(self):
        (self.prefix / "bin/symmcts-rank").unlink()
        self.error("symmcts-rank: no such file")

    def test_broker_that_dies(self):
        (self.prefix / "bin/symmcts-broker").unlink()
        broker = self.prefix / "bin/symmcts-broker"
        broker.write_text("#!/bin/sh\necho cannot serve >&2\nexit 1\n")
        broker.chmod(0o755)
        self.error("the broker exited with code 1 before the ranks ended: cannot serve")

    def test_driver_that_is_not_the_platform(self):
        (self.prefix / "platform/libcuda.so.1").unlink()
        foreign_driver(self.prefix / "platform")
        self.error("the CUDA driver is a real one")


if __name__ == "__main__":
    unittest.main()
