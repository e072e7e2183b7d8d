"""What `beaker run smoke` prints: each stage as it ends, what came of it all, and the same as JSON."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.shell import Io, Styled, one_line, problems_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from beaker.runtime.interpreters import ProjectPython
    from beaker.runtime.smoke_values import SmokeOutcome, SmokeRequest, StageReport, TriedCase

SHOWN_OUTPUT_LINES = 20
"""Lines of what customer code printed that are shown per stage; more are counted. `--json` carries all of them."""

SHOWN_OUTPUT_CHARACTERS = 2_000
"""Characters that are shown of the output of the case that --run-one ran; more are counted."""

JSON_OUTPUT_CHARACTERS = 1_000_000
"""The longest output, written as JSON, that `--json` carries; a longer one is left out, and its length told."""


def report_json(integration_id: str, outcome: "SmokeOutcome") -> dict[str, Any]:
    """What `--json` prints; a failure's problems are on standard error too."""
    from beaker.core.convert import to_json
    from beaker.core.strict_json import dumps

    def carried(tried: "TriedCase") -> dict[str, Any]:
        has_output = tried.result is not None and tried.result.error is None
        output = tried.result.output if tried.result is not None else None
        characters = len(dumps(output)) if has_output else None
        return {
            "id": tried.case.id,
            "split": tried.split,
            "output": output if characters is not None and characters <= JSON_OUTPUT_CHARACTERS else None,
            "output_characters": characters,
            "score": to_json(tried.score),
        }

    cases = [*map(carried, outcome.tried)]
    first = cases[0] if cases else {}
    return {
        "integration_id": integration_id,
        "passed": outcome.passed,
        "readiness": outcome.readiness,
        "reasons": list(outcome.reasons),
        "stages": [
            {
                "stage": stage.stage,
                "passed": stage.passed,
                "detail": stage.detail,
                "output": stage.captured,
                "traceback": traceback_of(stage),
            }
            for stage in outcome.stages
        ],
        "warnings": problems_json(outcome.warnings)["problems"] if outcome.warnings else [],
        "row_counts": dict(outcome.row_counts),
        "case_counts": dict(outcome.case_counts),
        "sample": first.get("id"),
        "case_output": first.get("output"),
        "case_output_characters": first.get("output_characters"),
        "score": first.get("score"),
        "cases": cases,
        "python": python_json(outcome.python),
    }


def python_json(python: "ProjectPython | None") -> dict[str, str] | None:
    """The interpreter that ran the project's code, as `--json` tells it; `None` before it was known."""
    if python is None:
        return None
    return {"executable": python.program, "version": python.version, "source": python.source}


def show_stage(stage: "StageReport", io: Io) -> None:
    lines = stage.captured.splitlines()
    if stage.passed:
        io.out("  ", Styled("PASS", "ok"), f" {stage.stage}: {stage.detail}")
    else:
        io.out("  ", Styled("FAIL", "error"), f" {stage.stage}")
    for line in lines[:SHOWN_OUTPUT_LINES]:
        io.out("       | ", line)
    if len(lines) > SHOWN_OUTPUT_LINES:
        io.out(f"       | ... {len(lines) - SHOWN_OUTPUT_LINES} more lines")
    for line in traceback_of(stage).splitlines():
        io.out("       ", line)


def show_outcome(
    outcome: "SmokeOutcome", io: Io, request: "SmokeRequest", there: Io, arguments: argparse.Namespace, is_kept: bool
) -> None:
    """What came of it; `there` gives the commands that come next, without an upload where the dataset `is_kept`."""
    for warning in outcome.warnings:
        io.warn(warning)
    if outcome.readiness is None:
        return
    ready = outcome.readiness == "INTEGRATED"
    io.out("  Readiness: ", Styled(outcome.readiness, "ok" if ready else "warn"))
    for reason in outcome.reasons:
        io.out("    - ", one_line(reason))
    results = [tried.result for tried in outcome.tried if tried.result is not None]
    if not results:
        io.out("  No case was run or scored (--run-one does one).")
    for result in results:
        from beaker.core.strict_json import dumps

        written = dumps(result.output)
        more = len(written) - SHOWN_OUTPUT_CHARACTERS
        io.out("  output: ", written[:SHOWN_OUTPUT_CHARACTERS], f" ... {more} more characters" if more > 0 else "")
    if outcome.passed:
        io.note(Styled("Next:", "heading"))
        if not ready:
            io.note("  1. replace the placeholders, then run it again")
        else:
            named = (("--integration-id", arguments.integration_id), ("--spec-id", arguments.spec_id))
            chosen = [word for option, text in named if text is not None for word in (option, text)]
            if is_kept:
                selected = [
                    word
                    for option, text in (("--dataset", arguments.dataset), ("--dataset-id", arguments.dataset_id))
                    if text is not None
                    for word in (option, text)
                ]
                io.note(f"  1. start a run: {there.command('run', 'trigger', *selected, *chosen)}")
                return
            folder, name = _shown_folder(request.dataset_dir, io), _dataset_name(request.config)
            io.note(f"  1. upload the dataset: {there.command('dataset', 'upload', folder, '--name', name)}")
            io.note(f"  2. start a run: {there.command('run', 'trigger', '--dataset', name, *chosen)}")


def _shown_folder(folder: "Path", io: Io) -> str:
    """The dataset's folder as one would type it here."""
    folder, here = folder.resolve(), io.cwd.resolve()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _dataset_name(config: "Mapping[str, Any]") -> str:
    """The dataset's name as far as the configuration tells it, else a place to fill in."""
    from beaker.core.launch import REFERENCE_KEYS

    named = next((config[key] for key in REFERENCE_KEYS if isinstance(config.get(key), str)), "")
    return named.partition("@")[0].strip() or "NAME"


def traceback_of(stage: "StageReport") -> str:
    """The traceback of the stage's first problem, empty without one."""
    return str(getattr(stage.problems[0], "traceback", "")) if stage.problems else ""
