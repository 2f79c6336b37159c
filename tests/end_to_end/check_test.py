"""`symmcts check` on real profiler recordings from 2 x H200 (fixtures/traces/README.md says what ran).

The expected verdicts are what was run there, not what the judge happens to print.
"""

import gzip
import json
import pathlib
import shlex
import shutil

from symmcts import BIN, SOURCE, Case, copies, os, subprocess, unittest, verdicts

TRACES = SOURCE / "fixtures" / "traces" / "kineto-2xh200"


def pair(name):
    return [TRACES / f"{name}_rank{r}.json.gz" for r in (0, 1)]


class H200Pairs(Case):
    def test_root_writes(self):
        result = self.expect_exit(1, "check", "--json", *pair("root_writes")).json
        self.assertEqual(copies(result), {0: {"DtoD": 5}, 1: {"PtoP": 5}})
        verdict = verdicts(result)["SM-KIND-1"]
        self.assertEqual((verdict["status"], verdict["ranks"]), ("fail", [0]))
        # Both ranks' writes overlapped the upload, so nothing may be called serialized.
        self.assertNotEqual(verdicts(result)["SM-OVLP-1"]["status"], "fail")

    def test_root_writes_without_the_roots_writes_is_no_pass(self):
        traces = pair("root_writes")
        trace = json.loads(gzip.decompress(traces[0].read_bytes()))
        kept = [e for e in trace["traceEvents"] if not e["name"].startswith("Memcpy DtoD")]
        self.assertEqual(len(trace["traceEvents"]) - len(kept), 5)
        trace["traceEvents"] = kept
        less = self.scratch / "root_writes_rank0.json"
        less.write_text(json.dumps(trace))
        result = self.expect_exit(5, "check", "--json", less, traces[1]).json
        verdict = verdicts(result)["SM-KIND-1"]
        self.assertEqual(verdict["status"], "unknown")
        self.assertIn("5 unmatched", verdict["reason"])
        self.assertIn("rank 1: 5 PtoP; rank 0: none", verdict["reason"])

    def test_root_writes_whose_copies_are_damaged_are_no_pass(self):
        # Only what shows the bug is damaged, on both ranks: what is left is alike.
        for key, value in (("ts", "NaN"), ("name", 5), ("cat", "kernel"), ("ph", "B")):
            with self.subTest(key):
                damaged = []
                for path in pair("root_writes"):
                    trace = json.loads(gzip.decompress(path.read_bytes()))
                    for event in trace["traceEvents"]:
                        if event.get("cat") == "gpu_memcpy" and "HtoD" not in event["name"]:
                            event[key] = value
                    damaged.append(self.scratch / path.name.removesuffix(".gz"))
                    damaged[-1].write_text(json.dumps(trace))
                result = self.expect_exit(5, "check", "--json", *damaged).json
                verdict = verdicts(result)["SM-KIND-1"]
                self.assertEqual((verdict["status"], verdict["ranks"]), ("unknown", [0, 1]))
                self.assertIn("copies of ranks 0 and 1 are damaged", verdict["reason"])

    def test_a_trace_that_is_cut_off_is_no_pass(self):
        traces = pair("ring_writes")
        whole = gzip.decompress(traces[0].read_bytes())
        cut = self.scratch / "ring_writes_rank0.json"
        cut.write_bytes(whole[:-100])  # no copy is lost here, but who knows?
        result = self.expect_exit(5, "check", "--json", cut, traces[1]).json
        verdict = verdicts(result)["SM-KIND-1"]
        self.assertEqual((verdict["status"], verdict["ranks"]), ("unknown", [0]))
        self.assertIn("cut off", verdict["reason"])

    def test_a_required_id_is_known_and_told(self):
        run = self.expect_exit(2, "check", "--require", "SM-NOPE-1", *pair("ring_writes"))
        self.one_line_naming(run, "SM-NOPE-1: no such requirement")
        run = self.expect_exit(4, "check", "--require", "SM-DATA-1", *pair("ring_writes"))
        self.assertIn("SM-DATA-1 is required, and cannot be judged", run.out)

    def test_a_file_is_one_rank(self):
        file = pair("ring_writes")[0]
        run = self.expect_exit(2, "check", "--rank", f"{file}=0", "--rank", f"{file}=1", file)
        self.one_line_naming(run, "is rank 0 already")

    def test_ring_writes(self):
        result = self.expect_exit(0, "check", "--json", *pair("ring_writes")).json
        self.assertEqual(copies(result), {0: {"PtoP": 5}, 1: {"PtoP": 5}})
        self.assertEqual(verdicts(result)["SM-KIND-1"]["status"], "pass")

    def test_small_upload_is_reported_behind_the_large_one(self):
        run = self.expect_exit(0, "check", *pair("small_upload"))
        for rank in (0, 1):
            self.assertTrue(
                any("serialized" in line and f"rank {rank}" in line and "HtoD" in line
                    for line in run.out.splitlines()), run)

    def test_parity_pairs(self):
        for name in ("two_peer_writes", "all_gather"):
            with self.subTest(name):
                result = self.expect_exit(0, "check", "--json", *pair(name)).json
                self.assertEqual(verdicts(result)["SM-KIND-1"]["status"], "pass")
        self.assertEqual(copies(result), {r: {"DtoD": 10, "PtoP": 10} for r in (0, 1)})

    def test_rank_by_option(self):
        moved = [self.scratch / name for name in ("a.json.gz", "b.json.gz")]
        for source, target in zip(pair("ring_writes"), moved):
            shutil.copy(source, target)
        self.expect_exit(0, "check", *moved, "--rank", f"{moved[0]}=0", "--rank", f"{moved[1]}=1")


class UnreadableInput(Case):
    def test_one_line_that_names_the_file(self):
        empty = self.scratch / "empty.json"
        empty.touch()
        no_trace = self.scratch / "no-trace.json"
        no_trace.write_text('{"hello": "world"}\n')
        binary = self.scratch / "noise.json.gz"
        binary.write_bytes(bytes(range(256)) * 16)
        half = self.scratch / "header-only.json.gz"
        half.write_bytes(pair("ring_writes")[0].read_bytes()[:10])
        # /dev/zero never ends.
        for bad in (self.scratch / "missing.json", empty, no_trace, binary, half, self.scratch,
                    pathlib.Path("/dev/null"), pathlib.Path("/dev/zero")):
            with self.subTest(bad.name):
                run = self.expect_exit(2, "check", bad, pair("ring_writes")[1])
                self.one_line_naming(run, str(bad))

    def test_a_file_name_does_not_steer_the_terminal(self):
        name = self.scratch / "a\033[2J\rb.json"
        run = self.expect_exit(2, "check", name)
        self.assertNotRegex(run.err, "[\x00-\x09\x0b-\x1f\x7f]")
        self.one_line_naming(run, "a\\x1b[2J\\rb.json")
        run = self.expect_exit(2, "check", "--no-such-\033[2J")
        self.assertNotRegex(run.err, "[\x00-\x09\x0b-\x1f\x7f]")

    def test_a_pipe_is_read_like_a_file(self):
        first, second = (shlex.quote(str(path)) for path in pair("ring_writes"))
        command = (f"{shlex.quote(str(BIN / 'symmcts'))} check <(cat {first}) {second} "
                   "--rank /dev/fd/63=0")
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_again_does_the_same_again(self):
        for source, name in zip(pair("root_writes"), ("-a b.json.gz", "tab\there.json.gz")):
            shutil.copy(source, self.scratch / name)
        command = ["check", "--json", "--rank=-a b.json.gz=0", "--rank", "tab\there.json.gz=1",
                   "--require", "SM-KIND-1", "--", "-a b.json.gz", "tab\there.json.gz"]
        first = subprocess.run([BIN / "symmcts", *command], cwd=self.scratch, capture_output=True,
                               text=True)
        self.assertEqual(first.returncode, 1, first.stderr)
        again = verdicts(json.loads(first.stdout))["SM-KIND-1"]["again"]
        second = subprocess.run(
            ["bash", "-c", again.replace("symmcts check", "symmcts check --json", 1)],
            cwd=self.scratch, capture_output=True, text=True,
            env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertEqual((second.returncode, second.stdout), (1, first.stdout), second.stderr)

    def test_two_files_of_one_rank_are_refused(self):
        first = pair("ring_writes")[0]
        again = self.scratch / first.name
        shutil.copy(first, again)
        run = self.expect_exit(2, "check", first, again)
        self.one_line_naming(run, "rank 0")


class OurOwnEvidence(Case):
    """Evidence of a run from which something was taken away, or in which something was changed, is no
    evidence of a whole run. harness/judge/tests/altered_evidence_test.cpp does it to every line."""

    CASE = "Lifetime.CreateReferenceOutlivesImports"

    def evidence(self, name, *more):
        out = self.scratch / name
        self.expect_exit(0, "run", "--filter", self.CASE, "--out", out, *more)
        return out / "evidence" / self.CASE

    def setUp(self):
        super().setUp()
        self.unit = self.evidence("run")
        self.rank = self.unit / "rank-000001.jsonl"
        self.lines = self.rank.read_text().splitlines(keepends=True)

    def write(self, lines):
        self.rank.write_text("".join(lines))

    def passes(self, run):
        return [i for i, v in verdicts(run.json).items() if v["status"] == "pass"]

    def refused(self, *where):
        run = self.expect_exit(2, "check", self.unit)
        for text in where:
            self.one_line_naming(run, text)

    def judged_without_a_pass(self):
        run = self.expect_exit(5, "check", "--json", self.unit)
        self.assertEqual(self.passes(run), [])

    def test_as_it_was(self):
        for paths in ([self.unit], sorted(self.unit.iterdir()), sorted(self.unit.glob("rank-*"))):
            run = self.expect_exit(0, "check", "--json", *paths)
            self.assertIn("SM-LIFE-1", self.passes(run))

    def test_lines_that_are_missing_doubled_or_moved(self):
        some = len(self.lines) // 2
        call = next(n for n, line in enumerate(self.lines) if '"type":"call"' in line)
        for name, lines in (
                ("a line less", self.lines[:some] + self.lines[some + 1:]),
                ("a call less", self.lines[:call] + self.lines[call + 1:]),
                ("a line twice", self.lines[:some] + self.lines[some - 1:]),
                ("two lines the other way round",
                 self.lines[:some] + [self.lines[some + 1], self.lines[some]] + self.lines[some + 2:]),
                ("half a line", self.lines[:some] + [self.lines[some][:20] + "\n"] + self.lines[some:]),
                ("a NUL", self.lines[:some] + ["\0\n"] + self.lines[some:]),
                ("another number", [line.replace('"seq":3,', '"seq":30,') for line in self.lines]),
                ("more after the end", self.lines + self.lines[-2:-1]),
                ("zeros after the end", self.lines + ["\0" * 512])):
            with self.subTest(name):
                self.write(lines)
                self.refused(f"{self.rank}:")

    def test_a_file_that_ends_early_is_judged_and_passes_nothing(self):
        for name, lines in (("no footer", self.lines[:-1]),
                            ("half a footer", self.lines[:-1] + [self.lines[-1][:25]]),
                            ("half", self.lines[:len(self.lines) // 2])):
            with self.subTest(name):
                self.write(lines)
                self.judged_without_a_pass()

    def test_a_rank_that_is_missing(self):
        self.rank.unlink()
        self.judged_without_a_pass()

    def test_the_record_of_the_machine(self):
        machine = self.unit / "machine.jsonl"
        lines = machine.read_text().splitlines(keepends=True)
        machine.write_text("".join(lines[1:]))
        self.refused(f"{machine}:")
        machine.write_text("".join(lines).replace('"end":"done"', '"end":"d0ne"'))
        self.refused(f"{machine}:")
        machine.write_text("".join(lines[:-1]))
        self.judged_without_a_pass()

    def test_files_of_different_runs(self):
        for name, more in (("seed", ("--seed", "2")), ("platform", ("--platform", "hgx-h200")),
                           ("run", ("--root-ordinal", "1"))):
            with self.subTest(name):
                other = self.evidence(f"other-{name}", *more)
                shutil.copy(other / self.rank.name, self.rank)
                self.refused(f"{self.rank}:1:", f"its {name} is")
        other = self.scratch / "other"
        self.expect_exit(0, "run", "--filter", "CopyKind.*", "--out", other)
        for file in (other / "evidence").rglob("rank-000001.jsonl"):
            shutil.copy(file, self.rank)
        self.refused(f"{self.rank}:1:", "its run is")

    def test_two_files_of_one_rank(self):
        shutil.copy(self.rank, self.unit / "rank-000002.jsonl")
        self.refused("rank-000002.jsonl: is rank 1 like")


if __name__ == "__main__":
    unittest.main()
