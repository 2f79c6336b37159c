#!/usr/bin/env python3
"""Installs the packages of the optional client tests: into a virtual environment, for the tests alone.

  packages.py --venv FOLDER

Exits 0 when they are there, 77 with the reason when they cannot be had: then the tests skip. A second
run finds them and asks no registry.
"""
import argparse
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    venv = parser.parse_args().venv
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    stamp = venv / "installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        print(f"{venv}: has them already")
        return
    stamp.unlink(missing_ok=True)
    # A sanitizer's runtime that is preloaded for our libraries is nothing for pip.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    made = subprocess.run([sys.executable, "-m", "venv", str(venv)], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        lines = made.stdout.strip().splitlines()
        skip(f"no virtual environment: {lines[-1] if lines else made.returncode}")
    installed = subprocess.run(
        [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--only-binary=:all:", "--retries", "1", "--timeout", "20", "-r",
         HERE / "requirements.txt"],
        env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if installed.returncode != 0:
        lines = installed.stdout.strip().splitlines()
        skip(f"pip: {lines[-1] if lines else installed.returncode}")
    stamp.write_text(wanted, encoding="utf-8")
    print(f"{venv}: installed {' '.join(wanted.split()[-2:])}")


if __name__ == "__main__":
    main()
