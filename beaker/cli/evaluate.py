"""`beaker run eval`: one candidate over one split on this machine, without a search and without a run."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_entry_options, add_leaf, add_python_option, positive
from beaker.cli.run_view import mapping, score
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line
from beaker.cli.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from beaker.cli.evaluation_request import EvaluationRequest
    from beaker.cli.place import Answer, Surroundings
    from beaker.engine.evaluation_run import EvaluationRun

PROGRESS_SECONDS = 2.0
"""Between two lines that say how far it is."""

SHOWN_IDS = 5
"""Case ids that a line about failures names."""


def add_eval(actions: Any) -> None:
    """Add `run eval`."""
    leaf = add_leaf(
        actions,
        "eval",
        help="run and score every case of a split, without a search",
        description="Evaluates the baseline, or a candidate of a run, over one split, on this machine: the objective "
        "with its interval, fields, checks, failures, times and tokens. The code is the checkout as it stands (tracked "
        "files and the configuration), with --candidate the commit of its run. Exit code 1 when no case was scored.",
    )
    leaf.add_argument("--split", choices=("train", "test"), default="train", help="which cases (train)")
    leaf.add_argument(
        "--candidate", metavar="ID", help="a candidate instead of the baseline: RUN.N, or RUN for the winner"
    )
    add_entry_options(leaf)
    leaf.add_argument(
        "--dataset",
        metavar="DATASET",
        help="a folder, NAME or NAME@REVISION (default: the candidate's, the configured)",
    )
    add_python_option(leaf)
    leaf.add_argument("--config", metavar="JSON", help="launch settings over config_defaults")
    leaf.add_argument("--limit", type=positive(None), metavar="N", help="the first N cases only")
    leaf.add_argument("--html", metavar="FILE", help="also write one HTML page about it")
    add_agent_option(leaf)


def evaluate(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when at least one case was scored, 1 when none was, 2 when it could not be tried."""
    import uuid

    from beaker.cli.evaluation_request import gather_request
    from beaker.cli.outputs import output_file, writing
    from beaker.cli.place import look_around
    from beaker.cli.signals import run_async
    from beaker.core.problems import Refused
    from beaker.runtime.folders import temporary_folder

    around = look_around(arguments, io)
    if around.problems:
        raise Refused(around.problems)
    page = None if arguments.html is None else output_file(io, arguments.html)
    with temporary_folder("beaker-eval-") as work:
        request = gather_request(arguments, io, around, work=work, run_id=f"eval-{uuid.uuid4()}")
        split: str = arguments.split
        subject = request.candidate_id or "baseline"
        io.note(f"evaluating {one_line(subject)} of {one_line(request.entry.id)} on {split.upper()}")
        found = run_async(_run(arguments, io, around, request))
    answer = evaluation_json(arguments, request, found)
    # The result first: it took minutes, and a page that cannot be written must not take it along.
    if io.json:
        io.json_line(answer)
    else:
        _show(answer, io)
    for problem in found.teardown:
        io.warn(problem)
    if page is not None:
        with writing("the page", arguments.html):
            _write_page(page, answer)
        if not io.json:
            io.out(f"  page       {one_line(str(page))}")
    return DONE if answer["report"]["scored"] else NEGATIVE


async def _run(
    arguments: argparse.Namespace, io: Io, around: "Surroundings", request: "EvaluationRequest"
) -> "EvaluationRun":
    from beaker.cli.progress import counting
    from beaker.cli.project_python import use_python
    from beaker.core.problems import Refused
    from beaker.engine.evaluation_run import evaluate_split
    from beaker.runtime.supervisor import Supervisor
    from beaker.runtime.workers import WorkerFailed

    plan = request.plan
    said_at = io.now()
    drawn = counting(io, "evaluated", lambda done, total: f"{done} of {counted(total, 'case')}")

    def told(done: int, total: int) -> None:
        nonlocal said_at
        if io.line is not None:
            drawn(done, total)
        if done == total or (io.line is None and io.now() - said_at >= PROGRESS_SECONDS):
            said_at = io.now()
            io.note(f"  {done} of {counted(total, 'case')}")

    async with Supervisor(pycache=plan.work / "pycache", redact=plan.redact, warned=io.warn) as supervisor:
        supervisor.become_subreaper()
        if around.project is not None:
            root, repository = around.project.root, around.project.git_root
            env = plan.setup_env
            await use_python(supervisor, arguments, io, project=root, repository=repository, env=env)
        try:
            return await evaluate_split(
                plan,
                supervisor,
                split=arguments.split,
                tree=request.candidate,
                limit=arguments.limit,
                told=told,
                remark=io.note,
            )
        except WorkerFailed as failed:
            if failed.captured:
                io.note(f"the process printed:\n{failed.captured}")
            raise Refused(failed.problems) from None


def evaluation_json(arguments: argparse.Namespace, request: "EvaluationRequest", found: "EvaluationRun") -> "Answer":
    """What `--json` prints; `docs/schemas/cli-eval.json` describes it."""
    from beaker.core.convert import to_json
    from beaker.core.scoring import aggregate
    from beaker.core.summaries import summarize
    from beaker.core.usage import report_usage

    report = aggregate(found.evaluations)
    optimizer = request.plan.settings.optimizer
    summary = summarize(report.cases, seed=optimizer.seed)
    usage = report_usage((evaluation.trace for evaluation in found.evaluations), optimizer.prices)
    return {
        "integration_id": request.entry.id,
        "candidate_id": request.candidate_id,
        "split": arguments.split,
        "commit": request.commit,
        "dataset": request.dataset,
        "split_cases": found.split_cases,
        "retried": found.retried,
        "report": {**to_json(report), "usage": usage},
        **to_json(summary),
    }


def _write_page(path: "Path", answer: "Answer") -> None:
    from beaker.core.report import evaluation_page
    from beaker.files.atomic import write_text

    write_text(path, evaluation_page(answer))


def _show(answer: "Answer", io: Io) -> None:
    from beaker.core.certainty import stated_doubt

    report, interval = answer["report"], mapping(answer["interval"])
    cases = counted(report["cases_total"], "case")
    left = answer["split_cases"] - report["cases_total"]
    what = answer["candidate_id"] or "baseline"
    io.out(Styled(f"beaker run eval: {one_line(what)} on {answer['split'].upper()}, {cases}", "heading"))
    if left:
        io.out(f"  left out   {counted(left, 'case')} of the split (--limit)")
    bounds = f", 95 % interval {score(interval.get('low'))} to {score(interval.get('high'))}"
    io.out(f"  objective  {score(report['objective'])}{bounds}")
    if doubts := stated_doubt(report["cases_total"], interval.get("low"), interval.get("high"), thing="case"):
        io.out(f"  doubtful   {doubts}")
    if report["failed"]:
        scored = score(report["objective_scored"])
        io.out(f"  scored     {report['scored']}, failed {report['failed']}; {scored} over the scored ones")
    retried = f", {counted(answer['retried'], 'further attempt')}" if answer["retried"] else ""
    latency = report["latency_ms"]
    io.out(f"  time       median {_ms(latency['p50'])}, 95th percentile {_ms(latency['p95'])}{retried}")
    for line in _usage_lines(report["usage"]):
        io.out(line)
    _show_scores(answer, io)


def _usage_lines(usage: "Answer") -> "Iterator[str]":
    if usage["input_tokens"] is not None:
        from beaker.core.report.reading import money

        yield f"  tokens     {usage['input_tokens']:,} in, {usage['output_tokens']:,} out, {money(usage['cost_usd'])}"


def _show_scores(answer: "Answer", io: Io) -> None:
    """Fields, checks, failures and the slowest cases, each under its heading."""
    fields = answer["report"]["field_scores"]
    if fields:
        io.out(Styled("  fields", "key"))
        for name, field in fields.items():
            io.out(f"    {score(field['mean'])}  {one_line(name)}", "" if field["n"] else " (none)")
    if answer["checks"]:
        io.out(Styled("  checks", "key"))
        for check in answer["checks"]:
            named = " / ".join(filter(None, (check["group"], check["name"])))
            aside = ", informational" if check["informational"] else ""
            told = f"{check['failed']} of {check['n']} below 1{aside}"
            io.out(f"    {score(check['mean'])}  {one_line(named)} ({told})")
    if answer["failures"]:
        io.out(Styled("  failures", "key"))
        for group in answer["failures"]:
            ids = [one_line(case_id) for case_id in group["case_ids"][:SHOWN_IDS]]
            more = [f"and {group['count'] - len(ids)} more"] if group["count"] > len(ids) else []
            said = f"{group['kind']}: {group['message']}" if group["message"] else group["kind"]
            io.out(f"    {group['count']} x ", Styled(one_line(said), "error"), f" ({', '.join([*ids, *more])})")
    if answer["slowest"]:
        slow = ", ".join(f"{one_line(one['id'])} {_ms(one['duration_ms'])}" for one in answer["slowest"])
        io.out(f"  slowest    {slow}")


def _ms(milliseconds: object) -> str:
    from beaker.core.report.reading import duration

    return duration(milliseconds)
