"""What the optional clients share: the packages' environment and the platform's marker."""
import ctypes
import os
import pathlib
import sys

SKIPPED, REFUSED = 77, 3
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ctypes_driver import object_of, open_platform, refuse  # noqa: E402,F401
from two_ranks import swap, two_ranks  # noqa: E402,F401


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
