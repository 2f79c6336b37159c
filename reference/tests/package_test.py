#!/usr/bin/env python3
"""Installs the package `symm_mem` by itself, builds the examples against it, and runs them.

They run on the software platform only: the library at its absolute path must export the platform's
marker (exit 3 otherwise), and it is the one that the programs are told to use. It is read, not
opened: Python cannot open one that was built for TSan.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
OPTIONS = None


def run(*command, **more):
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                           timeout=600, **more)
    if ended.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {ended.returncode}\n"
                             f"{ended.stdout}{ended.stderr}")
    return ended.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="symm-mem-package-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", OPTIONS.build, "--component", "symm_mem", "--prefix", cls.prefix)
        cls.environment = dict(
            os.environ, LD_LIBRARY_PATH=str(OPTIONS.platform), SYMMCTS_PLATFORM="hgx-h200",
            SYMMCTS_PROFILES=str(OPTIONS.profiles))

    def test_holds_the_library_and_nothing_else(self):
        files = {str(each.relative_to(self.prefix)) for each in self.prefix.rglob("*")
                 if each.is_file()}
        headers = {f"include/symm_mem/{each.name}"
                   for each in (EXAMPLES.parent / "include" / "symm_mem").iterdir()}
        self.assertLessEqual(headers | {"lib/libsymm_mem.a"}, files)
        for each in files - headers:
            self.assertRegex(each, r"^lib/(libsymm_mem(_mpi)?\.a|cmake/symm_mem/[a-z_-]+\.cmake)$")
        for each in self.prefix.rglob("*.cmake"):
            self.assertNotIn(str(OPTIONS.build), each.read_text(encoding="utf-8"), each)

    def build(self, *more):
        where = self.folder / "examples"
        said = run("cmake", "-S", EXAMPLES, "-B", where, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_CXX_COMPILER={OPTIONS.compiler}", f"-DCMAKE_CXX_FLAGS={OPTIONS.flags}",
                   f"-DSYMM_MEM_CUDA_INCLUDE={OPTIONS.cuda_include}",
                   f"-DSYMM_MEM_CUDA_DRIVER={OPTIONS.platform}/libcuda.so.1",
                   "-DCMAKE_SKIP_RPATH=ON", *more)
        run("cmake", "--build", where)
        return where, said

    def right(self, said, ranks):
        self.assertEqual(sorted(re.findall(r"rank \d+: \d+ of \d+ bytes", said)),
                         [f"rank {rank}: {ranks << 20} of {ranks << 20} bytes"
                          for rank in range(ranks)])

    def test_examples_build_and_run_on_the_platform(self):
        where, _ = self.build()
        loaded = run("ldd", where / "all_gather", env=self.environment)
        self.assertIn(f"libcuda.so.1 => {OPTIONS.platform}/libcuda.so.1", loaded)
        for ranks in (2, 3):
            with tempfile.TemporaryDirectory(dir=self.folder) as sockets:
                environment = dict(self.environment, SYMMCTS_MACHINE=f"{sockets}/machine")
                started = [subprocess.Popen([where / "all_gather", sockets, str(rank), str(ranks)],
                                            env=dict(environment, SYMMCTS_RANK=str(rank)),
                                            stdout=subprocess.PIPE, text=True)
                           for rank in range(ranks)]
                said = "".join(each.communicate(timeout=300)[0] for each in started)
                self.assertEqual([each.returncode for each in started], [0] * ranks, said)
                self.right(said, ranks)
        if not OPTIONS.mpiexec:
            return
        with tempfile.TemporaryDirectory(dir=self.folder) as sockets:
            said = run(OPTIONS.mpiexec, "--allow-run-as-root", "--oversubscribe", "-n", 2,
                       where / "all_gather_mpi",
                       env=dict(self.environment, SYMMCTS_MACHINE=f"{sockets}/machine"))
            self.right(said, 2)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("build", "platform", "profiles", "cuda-include"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="")
    parser.add_argument("--mpiexec", default="")
    OPTIONS = parser.parse_args()
    library = OPTIONS.platform / "libcuda.so.1"
    marked = re.search(r" T symmcts_platform_abi\b", run("nm", "-D", "--defined-only", library))
    if not library.is_absolute() or not marked:
        print(f"{library} is not the software platform, nothing was called", file=sys.stderr)
        sys.exit(3)
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
