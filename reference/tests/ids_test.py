#!/usr/bin/env python3
"""A reader of reference/ finds the line for every requirement that concerns an implementation.

  ids_test.py REQUIREMENTS.toml REFERENCE

Every id of the families below stands in a header or a source of the reference, in full: a range
such as "1..3" names no line.
"""
import pathlib
import re
import sys

FAMILIES = ("PROV", "LIFE", "AGRE", "RETRY", "FALL", "TEAR", "LEAK", "LAYO", "DEV", "SIG", "CAPT",
            "XCHG", "DATA")


def main():
    catalogue, reference = (pathlib.Path(word) for word in sys.argv[1:])
    wanted = re.findall(r'^id = "(SM-(?:%s)-\d+)"$' % "|".join(FAMILIES),
                        catalogue.read_text(encoding="utf-8"), re.MULTILINE)
    if len(wanted) < 40:
        sys.exit(f"{catalogue}: only {len(wanted)} ids, is this the catalogue?")
    found = set()
    for folder in ("include", "src"):
        for source in (reference / folder).rglob("*.?pp"):
            found |= set(re.findall(r"SM-[A-Z]+-\d+(?!\d|\.\.)", source.read_text(encoding="utf-8")))
    missing = [each for each in wanted if each not in found]
    unknown = sorted(found - set(re.findall(r"SM-[A-Z]+-\d+", catalogue.read_text(encoding="utf-8"))))
    if missing or unknown:
        sys.exit(f"no line of {reference} names {missing}; no requirement is {unknown}")
    print(f"{len(wanted)} requirements, each named")


if __name__ == "__main__":
    main()
