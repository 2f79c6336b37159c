"""Two runs with one seed give the same evidence, byte for byte, also when the machine is busy."""

import filecmp
import json

from symmcts import Case, copies, subprocess, unittest, verdicts


def tree(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


class Determinism(Case):
    def run_once(self, name, *more, code=0):
        out = self.scratch / name
        run = self.expect_exit(code, "run", "--platform", "gb200-nvl2", "--seed", "7", "--json",
                               "--out", out, *more)
        return run.json, out / "evidence"

    def same(self, first, second):
        files = tree(first)
        self.assertTrue(files)
        self.assertEqual(files, tree(second))
        different = [str(f) for f in files
                     if not filecmp.cmp(first / f, second / f, shallow=False)]
        self.assertEqual(different, [])

    def test_same_seed_same_bytes_also_under_load(self):
        for impl, code in (("reference", 0), ("defect:root-keeps-native", 1),
                           ("defect:root-releases-early", 1)):
            with self.subTest(impl):
                tag = impl.replace(":", "-")
                _, idle = self.run_once(f"{tag}-idle", "--impl", impl, code=code)
                spin = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
                try:
                    _, busy = self.run_once(f"{tag}-busy", "--impl", impl, code=code)
                finally:
                    for process in spin:
                        process.kill()
                        process.wait()
                self.same(idle, busy)

    def test_evidence_says_that_it_is_deterministic(self):
        _, evidence = self.run_once("flag")
        footers = [json.loads(line) for f in tree(evidence) if f.name.startswith("rank-")
                   for line in (evidence / f).read_text().splitlines()
                   if json.loads(line)["type"] == "footer"]
        self.assertTrue(footers)
        self.assertEqual({f["deterministic"] for f in footers}, {True})

    def test_mpirun_gives_the_same_verdicts(self):
        fork, _ = self.run_once("fork")
        mpi, _ = self.run_once("mpi", "--launcher", "mpirun")
        self.assertEqual({i: v["status"] for i, v in verdicts(fork).items()},
                         {i: v["status"] for i, v in verdicts(mpi).items()})
        self.assertEqual(copies(fork), copies(mpi))


if __name__ == "__main__":
    unittest.main()
