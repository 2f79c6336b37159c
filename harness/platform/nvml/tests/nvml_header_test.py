#!/usr/bin/env python3
"""Compares nvml_abi.hpp and nvml_names.txt with NVIDIA's public nvml.h.

  nvml_header_test.py --compiler C++ --root SOURCE_TREE --headers CUDA_INCLUDE --folder BUILD_FOLDER

Takes nvml.h from the toolkit, else from the header wheel nvidia-nvml-dev, pinned by version. Exits 77
with the reason where neither can be had.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import zipfile

WHEEL = "nvidia-nvml-dev==13.0.87"
HERE = pathlib.Path(__file__).resolve().parent


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def find_header(options):
    if (options.headers / "nvml.h").exists():
        return options.headers / "nvml.h"
    kept = options.folder / "nvml.h"
    if kept.exists():
        return kept
    options.folder.mkdir(parents=True, exist_ok=True)
    fetched = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
         "--no-deps", "--only-binary=:all:", "--retries", "1", "--timeout", "20", "-d",
         options.folder, WHEEL],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if fetched.returncode != 0:
        lines = fetched.stdout.strip().splitlines()
        skip(f"no nvml.h; pip: {lines[-1] if lines else fetched.returncode}")
    for wheel in options.folder.glob("nvidia_nvml_dev-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith("/include/nvml.h"):
                    kept.write_bytes(archive.read(name))
    if not kept.exists():
        sys.exit(f"{WHEEL} holds no nvml.h")
    return kept


def main():
    parser = argparse.ArgumentParser()
    for name in ("--compiler", "--root"):
        parser.add_argument(name, required=True)
    for name in ("--headers", "--folder"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    options = parser.parse_args()
    header = find_header(options)
    subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", "-DNVML_NO_UNVERSIONED_FUNC_DEFS",
                    "-I", options.root, "-isystem", header.parent, HERE / "nvml_header_test.cpp"],
                   check=True)
    declared = set(re.findall(r"DECLDIR (nvml\w+)", header.read_text(errors="replace")))
    names = set((HERE.parent / "nvml_names.txt").read_text(encoding="utf-8").split())
    if len(declared) < 300:
        sys.exit(f"{header} has an unexpected shape")
    if missing := declared - names:
        sys.exit(f"not in nvml_names.txt: {', '.join(sorted(missing))}")
    print(f"{header}: layouts, numbers and {len(declared)} names agree")


if __name__ == "__main__":
    main()
