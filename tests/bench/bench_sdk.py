"""Figures of the authoring types: starting up, making a large case, the inert trace."""

import json
import resource
import subprocess
import sys
import timeit
from typing import Any

from beaker import Case
from beaker.sdk.trace import NOOP_TRACE


def cpu_ms(code: str, runs: int = 10) -> float:
    """The least CPU time of a new interpreter that runs `code`, in milliseconds."""
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best * 1000


def seconds(function: Any, number: int = 1) -> float:
    """The least time of one call, in seconds."""
    return min(timeit.repeat(function, number=number, repeat=5)) / number


def start() -> None:
    """What starting costs, beside an interpreter that does nothing."""
    floor = cpu_ms("pass")
    for code in ("import beaker", "from beaker import Case; Case('c', 1)", "from beaker import *"):
        cost = cpu_ms(code)
        print(f"{code!r}: {cost:.1f} ms CPU, {cost / floor:.1f}x of `python -c pass` ({floor:.1f} ms)")


def large_case() -> None:
    """A case of 200,000 small values, beside `json.dumps` of the same."""
    large = {"rows": [{"id": index, "name": f"n{index}", "ok": True, "x": 0.5} for index in range(50_000)]}
    floor, cost = seconds(lambda: json.dumps(large)), seconds(lambda: Case("c", large))
    print(f"Case of 200,000 values: {cost * 1000:.0f} ms, {cost / floor:.1f}x of json.dumps ({floor * 1000:.0f} ms)")


def trace() -> None:
    """One operation on the inert trace."""

    def operation() -> None:
        with NOOP_TRACE.stage("s", inputs=None) as stage:
            stage.output(1)

    def nothing() -> None:
        pass

    cost, floor = seconds(operation, 100_000), seconds(nothing, 100_000)
    print(f"inert trace, enter + output + exit: {cost * 1e9:.0f} ns (an empty function: {floor * 1e9:.0f} ns)")


if __name__ == "__main__":
    start()
    large_case()
    trace()
