"""Proposers that other packages register: run like a command, in a process of their own.

So one that crashes, hangs or prints does no more harm than a command that does, and gets no more of the environment.
The process is this module: `python -m beaker.engine.proposers.registered NAME PROJECT`.
"""

import asyncio
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beaker.core.proposer_command import PROJECT
from beaker.core.strict_json import dumps
from beaker.core.usage import ModelUsage, usage_to_json
from beaker.engine.proposal import ProposalTask
from beaker.runtime.extensions import PROPOSERS, load

OPTIONS_VARIABLE = "BEAKER_PROPOSER_OPTIONS"
"""Holds `proposer_options` as JSON."""


def registered_command(name: str) -> tuple[str, ...]:
    """The command that runs the proposer registered under `name`."""
    return (sys.executable, "-P", "-m", __name__, name, PROJECT)


def registered_environment(environ: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, str]:
    """`environ` with what the process needs beside: the options, and where this interpreter finds packages."""
    made = {**environ, OPTIONS_VARIABLE: dumps(dict(options))}
    if (path := os.environ.get("PYTHONPATH")) is not None:
        made.setdefault("PYTHONPATH", path)
    return made


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Let the proposer work on the working copy; what it returns is kept as usage."""
    name, project = arguments
    propose: Callable[[ProposalTask], Any] = load(PROPOSERS, name)
    found = propose(task_of(environ, project=Path(project)))
    if inspect.isawaitable(found):
        found = asyncio.run(_awaited(found))
    if found is not None:
        usages = tuple(found)
        if not all(isinstance(one, ModelUsage) for one in usages):
            raise TypeError(f"the proposer {name!r} must return None or ModelUsage values, not {found!r}")
        Path(environ["BEAKER_USAGE"]).write_text(json.dumps(usage_to_json(usages)), encoding="utf-8")


def task_of(environ: Mapping[str, str], *, project: Path) -> ProposalTask:
    """The task that a working copy and its environment make."""
    evidence = Path(environ["BEAKER_EVIDENCE"])
    cases = sorted((evidence / "cases").iterdir(), key=lambda path: int(path.stem))
    return ProposalTask(
        workspace=Path(environ["BEAKER_WORKSPACE"]),
        project=project,
        summary=_read(evidence / "summary.json"),
        cases=tuple(map(_read, cases)),
        targets=json.loads(environ["BEAKER_TARGETS"]),
        source_dir=environ["BEAKER_SOURCE_DIR"],
        seed=int(environ["BEAKER_PROPOSAL_SEED"]),
        options=json.loads(environ[OPTIONS_VARIABLE]),
    )


async def _awaited(found: Any) -> Any:
    return await found


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)
