"""`beaker trace instrument`: which frameworks ask models here, what records their calls, and what is left to do."""

import argparse
from typing import TYPE_CHECKING

from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.core.frameworks import Detection, RepoScan


def instrument(arguments: argparse.Namespace, io: Io) -> int:
    """Tell what is used and recorded; with `--check` exit code 1 where no call of a model is."""
    from beaker.cli.place import answered
    from beaker.core.frameworks import wiring_task
    from beaker.files.pyproject import project_in
    from beaker.files.tracing_scan import scan_repo

    folder = answered(project_in(io.cwd / arguments.dir))
    scan = answered(scan_repo(folder))
    missing = arguments.check and not scan.instrumented
    if io.json:
        io.json_line(_json(scan, wiring_task(scan)))
        return NEGATIVE if missing else DONE
    _show(scan, io)
    if missing:
        from beaker.core.problems import Problem

        return io.fail(Problem("BK753", "no call of a model is recorded", scan.root, wiring_task(scan)), code=NEGATIVE)
    if not arguments.check:
        io.note(Styled("Next:", "heading"))
        io.note(f"  1. {wiring_task(scan)}")
        io.note(f"  2. see what one case used: {io.command('run', 'eval', '--limit', '1')}")
    return DONE


def _show(scan: "RepoScan", io: Io) -> None:
    found = ", ".join(one.name for one in scan.detections) or "no framework that asks models was found"
    io.out(Styled("beaker trace instrument:", "ok" if scan.instrumented else "warn"), f" {found}")
    for one in scan.detections:
        io.out("  ", Styled(one.name, "key"), f"  {_how(one)}")
        io.out(f"    {one_line('; '.join(one.evidence))}")
        if one.call_sites:
            io.out(f"    used at {one_line(', '.join(one.call_sites))}")
    told = (
        ("records elsewhere, and stays", scan.existing_telemetry),
        ("models recorded by an adapter at", scan.adapter_sites),
        ("models recorded by hand at", scan.model_call_sites),
        ("tools recorded at", scan.tool_adapter_sites),
        ("could not be read", scan.unread),
    )
    for label, places in told:
        if places:
            io.out(f"  {label}: {one_line(', '.join(places))}")


def _how(detection: "Detection") -> str:
    """What records the calls of a framework."""
    if detection.adapter is None:
        return "by hand: runtime.trace.model_call"
    return detection.adapter if detection.framework.models else f"{detection.adapter} (tools only)"


def _json(scan: "RepoScan", task: str) -> dict[str, object]:
    return {
        "directory": scan.root,
        "instrumented": scan.instrumented,
        "frameworks": [
            {
                "name": one.name,
                "adapter": one.adapter,
                "records_models": one.adapter is not None and one.framework.models,
                "declared": one.declared,
                "evidence": [*one.evidence],
                "call_sites": [*one.call_sites],
            }
            for one in scan.detections
        ],
        "telemetry": [*scan.existing_telemetry],
        "adapter_sites": [*scan.adapter_sites],
        "tool_adapter_sites": [*scan.tool_adapter_sites],
        "model_call_sites": [*scan.model_call_sites],
        "unread": [*scan.unread],
        "task": task,
    }
