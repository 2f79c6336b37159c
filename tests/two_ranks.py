"""Two processes of one program that talk in lines: what one prints, the other reads."""
import os
import subprocess
import sys
import tempfile
import time


def two_ranks(command, ranks_are_told):
    """Starts `command` twice with --rank on a machine of its own, and carries lines between the two
    until both say done or one ends. Returns their exit codes and the last lines. `ranks_are_told`: by
    SYMMCTS_RANK, else the machine numbers them."""
    with tempfile.TemporaryDirectory(prefix="symmcts-ranks-") as folder:
        environment = dict(os.environ, SYMMCTS_MACHINE=os.path.join(folder, "machine"))
        ranks = [subprocess.Popen(
            [*command, "--rank", str(rank)], text=True,
            env=dict(environment, SYMMCTS_RANK=str(rank)) if ranks_are_told else environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) for rank in (0, 1)]
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
        codes = [rank.wait(60) for rank in ranks]
        # The machine ends with its last rank, and leaves nothing.
        patience = time.monotonic() + 60
        while os.listdir(folder) and time.monotonic() < patience:
            time.sleep(0.01)
        if os.listdir(folder):
            sys.exit(f"left by the machine: {os.listdir(folder)}")
        return codes, lines


def swap(text):
    """Sends a line to the other rank and returns the one that it has sent."""
    print(text, flush=True)
    received = sys.stdin.readline()
    if not received:
        sys.exit("the other rank is gone")
    return received.rstrip("\n")
