"""`symmcts run`, `selftest`, `list`: exit codes and what they stand for (design, sections 5 and 6)."""

import json

from symmcts import BIN, Case, os, signal, subprocess, unittest, verdicts


class ExitCodes(Case):
    def test_reference_passes(self):
        run = self.expect_exit(0, "run", "--platform", "gb200-nvl2", "--impl", "reference",
                               "--json", "--out", self.scratch / "o")
        result = run.json
        self.assertEqual(result["schema"], "symm-cts/result/1")
        self.assertEqual(result["exit"], 0)
        found = verdicts(result)
        for requirement in ("SM-PROV-1", "SM-PROV-2", "SM-KIND-1", "SM-KIND-2", "SM-OVLP-1",
                            "SM-OVLP-2", "SM-LIFE-1", "SM-DATA-1"):
            self.assertEqual(found[requirement]["status"], "pass", found.get(requirement))

    def test_both_handle_routes_and_more_ranks(self):
        self.expect_exit(0, "run", "--platform", "hgx-h200", "--ranks", "4", "--out",
                         self.scratch / "o")

    def test_defects_fail(self):
        for defect in ("root-keeps-native", "root-releases-early"):
            with self.subTest(defect):
                self.expect_exit(1, "run", "--platform", "gb200-nvl2", "--impl",
                                 f"defect:{defect}", "--out", self.scratch / defect)

    def test_filter_that_matches_nothing(self):
        self.expect_exit(5, "run", "--filter", "nothing-matches", "--out", self.scratch / "o")

    def test_selftest(self):
        self.expect_exit(0, "selftest", "--out", self.scratch / "o")

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

    def test_seeds_that_are_none_are_refused(self):
        for verb in (("run",), ("repro", "pytorch-192530"), ("selftest",)):
            for seed in ("-1", "18446744073709551616", "1.5", "many"):
                with self.subTest((verb, seed)):
                    run = self.expect_exit(2, *verb, f"--seed={seed}", "--out", self.scratch / "o")
                    self.one_line_naming(run, seed)
        self.expect_exit(0, "run", "--seed", "18446744073709551615", "--filter", "SM-PROV-1",
                         "--out", self.scratch / "o")

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
        fake = self.scratch / "libcuda.so.1"
        names = subprocess.run(["nm", "-D", "--defined-only", "--format=posix",
                                BIN.parent / "platform" / "libcuda.so.1"],
                               capture_output=True, text=True, check=True).stdout
        body = "".join(
            f"int {line.split()[0]}(void) {{ fputs(\"CALLED {line.split()[0]}\\n\", stderr); "
            "return 999; }\n"
            for line in names.splitlines()
            if line.split()[0].startswith("cu") and line.split()[1] in "TW")
        source = self.scratch / "fake.c"
        source.write_text("#include <stdio.h>\n" + body)
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", fake,
                        source], check=True)
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
