"""`beaker run trigger`: builds the launch from configuration and options, checks it here, sends it, and may watch."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.launched import show_launched, show_request
from beaker.cli.parser import (
    add_agent_option,
    add_entry_options,
    add_leaf,
    add_python_option,
    agent_words,
    positive,
    seconds,
)
from beaker.cli.run_view import listed, styled_status
from beaker.cli.shell import Io, one_line

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from beaker.cli.place import Answer, Place, Surroundings
    from beaker.core.config_entry import IntegrationEntry
    from beaker.core.launch import LaunchRequest
    from beaker.core.preflight import Preview
    from beaker.core.problems import Problems

WORKER_END = 10.0
"""Seconds a worker may take to end by itself once its run has ended or it was let go."""

WORKER_TEARDOWN = 45.0
"""Seconds a worker that was asked to end may take for its teardowns."""


def add_trigger(actions: Any) -> None:
    """Add `run trigger`."""
    leaf = add_leaf(
        actions,
        "trigger",
        help="start a run (also `beaker run` alone)",
        description="Starts a run of a commit with a dataset. Settings come from config_defaults of the configuration "
        "and from --config on top.",
    )
    add_entry_options(leaf)
    leaf.add_argument("--dataset", metavar="REF", help="NAME, NAME@production or NAME@REVISION")
    leaf.add_argument("--dataset-id", metavar="ID", help="the dataset by its artifact id")
    leaf.add_argument("--ref", metavar="REF", help="branch, tag or commit; @ is the branch checked out here")
    leaf.add_argument("--allow-dirty", action="store_true", help="with --local: run uncommitted changes as they are")
    add_python_option(leaf)
    leaf.add_argument("--config", metavar="JSON", help="launch settings over config_defaults")
    _add_comparison(leaf)
    leaf.add_argument("--idempotency-key", metavar="KEY", help="repeat a launch whose outcome is unknown")
    leaf.add_argument("--app-base-url", metavar="URL", help="where the printed link points")
    leaf.add_argument("--dry-run", action="store_true", help="print the exact request, and send nothing")
    leaf.add_argument(
        "--no-check", action="store_true", help="do not ask first whether dataset, models and variables exist"
    )
    leaf.add_argument("--watch", action="store_true", help="watch the run; locally it runs in the foreground")
    leaf.add_argument("--poll-interval", type=seconds, metavar="SECONDS", help="with --watch (15; 0.5 locally)")
    leaf.add_argument("--name", help=argparse.SUPPRESS)
    add_agent_option(leaf)


def _add_comparison(leaf: argparse.ArgumentParser) -> None:
    """Models to compare, and what only a Spec's launch says of them."""
    splits = ("TRAIN", "TEST")
    leaf.add_argument(
        "--optimization-model",
        action="append",
        metavar="PROVIDER:MODEL",
        help="elsewhere than here: a model to compare, up to 8 (repeatable)",
    )
    leaf.add_argument("--benchmark-split", choices=splits, help="of a Spec: what benchmarks the models (TEST)")
    leaf.add_argument(
        "--benchmark-max-cases", type=positive(1000), metavar="N", help="of a Spec: cases of that benchmark (30)"
    )
    leaf.add_argument(
        "--final-eval-split", action="append", choices=splits, help="of a Spec: a split scored at the end (repeatable)"
    )
    leaf.add_argument("--test-all-candidates", action="store_true", help="of a Spec: score every candidate on TEST")


def trigger(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when the run was started; with --watch, that of `run status`."""
    from beaker.cli.place import answered, look_around, opened
    from beaker.cli.project_python import settle_workers_python
    from beaker.core.needless import needless_to_a_launch
    from beaker.core.problems import Refused
    from beaker.core.responses import stated_problem
    from beaker.core.selection import select
    from beaker.core.wording import unsaid

    around = look_around(arguments, io)
    if around.problems:
        raise Refused(around.problems)
    if around.config is not None:
        for warning in around.config.warnings:
            io.warn(warning)
    entry = answered(select(around.config, arguments.integration_id, arguments.spec_id))
    with opened(arguments, io, around=around, foreground=arguments.watch) as place:
        said, python = arguments.app_base_url is not None, arguments.python is not None
        if (problem := needless_to_a_launch(local=place.local, app_base_url=said, python=python)) is not None:
            raise Refused(problem)
        request, ahead = _request(arguments, io, place, around, entry)
        if place.embedded is not None:
            settle_workers_python(arguments, io, around.project, place.embedded.workers)
        if arguments.dry_run:
            return show_request(request, ahead, io)
        io.note(f"preview: {ahead.text()}")
        run = _launch(arguments, io, place, request)
        told = () if around.config is None else around.config.warnings
        for warning in unsaid(map(stated_problem, listed(run.get("warnings"))), told):
            io.warn(warning)
        if not arguments.watch:
            return show_launched(arguments, io, place, request, run)
        return _watch(arguments, io, place, run)


def _request(
    arguments: argparse.Namespace,
    io: Io,
    place: "Place",
    around: "Surroundings",
    entry: "IntegrationEntry | None",
) -> "tuple[LaunchRequest, Preview]":
    """The launch and what it may take, or `Refused` with everything that can be told; only questions have been sent."""
    from returns.pipeline import is_successful

    from beaker.cli.place import answered
    from beaker.cli.preflight import look_ahead
    from beaker.core.launch import choose_ref, plan_launch
    from beaker.core.launch_options import LaunchOptions, refused_here
    from beaker.core.launching import Launched, agent_repository, launch_request
    from beaker.core.problems import Refused

    options = LaunchOptions(
        models=tuple(arguments.optimization_model or ()),
        benchmark_split=arguments.benchmark_split,
        benchmark_max_cases=arguments.benchmark_max_cases,
        final_eval_splits=tuple(arguments.final_eval_split or ()),
        test_all_candidates=arguments.test_all_candidates,
    )
    if place.local and (refused := refused_here(options)):
        raise Refused(refused)
    planned = plan_launch(
        around.config,
        entry,
        given_config(arguments.config),
        reference=arguments.dataset,
        artifact_id=arguments.dataset_id,
        options=options,
    )
    if not is_successful(planned):
        raise Refused(_in_file(planned.failure(), arguments, around, entry))
    plan = planned.unwrap()
    branch, dirty = _checkout(around)
    choosing = {"local": place.local, "branch": branch, "allow_dirty": arguments.allow_dirty}
    if place.local or arguments.ref != "@":
        answered(choose_ref(arguments.ref, **choosing))  # refused before anything is asked
    agent = place.call("get_current_agent")
    repository = answered(agent_repository(agent, place.agent_key))
    pushed = _pushed(around, repository) if arguments.ref == "@" and not place.local else None
    ref = answered(choose_ref(arguments.ref, **choosing, pushed=pushed))
    ahead = look_ahead(io, place, plan, entry, agent, check=not arguments.no_check)
    if not place.local and around.project is not None and around.project.git_root is not None:
        _tell_left_out(io, around.project.git_root, branch, dirty, ref=ref)
    launched = Launched(entry=entry, spec_id=arguments.spec_id, ref=ref, allow_dirty=arguments.allow_dirty)
    return launch_request(plan, launched, agent_key=place.agent_key, repository=repository), ahead


def _in_file(
    problems: "Problems", arguments: argparse.Namespace, around: "Surroundings", entry: "IntegrationEntry | None"
) -> "Problems":
    """Problems of settings, at the line of the configuration where they are written, if they are."""
    from beaker.core.launch_places import place_settings
    from beaker.files.project import settings_file

    source = None if around.project is None else settings_file(around.project, entry)
    return problems if source is None else place_settings(problems, source, given=given_config(arguments.config))


def given_config(text: str | None) -> "Answer":
    """The object that `--config` gives, empty without it; `Refused` unless it is a JSON object."""
    from beaker.cli.place import answered
    from beaker.core.launching import given_settings

    return answered(given_settings(text))


def _checkout(around: "Surroundings") -> tuple[str | None, tuple[str, ...]]:
    """The branch checked out here and its uncommitted files; nothing of either outside Git."""
    from beaker.files.git import current_branch, dirty_files

    root = around.project.git_root if around.project is not None else None
    if root is None:
        return None, ()
    return current_branch(root).value_or(None), dirty_files(root).value_or(())


def _pushed(around: "Surroundings", repository: str) -> bool | None:
    """Whether the agent's repository has the checkout as it stands on its branch; `None` when nobody can tell."""
    from beaker.core.push_state import pushed_as_it_stands
    from beaker.files.git_push import git_facts

    root = around.project.git_root if around.project is not None else None
    if root is None:
        return None
    return pushed_as_it_stands(git_facts(root, source_dir=".", files=(), repository=repository))


def _tell_left_out(io: Io, root: "Path", branch: str | None, dirty: tuple[str, ...], *, ref: str | None) -> None:
    from beaker.core.launch import left_out
    from beaker.files.git_push import default_branch, unpushed_commits

    standard = default_branch(root) if ref is None else None
    unpushed = unpushed_commits(root) if ref in (None, branch) else 0
    line = left_out(branch=branch, default_branch=standard, dirty=dirty, unpushed=unpushed)
    if line is not None:
        io.note(line)


def _launch(arguments: argparse.Namespace, io: Io, place: "Place", request: "LaunchRequest") -> "Answer":
    import uuid

    from returns.pipeline import is_successful

    from beaker.core.api import stated_problems
    from beaker.core.launch_refusals import (
        explained_refusal,
        key_text,
        launch_outcome_unknown,
        unknown_outcome,
        with_key,
    )
    from beaker.core.problems import Refused

    key = arguments.idempotency_key or str(uuid.uuid4())
    body: dict[str, Any] = request.body()
    try:
        launched = place.api.call("create_optimization_run", idempotency_key=key, **body)
    except KeyboardInterrupt:
        io.tell(f"whether a run was started is unknown; {key_text(key)}")
        raise
    if is_successful(launched):
        return launched.unwrap()
    if launch_outcome_unknown(launched.failure()):
        raise Refused(unknown_outcome(launched.failure(), key))
    problems = stated_problems(explained_refusal(launched.failure()))
    if io.json:
        raise Refused(with_key(problems, key))
    io.tell(key_text(key))
    raise Refused(problems)


def _watch(arguments: argparse.Namespace, io: Io, place: "Place", run: "Answer") -> int:
    from beaker.cli.runs import fetch, pause, tell_goes_on
    from beaker.cli.watch import tell_next, watch_run
    from beaker.core.runs import watch_interval

    run_id = str(run["id"])
    interval = watch_interval(arguments.poll_interval, near=place.near)
    worker = None

    def paused() -> bool:
        # An interrupt reaches the worker of this command too, so a run that has one does not go on without it.
        own = place.embedded is not None and place.embedded.workers.process(run_id) is not None
        return not own and pause(arguments, io, run_id)

    try:
        code = watch_run(
            lambda: fetch(place, run_id, watching=True), io, run_id, interval=interval, timeout=0, pause=paused
        )
        tell_next(io, run_id, code, agent_words(arguments))
        return code
    except KeyboardInterrupt:
        worker = place.embedded.workers.process(run_id) if place.embedded is not None else None
        if worker is None:
            tell_goes_on(arguments, io, run_id)
        elif place.embedded is not None:
            place.embedded.workers.let_go(run_id)
        raise
    finally:
        if place.embedded is not None:
            _end_worker(place.embedded.workers.process(run_id))
        if worker is not None:
            _tell_stopped(io, place, run_id)


def _tell_stopped(io: Io, place: "Place", run_id: str) -> None:
    """The worker of this command was interrupted with it: say what became of the run."""
    from beaker.core.runs import has_ended

    status = place.api.once("get_optimization_run", run_id=run_id).value_or({}).get("status")
    if has_ended(status):
        io.tell(f"{one_line(run_id)}: ", styled_status(status))
        return
    watch, end = io.command("run", "status", run_id, "--watch"), io.command("run", "cancel", run_id)
    io.tell(f"{one_line(run_id)} is stopped, not ended; the next command on this machine goes on with it: {watch}")
    io.tell(f"to end it for good: {end}")


def _end_worker(worker: "subprocess.Popen[bytes] | None") -> None:
    """Let the worker of this command end; one that does not end by itself is asked, then made to."""
    import subprocess

    if worker is None:
        return
    for end, patience in ((worker.terminate, WORKER_END), (worker.kill, WORKER_TEARDOWN)):
        try:
            worker.wait(patience)
            return
        except subprocess.TimeoutExpired:
            end()
    worker.wait()
