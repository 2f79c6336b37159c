"""What the optional clients share: the packages' environment, the platform's marker, two ranks."""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED, REFUSED = 77, 3
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ctypes_driver import object_of, open_platform, refuse  # noqa: E402,F401


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def inside_venv(venv):
    """Goes on in the interpreter of the virtual environment, or skips where there is none."""
    python = pathlib.Path(venv) / "bin" / "python"
    if not (pathlib.Path(venv) / "installed").exists():
        skip(f"{venv}: the packages of tests/clients/requirements.txt are not installed")
    if pathlib.Path(sys.prefix).resolve() != pathlib.Path(venv).resolve():
        os.execv(python, [str(python), "-B", *sys.argv])


def claim_driver(path):
    """Loads the platform's libcuda.so.1 by its absolute path and makes sure that whoever asks the
    loader for libcuda.so.1 later, a package for example, gets that one. Refuses every other driver
    before any call."""
    open_platform(path)
    by_name = ctypes.CDLL("libcuda.so.1")
    if object_of(by_name.cuMulticastCreate) != os.path.realpath(path):
        refuse(f"libcuda.so.1 is not {path}: nothing was called")


def two_ranks(arguments):
    """Starts this program twice with --rank, carries lines between the two until both say done, and
    returns whether both have ended well."""
    with tempfile.TemporaryDirectory(prefix="symmcts-client-") as folder:
        environment = dict(os.environ, SYMMCTS_MACHINE=os.path.join(folder, "machine"))
        ranks = [subprocess.Popen([sys.executable, "-B", sys.argv[0], *arguments, "--rank", str(rank)],
                                  env=dict(environment, SYMMCTS_RANK=str(rank)), text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                 for rank in (0, 1)]
        while True:
            lines = [rank.stdout.readline() for rank in ranks]
            if not all(lines) or lines == ["done\n", "done\n"]:
                break
            for rank, line in zip(ranks, reversed(lines)):
                rank.stdin.write(line)
                rank.stdin.flush()
        for rank in ranks:
            rank.stdin.close()
            rank.stdout.close()
        return [rank.wait(60) for rank in ranks] == [0, 0] and lines == ["done\n", "done\n"]


def swap(text):
    """Sends a line to the other rank and returns the one that it has sent."""
    print(text, flush=True)
    received = sys.stdin.readline()
    if not received:
        sys.exit("the other rank is gone")
    return received.rstrip("\n")
