"""`beaker run smoke`: checks a project and its dataset before a launch; customer code runs in processes of its own."""

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_entry_options, add_leaf, add_python_option, positive
from beaker.cli.shell import DONE, REFUSED, Io, Styled, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from beaker.cli.place import Surroundings
    from beaker.runtime.smoke_values import SmokeOutcome, SmokeRequest


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
    leaf.add_argument("--watch", action="store_true", help="check again whenever a file of the project has changed")
    leaf.add_argument("--junit", metavar="FILE", help="write a JUnit report, a test per stage, for CI services")
    leaf.add_argument("--dataset", metavar="NAME", help="a dataset that the place keeps, as NAME or NAME@REVISION")
    leaf.add_argument("--dataset-id", metavar="ID", help="the same by its artifact id")
    add_agent_option(leaf)


def smoke(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when a launch could go ahead; 2 when a stage failed, or with --strict while placeholders are left."""
    folders: list[Path] = []
    if arguments.watch:
        from beaker.cli.smoke_watch import watch_smoke

        def check() -> "list[Path]":
            folders.clear()
            _checked(arguments, io, folders)
            return [*folders]

        watch_smoke(check, arguments, io)
    return _checked(arguments, io, folders)


def _checked(arguments: argparse.Namespace, io: Io, folders: "list[Path]") -> int:
    """Check once; the exit code. The folders that are read are noted in `folders`, the project's first."""
    from beaker.cli.place import advising, look_around
    from beaker.cli.progress import busy
    from beaker.cli.signals import run_async
    from beaker.cli.smoke_report import show_outcome, show_stage
    from beaker.cli.smoke_spec import without_configuration
    from beaker.core.problems import Problem
    from beaker.runtime.smoke import smoke as try_out
    from beaker.runtime.smoke_values import SmokeOutcome, StageReport

    folders.append(io.cwd)
    around = look_around(arguments, io)
    if around.project is not None:
        folders[:] = [around.project.git_root or around.project.root]
    if around.problems:
        unread = StageReport(stage="config", problems=around.problems)
        if not io.json:
            show_stage(unread, io)
        return _ended(arguments, io, arguments.integration_id or "", SmokeOutcome(passed=False, stages=(unread,)))
    if around.project is None and arguments.target is not None:
        around = without_configuration(io)
    if around.config is not None and not io.json:
        for warning in around.config.warnings:
            io.warn(warning)
    with _requested(arguments, io, around) as (request, is_kept):
        if not is_kept:
            folders.append(request.dataset_dir)
        if not io.json:
            io.out(Styled(f"beaker run smoke: {one_line(request.entry.id)}", "heading"))
        left: list[Problem] = []
        try:
            with busy(io, "  checking"):
                outcome = run_async(
                    try_out(request, lambda stage: None if io.json else show_stage(stage, io), left.extend)
                )
        except KeyboardInterrupt:
            if left:
                io.fail(left)
            raise
    if not io.json:
        show_outcome(outcome, io, request, advising(arguments, io, around, request.entry.agent_key), arguments, is_kept)
    return _ended(arguments, io, request.entry.id, outcome)


def _ended(arguments: argparse.Namespace, io: Io, integration_id: str, outcome: "SmokeOutcome") -> int:
    """Write the reports that were asked for, and say what was wrong; the exit code."""
    from beaker.cli.smoke_report import report_json
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
