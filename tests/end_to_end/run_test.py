"""`symmcts run`, `selftest`, `list`: exit codes and what they stand for (design, sections 5 and 6)."""

import json
import resource
import shutil

from symmcts import (BIN, SOURCE, Case, foreign_driver, os, signal, subprocess, symmcts, unittest,
                     verdicts)


class ExitCodes(Case):
    def test_reference_passes(self):
        run = self.expect_exit(0, "run", "--platform", "gb200-nvl2", "--impl", "reference",
                               "--json", "--out", self.scratch / "o")
        result = run.json
        self.assertEqual(result["schema"], "symm-cts/result/1")
        self.assertEqual(result["exit"], 0)
        found = verdicts(result)
        for requirement in ("SM-PROV-1", "SM-PROV-2", "SM-KIND-1", "SM-KIND-2", "SM-OVLP-1",
                            "SM-OVLP-2", "SM-LIFE-1", "SM-DATA-1", "SM-DATA-3"):
            self.assertEqual(found[requirement]["status"], "pass", found.get(requirement))

    def test_both_handle_routes_and_more_ranks(self):
        self.expect_exit(0, "run", "--platform", "hgx-h200", "--ranks", "4", "--out",
                         self.scratch / "o")

    def test_defects_fail(self):
        for defect in ("missing-event-wait", "root-keeps-native", "root-releases-early"):
            with self.subTest(defect):
                self.expect_exit(1, "run", "--platform", "gb200-nvl2", "--impl",
                                 f"defect:{defect}", "--out", self.scratch / defect)

    def test_again_does_the_same_again(self):
        platform = self.scratch / "it's a [1] profile.toml"
        shutil.copy(SOURCE / "fixtures" / "platforms" / "gb200-nvl2.toml", platform)
        run = self.expect_exit(
            1, "run", "--json", "--impl", "defect:root-keeps-native", "--platform", platform,
            "--launcher", "mpirun", "--launch-arg=--mca", "--launch-arg", "mpi_abort_delay",
            "--launch-arg", "0", "--root-ordinal", "1", "--one-visible-gpu", "--stall", "90",
            "--deadline", "300.5", "--seed", "18446744073709551615", "--filter",
            "Provenance.EveryRankMapsAnImport", "--out", self.scratch / "o")
        first = verdicts(run.json)["SM-PROV-1"]
        self.assertIn("--stall 90 --deadline 300.5", first["again"])
        done = subprocess.run(
            ["bash", "-c", f"{first['again']} --json"], cwd=self.scratch, capture_output=True,
            text=True, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(verdicts(json.loads(done.stdout))["SM-PROV-1"], first)

    def test_gpus_need_no_platform(self):
        shutil.copytree(BIN, self.scratch / "bin")
        shutil.copytree(BIN.parent / "lib", self.scratch / "lib")
        for platform, code, why in (("gb200-nvl2", 3, "platform/libcuda.so.1: no such file"),
                                    ("system", 2, "no NVIDIA GPU")):
            done = subprocess.run([self.scratch / "bin" / "symmcts", "run", "--platform", platform,
                                   "--out", self.scratch / "o"], capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(why, done.stderr)

    def test_what_a_user_put_into_the_output_folder_stays(self):
        out = self.scratch / "o"
        options = ("run", "--filter", "Data.*", "--out", out)
        self.expect_exit(0, *options)
        for name in ("notes.txt", "mine/notes.txt", "evidence/notes.txt",
                     "evidence/mine/notes.txt", "host/notes.txt"):
            with self.subTest(name):
                file = out / name
                file.parent.mkdir(exist_ok=True)
                file.write_text("precious")
                self.one_line_naming(self.expect_exit(2, *options), name)
                self.assertEqual(file.read_text(), "precious")
                self.assertTrue((out / "result.json").exists())
                file.unlink()
                if file.parent.name == "mine":
                    file.parent.rmdir()
        self.expect_exit(0, *options)

    def test_a_case_that_did_not_run_is_told(self):
        run = self.expect_exit(0, "run", "--json", "--out", self.scratch / "o")
        self.assertIn("Groups.WritesAreAlike: skipped: rank 0: needs 4 ranks, the job has 2",
                      run.json["notes"])
        # A verdict names every case that it rests on, and repeats the one that is about it.
        verdict = verdicts(run.json)["SM-LIFE-1"]
        self.assertIn("Lifetime.CreateReferenceOutlivesImports", verdict["reason"])
        self.assertIn("Lifetime.CreateReferenceOutlivesImports", verdict["again"])

    def test_a_value_that_is_empty_is_none(self):
        for option in ("--platform", "--filter", "--profile", "--impl", "--out"):
            with self.subTest(option):
                self.one_line_naming(self.expect_exit(2, "run", option, ""), option)

    def test_no_space_for_what_the_rank_program_lists(self):
        # A file of no bytes is what a full disk leaves.
        run = symmcts("run", "--out", self.scratch / "o", limits={resource.RLIMIT_FSIZE: 0})
        self.assertEqual(run.code, 3, run)
        # (A sanitizer of the rank program may not bear it either.)
        self.assertRegex(run.err, "no space left|--list-implementations failed")

    def test_filter_that_matches_nothing(self):
        self.expect_exit(5, "run", "--filter", "nothing-matches", "--out", self.scratch / "o")

    def test_selftest(self):
        self.expect_exit(0, "selftest", "--out", self.scratch / "o")

    def test_selftest_skips_what_does_no_harm_on_the_machine(self):
        # torchcomms#3506 needs FABRIC handles: an open descriptor keeps the object alive, so on
        # hgx-h200, which has no IMEX channel, there is nothing to be caught.
        run = self.expect_exit(0, "selftest", "--platform", "hgx-h200", "--json", "--out",
                               self.scratch / "o")
        found = {i["name"]: i for i in run.json["implementations"]}
        self.assertEqual({n: i["ok"] for n, i in found.items()},
                         {"reference": True, "defect:missing-event-wait": True,
                          "defect:root-keeps-native": True,
                          "defect:root-releases-early": False})
        early = found["defect:root-releases-early"]
        self.assertIn("FABRIC", early["skipped"])
        self.assertEqual(early["problem"], "")

    def test_selftest_that_tries_nothing_is_not_green(self):
        profile = (SOURCE / "fixtures" / "platforms" / "hgx-h200.toml").read_text()
        none = profile.replace("supported = { value = true", "supported = { value = false", 1)
        self.assertNotEqual(none, profile)
        platform = self.scratch / "no-multicast.toml"
        platform.write_text(none)
        run = self.expect_exit(5, "selftest", "--platform", platform, "--out", self.scratch / "o")
        self.assertNotRegex(run.out, "(?m)^(ok|WRONG)")
        self.one_line_naming(run, "no defect could be tried")

    def test_bad_arguments_are_one_line_and_exit_2(self):
        for arguments, text in (
            (("run", "--platform", "no-such-platform"), "no-such-platform"),
            (("run", "--impl", "no-such-impl"), "no-such-impl"),
            (("run", "--ranks", "0"), "0"),
            (("run", "--ranks", "99"), "99"),
            (("run", "--no-such-option"), "no-such-option"),
            (("run", "--root-ordinal", "7"), "7"),
            (("repro", "no-such-repro"), "no-such-repro"),
            (("list", "nonsense"), "nonsense"),
        ):
            with self.subTest(arguments):
                run = self.expect_exit(2, *arguments, *(("--out", self.scratch / "o")
                                                        if arguments[0] != "list" else ()))
                self.one_line_naming(run, text)

    def test_a_platform_that_is_no_profile_is_told_what_it_is(self):
        empty = self.scratch / "empty.toml"
        empty.touch()
        for platform, text in (
            ("/dev/null", "/dev/null: is a device, not a file"),
            (self.scratch, f"{self.scratch}: is a folder, not a file"),
            (self.scratch / "none.toml", "none.toml: No such file"),
            (empty, f"{empty}:1:1: the file lacks the keys 'schema', 'name', 'summary', 'machine'"),
        ):
            for verb in ("run", "selftest"):
                with self.subTest((verb, platform)):
                    run = self.expect_exit(2, verb, "--platform", platform, "--out",
                                           self.scratch / "o")
                    self.one_line_naming(run, text)

    def test_tmpdir_is_obeyed_or_named(self):
        deep = self.scratch / ("x" * 90)
        deep.mkdir()
        file = self.scratch / "file"
        file.touch()
        for verb in (("run",), ("repro", "pytorch-192530"), ("selftest",),
                     ("list", "implementations")):
            for wrong in (deep, file, self.scratch / "none"):
                out = () if verb[0] == "list" else ("--out", self.scratch / "o")
                with self.subTest((verb, wrong)):
                    run = self.expect_exit(2, *verb, *out, env={"TMPDIR": str(wrong)})
                    self.one_line_naming(run, f"TMPDIR={wrong}: ")
        (self.scratch / "t").mkdir()
        done = subprocess.run(
            [BIN / "symmcts", "run", "--filter", "SM-PROV-1", "--out", "o"], cwd=self.scratch,
            env={**os.environ, "TMPDIR": "t"}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(next((self.scratch / "o" / "host").glob("*/unit.json")).read_text())
        self.assertTrue(record["run_directory"].startswith(f"{self.scratch}/t/"), record)

    def test_a_scenario_for_no_case_is_refused(self):
        text = (SOURCE / "conformance" / "profiles" / "cpu-default.toml").read_text()
        unit = "Lifetime.CreateReferenceOutlivesImports"
        self.assertIn(unit, text)
        profile = self.scratch / "p.toml"
        profile.write_text(text.replace(unit, "Lifetime.NoSuchCase"))
        run = self.expect_exit(2, "run", "--profile", profile, "--out", self.scratch / "o")
        self.one_line_naming(run, "Lifetime.NoSuchCase")

    def test_seeds_that_are_none_are_refused(self):
        for verb in (("run",), ("repro", "pytorch-192530"), ("selftest",)):
            for seed in ("-1", "18446744073709551616", "1.5", "many"):
                with self.subTest((verb, seed)):
                    run = self.expect_exit(2, *verb, f"--seed={seed}", "--out", self.scratch / "o")
                    self.one_line_naming(run, seed)
        self.expect_exit(0, "run", "--seed", "18446744073709551615", "--filter", "SM-PROV-1",
                         "--out", self.scratch / "o")

    def test_times_that_are_none_are_refused_with_what_is_allowed(self):
        for verb in (("run",), ("repro", "pytorch-192530"), ("selftest",)):
            for option in ("--stall", "--deadline"):
                for seconds in ("0", "-5", "0.1", "nan", "inf", "-inf", "1e300", "soon", ""):
                    with self.subTest((verb, option, seconds)):
                        run = self.expect_exit(2, *verb, f"{option}={seconds}", "--out",
                                               self.scratch / "o")
                        self.one_line_naming(run, option)
                        self.one_line_naming(run, "from 1 to 1000000")

    def test_the_shortest_times_do_not_count_the_start(self):
        # mpirun alone takes about a second to start. A slow host may still be too slow for the
        # case itself: a hang, never an error of the infrastructure.
        run = symmcts("run", "--launcher", "mpirun", "--stall", "1", "--deadline", "1",
                      "--filter", "SM-PROV-1", "--out", self.scratch / "o")
        self.assertIn(run.code, (0, 4), run)

    def test_no_output_folder_is_refused(self):
        for verb in (("run",), ("repro", "pytorch-192530"), ("selftest",)):
            with self.subTest(verb):
                self.one_line_naming(self.expect_exit(2, *verb, "--out", ""), "--out")

    def test_stdout_that_cannot_be_written(self):
        run = ("run", "--filter", "SM-PROV-1", "--out", self.scratch / "o")
        for arguments in (run, (*run, "--json"), ("list", "requirements"), ("--help",)):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run([BIN / "symmcts", *arguments], stdout=full, text=True,
                                      stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn("stdout", done.stderr)

    def test_one_run_at_a_time_in_a_folder_and_lines_as_they_are_known(self):
        out = self.scratch / "o"
        with subprocess.Popen([BIN / "symmcts", "selftest", "--out", out], text=True,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as first:
            line = first.stdout.readline()
            first.send_signal(signal.SIGSTOP)  # so that it cannot end before it is looked at
            self.assertTrue(os.WIFSTOPPED(os.waitpid(first.pid, os.WUNTRACED)[1]), line)
            try:
                self.assertIn(": ", line)
                self.assertFalse((out / "result.json").exists())
                before = sorted(out.rglob("*"))
                run = self.expect_exit(2, "run", "--out", out)
                self.one_line_naming(run, str(out))
                self.assertEqual(sorted(out.rglob("*")), before)
            finally:
                first.send_signal(signal.SIGCONT)
            rest = first.stdout.read()
            self.assertEqual(first.wait(), 0, line + rest)
        lines = [line, *rest.splitlines()]
        listed = json.loads((out / "result.json").read_text())["implementations"]
        self.assertEqual(len(lines), len(listed))
        self.expect_exit(0, "run", "--filter", "SM-PROV-1", "--out", out)

    def test_repro_on_another_machine_says_where_it_was_published(self):
        run = self.expect_exit(1, "repro", "torchcomms-3506", "--platform", "hgx-h200", "--out",
                               self.scratch / "o")
        self.assertIn("published for --platform gb200-nvl2", run.err)

    def test_lists(self):
        for what, wanted in (("requirements", "SM-PROV-1"), ("platforms", "gb200-nvl2"),
                             ("implementations", "reference"), ("profiles", "cpu-default"),
                             ("defects", "root-keeps-native"), ("repros", "pytorch-192530"),
                             ("facts", "A4.8")):
            with self.subTest(what):
                run = self.expect_exit(0, "list", what)
                ids = [line.split()[0] for line in run.out.splitlines()]
                self.assertIn(wanted, [i.removeprefix("defect:") for i in ids])


class Refusals(Case):
    def test_rank_told_to_use_the_platform_refuses_another_driver(self):
        # A driver without the marker counts as real; here: an empty library of the same name.
        foreign_driver(self.scratch)
        done = subprocess.run(
            [BIN / "symmcts-rank", "--impl", "reference", "--exchange", "unix", "--unit",
             "Provenance.EveryRankMapsAnImport"],
            env={**os.environ, "LD_LIBRARY_PATH": str(self.scratch), "SYMMCTS_EXPECT": "software",
                 "SYMMCTS_RANK": "0", "SYMMCTS_SIZE": "1",
                 "SYMMCTS_RUN_DIR": str(self.scratch)},
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertNotIn("CALLED", done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
