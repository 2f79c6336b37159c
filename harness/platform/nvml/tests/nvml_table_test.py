#!/usr/bin/env python3
"""The platform prints the lines that hardware printed: nvml_table.py on the profile hgx-h200."""
import argparse
import difflib
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--oracle", required=True)
    options = parser.parse_args()
    with open(options.oracle, encoding="utf-8") as file:
        expected = file.read().splitlines()
    if len(expected) < 50:
        sys.exit(f"{options.oracle}: too short to prove anything")
    # One visible GPU: NVML does not apply the mask.
    environment = dict(os.environ, SYMMCTS_PLATFORM="hgx-h200", CUDA_VISIBLE_DEVICES="1")
    environment.pop("SYMMCTS_MACHINE", None)
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvml_table.py")
    ran = subprocess.run([sys.executable, "-B", table, "--lib", options.lib], env=environment,
                         text=True, stdout=subprocess.PIPE, check=True)
    difference = list(difflib.unified_diff(expected, ran.stdout.splitlines(), "hardware", "platform",
                                           lineterm=""))
    print("\n".join(difference) if difference else f"{len(expected)} lines agree")
    sys.exit(1 if difference else 0)


if __name__ == "__main__":
    main()
