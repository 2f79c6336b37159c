#!/usr/bin/env python3
"""Holds harness/platform/facts.toml against the tests that there are.

Every fact has an id that the survey of the driver's semantics knows, and every such id has a fact;
every test that a fact names exists, and its source cites the fact; every fact that a test's comment
cites exists; a fact of A1 to A11 and A14 to A16 that no test shows has a reason. The list that
people see (symmcts list facts --platform) has one line a fact.
"""
import argparse
import collections
import fnmatch
import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

OPTIONS = None
ROOT = pathlib.Path(__file__).resolve().parents[4]
# Part A of the survey: how many facts each group has, and those with a letter.
GROUPS = {0: 8, 1: 4, 2: 6, 3: 7, 4: 16, 5: 5, 6: 13, 7: 8, 8: 9, 9: 17, 10: 11, 11: 10, 12: 15,
          13: 9, 14: 6, 15: 5, 16: 8, 17: 8, 18: 8}
LETTERED = {"A0.5b", "A4.8b", "A7.7b", "A9.8b"}
MUST_BE_SHOWN = {*range(1, 12), 14, 15, 16}
CITED = re.compile(r"\bA(?:1[0-8]|[0-9])\.[0-9]{1,2}b?\b")


def known_ids():
    return {f"A{group}.{number}" for group, count in GROUPS.items()
            for number in range(1, count + 1)} | LETTERED


def sources():
    """The platform's test sources, by path."""
    folder = ROOT / "harness" / "platform"
    files = [*folder.rglob("*_test.cpp"), *folder.rglob("*_test.py"), *folder.rglob("tests/*.c")]
    return {path: path.read_text(encoding="utf-8") for path in files}


def tests_of(program):
    path = OPTIONS.programs / program
    if not path.exists():
        raise AssertionError(f"{path} has not been built")
    listed = subprocess.run([path, "--gtest_list_tests"], text=True, capture_output=True,
                            check=True, timeout=60).stdout
    names, suite = set(), ""
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite:
            names.add(suite + name)
    return names


def ctest_names():
    listed = subprocess.run(["ctest", "-N"], cwd=OPTIONS.build, text=True, capture_output=True,
                            check=True, timeout=60).stdout
    return set(re.findall(r"Test +#\d+: (\S+)", listed))


class Facts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.facts = {fact["id"]: fact for fact in tomllib.loads(OPTIONS.facts.read_text())["fact"]}
        cls.sources = sources()
        cls.programs = {}
        cls.ctests = ctest_names()

    def test_the_ids_are_those_of_the_survey(self):
        self.assertEqual(set(self.facts), known_ids())

    def names_of(self, program):
        if program not in self.programs:
            self.programs[program] = tests_of(program)
        return self.programs[program]

    def test_every_named_test_exists(self):
        missing = []
        for fact in self.facts.values():
            for test in fact.get("tests", []):
                program, _, name = test.partition(":")
                if program not in self.ctests:
                    missing.append(f"{fact['id']}: no test {program}")
                elif name and program == "platform_reports":
                    if f"def {name.split('.')[1]}(" not in self.source_of_reports():
                        missing.append(f"{fact['id']}: {test}")
                elif name and not fnmatch.filter(self.names_of(program), name):
                    missing.append(f"{fact['id']}: {test}")
        self.assertFalse(missing)

    def source_of_reports(self):
        return next(text for path, text in self.sources.items() if path.name == "reports_test.py")

    def test_a_fact_is_cited_where_it_is_tested(self):
        uncited = []
        for fact in self.facts.values():
            cited = False
            for test in fact.get("tests", []):
                name = test.partition(":")[2].removeprefix("On/").split("/")[0]
                if not name:
                    cited = True  # the error table: its oracle is the source
                    continue
                suite, case = name.split(".")[:2]
                defined = re.compile(rf"\b{suite}, {case}\)|def {case}\(")
                cited = cited or any(defined.search(text) and fact["id"] in CITED.findall(text)
                                     for text in self.sources.values())
            if fact.get("tests") and not cited:
                uncited.append(fact["id"])
        self.assertFalse(uncited)

    def test_what_a_test_cites_is_a_fact(self):
        unknown = collections.defaultdict(set)
        for path, text in self.sources.items():
            for cited in CITED.findall(text):
                if cited not in self.facts:
                    unknown[path.name].add(cited)
        self.assertFalse(unknown)

    def test_nothing_is_unshown_without_a_reason(self):
        bare = [fact["id"] for fact in self.facts.values()
                if int(fact["id"][1:].split(".")[0]) in MUST_BE_SHOWN
                and not fact.get("tests") and not fact.get("reason")]
        self.assertFalse(bare)

    def test_the_list_has_a_line_for_each(self):
        listed = subprocess.run([OPTIONS.symmcts, "list", "facts", "--platform"], text=True,
                                capture_output=True, check=True, timeout=60).stdout
        lines = [line.split("  ", 2) for line in listed.splitlines()]
        self.assertEqual([line[0] for line in lines], list(self.facts))
        self.assertEqual({line[1] for line in lines} - {"tested", "modelled", "not modelled"}, set())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--facts", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--symmcts", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
