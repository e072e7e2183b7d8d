"""Figures of starting the command line, beside an interpreter that does nothing."""

import resource
import subprocess
import sys
from pathlib import Path

RUNS = 20
BEAKER = Path(sys.executable).with_name("beaker")


def cpu_ms(argv: list[str]) -> float:
    """The least CPU time of `argv` over some runs, in milliseconds."""
    best = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best * 1000


if __name__ == "__main__":
    floor = cpu_ms([sys.executable, "-c", "pass"])
    for option, target in (("--version", 3), ("--help", 5)):
        cost = cpu_ms([str(BEAKER), option])
        print(
            f"beaker {option}: {cost:.1f} ms CPU, {cost / floor:.1f}x of `python -c pass` ({floor:.1f} ms); "
            f"target {target}x"
        )
