"""`symmcts run --scenario`: what goes wrong, what the evidence says of it, and what it is called."""

import json
import unittest

from symmcts import Case, symmcts, verdicts

# Any case that sets multicast up on every rank.
CASE = "Provenance.*"


class Scenario(Case):
    def write(self, text):
        file = self.scratch / "s.toml"
        file.write_text(text)
        return file

    def run_with(self, scenario, *arguments, ranks=2, filter=CASE):
        self.out = self.scratch / f"out-{ranks}"
        return symmcts("run", "--scenario", scenario, "--ranks", ranks, "--filter", filter,
                       "--out", self.out, "--json", *arguments)

    def machine_logs(self):
        return {file.parent.name: [json.loads(line) for line in file.read_text().splitlines()]
                for file in sorted(self.out.glob("evidence/*/machine.jsonl"))}

    def faults(self):
        return [[line for line in log if line["type"] == "fault"]
                for log in self.machine_logs().values()]

    def ends(self):
        return {log[-1]["end"] for log in self.machine_logs().values()}


class Files(Scenario):
    def test_what_is_wrong_with_one_is_told_with_its_place(self):
        for text, place in (
                ("[faults]\nslots = 1\n", ":2:9: unknown key 'slots'"),
                ('[[fail]]\nrank = 1\ncall = "cuMemMapp"\ncode = 1\n', ":3:8: 'call' is 'cuMemMapp'"),
                ('[[fail]]\nrank = 1\ncall = "cuMemMap"\ncode = 12345\n', ":4:8: 'code' is 12345"),
                ('[[kill]]\nrank = 1\nphase = "bnid"\n', ":3:9: 'phase' is 'bnid'"),
                ("[[kill]\n", ":1:")):
            file = self.write(text)
            run = self.expect_exit(2, "run", "--scenario", file, "--filter", CASE)
            self.one_line_naming(run, f"{file}{place}")

    def test_one_that_is_not_there_names_those_that_are(self):
        run = self.expect_exit(2, "run", "--scenario", "nonesuch")
        self.one_line_naming(run, "no such scenario: nonesuch (there are: bind-not-ready-once, ")

    def test_a_real_machine_has_none(self):
        run = self.expect_exit(2, "run", "--platform", "system", "--scenario", "late-import")
        self.one_line_naming(run, "--scenario late-import")

    def test_an_empty_name_is_none(self):
        self.expect_exit(2, "run", "--scenario", "")


class Fail(Scenario):
    def test_it_befalls_every_selected_case_and_is_repeated(self):
        run = self.run_with("bind-not-ready-once")
        self.assertIn(run.code, (0, 4), run)
        faults = self.faults()
        self.assertGreater(len(faults), 0)
        for each in faults:
            self.assertEqual([(f["rank"], f["kind"], f["at"], f["number"], f["code"]) for f in each],
                             [(1, "fail", "cuMulticastBindMem", 1, 802)])
            self.assertGreater(each[0]["t"], 0)
        for verdict in run.json["requirements"]:
            self.assertIn("--scenario bind-not-ready-once", verdict["again"])
        self.assertIn("scenario: rank 1: cuMulticastBindMem, call 1, fails with "
                      "CUDA_ERROR_SYSTEM_NOT_READY (802)", "\n".join(run.json["notes"]))

    def test_what_never_came_to_be_is_told(self):
        file = self.write('[[fail]]\nrank = 1\ncall = "cuMemMap"\nnumber = 9999\ncode = 2\n'
                          '[[kill]]\nrank = 7\nphase = "bind"\n')
        run = self.run_with(file)
        self.assertEqual(run.code, 0, run)
        for each in self.faults():
            self.assertEqual([(f["entry"], f["t"]) for f in each],
                             [("fail[0]", None), ("kill[0]", None)])
        notes = "\n".join(run.json["notes"])
        self.assertIn("rank 1: cuMemMap, call 9999, fails with CUDA_ERROR_OUT_OF_MEMORY (2): "
                      "it never came to that", notes)
        self.assertIn("rank 7: is killed as it begins phase bind: it never came to that", notes)

    def test_two_runs_are_the_same(self):
        texts = []
        for _ in range(2):
            self.run_with("bind-not-ready-once")
            texts.append({file.relative_to(self.out): file.read_bytes()
                          for file in self.out.glob("evidence/*/*.jsonl")})
        self.assertEqual(texts[0], texts[1])

    def test_with_mpirun(self):
        run = self.run_with("bind-not-ready-once", "--launcher", "mpirun")
        self.assertIn(run.code, (0, 4), run)
        self.assertTrue(all(len(each) == 1 for each in self.faults()))


class Lost(Scenario):
    def lost(self, scenario, *arguments, ranks=2):
        """The rank is gone, the others name it; nobody calls that an error or a crash."""
        run = self.run_with(scenario, *arguments, ranks=ranks)
        self.assertEqual(run.code, 4, run)
        self.assertEqual(self.ends(), {"lost"}, run)
        self.assertEqual({v["status"] for v in run.json["requirements"]}, {"unknown"}, run)
        return run

    def test_a_killed_rank(self):
        for platform, ranks in (("gb200-nvl2", 2), ("hgx-h200", 4)):
            run = self.lost("peer-killed-at-bind", "--platform", platform, ranks=ranks)
            self.assertIn("rank 1: is killed as it begins phase bind", "\n".join(run.json["notes"]))

    def test_a_stopped_rank(self):
        for platform, ranks in (("gb200-nvl2", 2), ("hgx-h200", 4)):
            run = self.lost("peer-stopped-at-bind", "--platform", platform, ranks=ranks)
            for log in self.machine_logs().values():
                self.assertIn("rank 1 did not answer in time", log[-1]["text"])
                for rank in set(range(ranks)) - {1}:
                    self.assertIn(f"rank {rank} gave up", log[-1]["text"], run)

    def test_a_rank_before_and_after_a_call(self):
        for when in ("before", "after"):
            for kind in ("kill", "stop"):
                self.lost(self.write(f'[[{kind}]]\nrank = 0\n{when} = "cuMulticastCreate"\n'))

    def test_two_runs_are_the_same(self):
        for scenario in ("peer-killed-at-bind", "peer-stopped-at-bind"):
            texts = []
            for _ in range(2):
                self.lost(scenario)
                texts.append([file.read_bytes()
                              for file in sorted(self.out.glob("evidence/*/rank-000000.jsonl"))
                              + sorted(self.out.glob("evidence/*/machine.jsonl"))])
            self.assertEqual(texts[0], texts[1])

    def test_with_mpirun(self):
        for scenario in ("peer-killed-at-bind", "peer-stopped-at-bind"):
            self.lost(scenario, "--launcher", "mpirun")


if __name__ == "__main__":
    unittest.main()
