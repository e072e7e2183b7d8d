"""`beaker run smoke`: checks a project and its dataset before a launch; customer code runs in processes of its own."""

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_entry_options, add_leaf, add_python_option, positive
from beaker.cli.shell import DONE, REFUSED, Io, Styled, one_line, problems_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from beaker.cli.place import Surroundings
    from beaker.runtime.interpreters import ProjectPython
    from beaker.runtime.smoke_values import SmokeOutcome, SmokeRequest, StageReport, TriedCase

SHOWN_OUTPUT_LINES = 20
"""Lines of what customer code printed that are shown per stage; more are counted. `--json` carries all of them."""

SHOWN_OUTPUT_CHARACTERS = 2_000
"""Characters that are shown of the output of the case that --run-one ran; more are counted."""

JSON_OUTPUT_CHARACTERS = 1_000_000
"""The longest output, written as JSON, that `--json` carries; a longer one is left out, and its length told."""


def add_smoke(actions: Any) -> None:
    """Add `run smoke`."""
    leaf = add_leaf(
        actions,
        "smoke",
        help="check the project and its dataset before a launch",
        description="Imports the Integration, validates every row, sets up and loads every case, and checks whatever "
        "would make a launch fail. Nothing is run or scored, but one case with --run-one. The dataset is what "
        "--dataset or --config names, else the folder that local_dataset_path of config_defaults names (it counts from "
        "the project, in --config from here), else what the configuration selects.",
    )
    named = add_entry_options(leaf)
    named.add_argument("--target", metavar="T", help="a Spec without the configuration: FILE.py or module:callable")
    leaf.add_argument("--source-dir", metavar="DIR", help="of a Spec: its source folder, from the Git root")
    leaf.add_argument("--package-import-root", metavar="DIR", help="of a Spec: what to import from, from --source-dir")
    leaf.add_argument("--split", choices=("train", "test"), default="train", help="whose case is shown or run (train)")
    add_python_option(leaf)
    leaf.add_argument("--config", metavar="JSON", help="launch settings over config_defaults")
    leaf.add_argument("--strict", action="store_true", help="fail while placeholders are left")
    leaf.add_argument("--run-one", action="store_true", help="run and score one case for real, or those of --case")
    leaf.add_argument(
        "--case",
        dest="cases",
        metavar="ID",
        action="append",
        default=[],
        help="show or run this case, of either split, instead of the first; repeatable",
    )
    leaf.add_argument("--limit", type=positive(None), metavar="N", help="load cases from so many rows of a split only")
    leaf.add_argument("--junit", metavar="FILE", help="write a JUnit report, a test per stage, for CI services")
    leaf.add_argument("--dataset", metavar="NAME", help="a dataset that the place keeps, as NAME or NAME@REVISION")
    leaf.add_argument("--dataset-id", metavar="ID", help="the same by its artifact id")
    add_agent_option(leaf)


def smoke(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when a launch could go ahead; 2 when a stage failed, or with --strict while placeholders are left."""
    from beaker.cli.place import advising, look_around
    from beaker.cli.progress import busy
    from beaker.cli.signals import run_async
    from beaker.cli.smoke_spec import without_configuration
    from beaker.core.problems import Problem
    from beaker.runtime.smoke import smoke as try_out
    from beaker.runtime.smoke_values import SmokeOutcome, StageReport

    around = look_around(arguments, io)
    if around.problems:
        unread = StageReport(stage="config", problems=around.problems)
        if not io.json:
            _show_stage(unread, io)
        return _ended(arguments, io, arguments.integration_id or "", SmokeOutcome(passed=False, stages=(unread,)))
    if around.project is None and arguments.target is not None:
        around = without_configuration(io)
    if around.config is not None and not io.json:
        for warning in around.config.warnings:
            io.warn(warning)
    with _requested(arguments, io, around) as (request, is_kept):
        if not io.json:
            io.out(Styled(f"beaker run smoke: {one_line(request.entry.id)}", "heading"))
        left: list[Problem] = []
        try:
            with busy(io, "  checking"):
                outcome = run_async(
                    try_out(request, lambda stage: None if io.json else _show_stage(stage, io), left.extend)
                )
        except KeyboardInterrupt:
            if left:
                io.fail(left)
            raise
    if not io.json:
        _show_outcome(
            outcome, io, request, advising(arguments, io, around, request.entry.agent_key), arguments, is_kept
        )
    return _ended(arguments, io, request.entry.id, outcome)


def _ended(arguments: argparse.Namespace, io: Io, integration_id: str, outcome: "SmokeOutcome") -> int:
    """Write the reports that were asked for, and say what was wrong; the exit code."""
    from beaker.core.problems import Problem

    if arguments.junit is not None:
        from beaker.cli.smoke_junit import write_junit

        write_junit(io.cwd / arguments.junit, integration_id, outcome, strict=arguments.strict)
    if io.json:
        io.json_line(report_json(integration_id, outcome))
    problems = tuple(problem for stage in outcome.stages for problem in stage.problems)
    if not problems and not outcome.passed and outcome.readiness == "SCAFFOLD":
        problems = (Problem("BK347", "placeholders are left, and --strict was asked for", hint="replace them"),)
    return io.fail(problems) if problems else DONE if outcome.passed else REFUSED


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
                "traceback": _traceback(stage),
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


@contextmanager
def _requested(arguments: argparse.Namespace, io: Io, around: "Surroundings") -> "Iterator[tuple[SmokeRequest, bool]]":
    """What to try out, and whether its dataset is one that a place keeps, here for the while; `Refused` when there is
    no integration, no dataset, or a setting is no JSON object."""
    from dataclasses import replace

    import attrs
    from returns.pipeline import is_successful

    from beaker.cli.kept_values import granted_here
    from beaker.cli.place import answered
    from beaker.cli.project_python import python_search
    from beaker.cli.smoke_dataset import smoked_dataset
    from beaker.cli.smoke_spec import named_on_the_line, smoked_entry
    from beaker.cli.trigger import given_config
    from beaker.core.credentials import choose_base_url
    from beaker.core.environment import base_environment, redactor
    from beaker.core.launch import merge_config, split_config
    from beaker.core.optimizer import parse_launch_settings
    from beaker.core.problems import Problem, Refused
    from beaker.files.project import config_path_in_repository, resolve_import_root
    from beaker.runtime.code_root import CodeRoot
    from beaker.runtime.smoke_values import SmokeRequest

    entry = smoked_entry(arguments, around)
    example = "`beaker demo --dir DIR` makes an example"
    if around.project is None or around.config is None:
        hint = f"add .beaker/beaker.yaml with an entry below integrations; {example}"
        raise Refused(Problem("BK119", "no integration is configured here", str(io.cwd), hint))
    if entry is None:
        hint = f"add an entry below integrations; {example}"
        raise Refused(Problem("BK119", "the configuration names no integration", around.config.file, hint))
    root = around.project.git_root or around.project.root
    entry = named_on_the_line(arguments, root, entry)
    if not entry.problems:
        resolved = resolve_import_root(root, entry)
        if not is_successful(resolved):
            entry = attrs.evolve(entry, problems=(resolved.failure(),))  # type: ignore[misc]  # a value is an attrs class
    given = given_config(arguments.config)
    config = merge_config(around.config.config_defaults, entry.config_defaults, given)
    granted = granted_here(arguments, io, around, entry)
    settings = parse_launch_settings(split_config(config)[0], kind=entry.kind)
    passed = settings.unwrap().optimizer.proposer_env if is_successful(settings) else ()
    place = choose_base_url(arguments.base_url, io.environ, local=arguments.local, configured=around.config.api)
    request = SmokeRequest(
        code=CodeRoot(root, entry.entrypoint, entry.source_dir, entry.package_import_root, kind=entry.kind),
        entry=entry,
        config=config,
        dataset_dir=root,
        split=arguments.split,
        env={**base_environment(io.environ), **granted.values},
        missing_env=granted.missing,
        missing_proposer_env=tuple(name for name in passed if name not in io.environ),
        config_file=config_path_in_repository(around.project).value_or(None),
        local=answered(place).is_local,
        strict=arguments.strict,
        run_one=arguments.run_one,
        limit=arguments.limit,
        python=python_search(arguments, io, around.project.root, around.project.git_root),
        case_ids=tuple(arguments.cases),
        redact=redactor(granted.values.values()),
    )
    with smoked_dataset(arguments, io, around, entry, config=config, given=given) as found:
        told = replace(
            request,
            dataset_dir=found.folder,
            dataset_problems=found.problems,
            dataset_name=found.name,
            dataset_revision=found.revision,
            warnings=found.warnings,
        )
        yield told, found.kept


def _show_stage(stage: "StageReport", io: Io) -> None:
    lines = stage.captured.splitlines()
    if stage.passed:
        io.out("  ", Styled("PASS", "ok"), f" {stage.stage}: {stage.detail}")
    else:
        io.out("  ", Styled("FAIL", "error"), f" {stage.stage}")
    for line in lines[:SHOWN_OUTPUT_LINES]:
        io.out("       | ", line)
    if len(lines) > SHOWN_OUTPUT_LINES:
        io.out(f"       | ... {len(lines) - SHOWN_OUTPUT_LINES} more lines")
    for line in _traceback(stage).splitlines():
        io.out("       ", line)


def _show_outcome(
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


def _traceback(stage: "StageReport") -> str:
    """The traceback of the stage's first problem, empty without one."""
    return str(getattr(stage.problems[0], "traceback", "")) if stage.problems else ""
