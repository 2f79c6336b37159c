"""A race is named in one run, whatever the seed; other seeds show what it does; the same seed shows
the same, on any load; and `--seeds` tells the one command that repeats a seed that failed."""

import filecmp
import json
import os
import re

from symmcts import BIN, Case, subprocess, unittest, verdicts

DEFECT = "defect:missing-event-wait"
CASE = "Data.ReadsBehindAllGathers"


def tree(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


class Races(Case):
    def run_case(self, code, impl, *more, out="o", platform="gb200-nvl2"):
        return self.expect_exit(code, "run", "--platform", platform, "--impl", impl, "--filter",
                                CASE, "--json", "--out", self.scratch / out, *more)

    def test_the_defect_is_named_whatever_the_seed(self):
        for seed in (1, 2, 77):
            found = verdicts(self.run_case(1, DEFECT, "--seed", seed).json)["SM-DATA-3"]
            self.assertEqual(found["status"], "fail")
            self.assertIn("and nothing orders them", found["reason"])
            self.assertRegex(found["reason"], r"race: rank \d cuMemcpy\w+ \(stream \d+, call \d+\)")

    def test_some_seeds_show_wrong_data(self):
        run = self.run_case(1, DEFECT, "--no-race-check", "--seeds", "1..20")
        found = verdicts(run.json)["SM-DATA-3"]
        self.assertRegex(found["reason"], r"with seed \d+: .* instead of \d+")
        self.assertNotIn("race:", found["reason"])
        seed = re.search(r"--seed (\d+)$", found["again"]).group(1)
        self.assertIn("--no-race-check", found["again"])
        self.assertIn(f"seed {seed}", found["reason"])
        done = subprocess.run(
            ["bash", "-c", f"{found['again']} --json"], cwd=self.scratch, capture_output=True,
            text=True, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("instead of", verdicts(json.loads(done.stdout))["SM-DATA-3"]["reason"])

    def test_a_racing_run_is_the_same_again_under_load(self):
        self.run_case(1, DEFECT, "--seed", 7, out="idle")
        spin = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
        try:
            self.run_case(1, DEFECT, "--seed", 7, out="busy")
        finally:
            for process in spin:
                process.kill()
                process.wait()
        idle, busy = self.scratch / "idle" / "evidence", self.scratch / "busy" / "evidence"
        self.assertTrue(tree(idle))
        self.assertEqual(tree(idle), tree(busy))
        self.assertEqual([str(f) for f in tree(idle)
                          if not filecmp.cmp(idle / f, busy / f, shallow=False)], [])

    def test_the_reference_is_right_for_several_seeds(self):
        run = self.expect_exit(0, "run", "--seeds", "1..3", "--json", "--out", self.scratch / "o")
        self.assertEqual(verdicts(run.json)["SM-DATA-3"]["status"], "pass")
        self.assertEqual(sorted(p.name for p in (self.scratch / "o").iterdir() if p.is_dir()),
                         ["seed-1", "seed-2", "seed-3"])

    def test_without_the_search_nothing_passes(self):
        found = verdicts(self.run_case(4, "reference", "--no-race-check").json)["SM-DATA-3"]
        self.assertEqual(found["status"], "unknown")
        self.assertIn("nobody looked for races", found["reason"])

    def test_seeds_are_a_range_and_exclude_a_seed(self):
        for words, text in ((("--seeds", "3"), "must be A..B"),
                            (("--seeds", "9..3"), "before the first"),
                            (("--seeds", "1..3", "--seed", "1"), "--seed")):
            run = self.expect_exit(2, "run", *words, "--out", self.scratch / "o")
            self.one_line_naming(run, text)


if __name__ == "__main__":
    unittest.main()
