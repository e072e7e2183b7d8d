"""The command `beaker demo`: makes the example project and drives it through the ordinary commands."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.run_view import mapping, score, signed
from beaker.cli.shell import DONE, HUNG_UP, INTERRUPTED, NEGATIVE, TERMINATED, Io, Styled
from beaker.cli.words import counted, quoted

if TYPE_CHECKING:
    from beaker.cli.place import Answer

DATASET = "invoices"
CHANGES = "changes/playbooks.json"


def add_parser(subparsers: Any) -> None:
    """Add `beaker demo`."""
    leaf = add_leaf(
        subparsers,
        "demo",
        help=HELP["demo"],
        description="Creates a Git repository with an invoice reader, a dataset and a proposer script, optimizes the "
        "reader's rules with the ordinary commands, and shows what was gained on held-out invoices. Exits with 0 "
        "only when the winner is not worse there.",
    )
    leaf.add_argument("--dir", metavar="DIR", help="an empty or new folder for it (default: a new temporary one)")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when the winner is not worse on TEST, 1 when it is or the run did not complete, 2 on trouble."""
    directory = _directory(arguments.dir, io)
    # Under JSON standard output belongs to the one line at the end; the commands' own output is progress.
    steps = _Steps(io, directory)
    code = _make(directory, io)
    if code:
        if arguments.dir is None:
            directory.rmdir()
        return code
    steps.say(f"The demo project is {directory}")
    code = steps.run("run", "smoke")
    code = code or steps.run("--local", "dataset", "upload", "dataset", "--name", DATASET)
    if code:
        return _stopped(code, steps, io)
    code = steps.run("--local", "run", "trigger", "--dataset", DATASET, "--watch")
    run_id = steps.latest_run()
    if run_id is None or code not in (DONE, NEGATIVE):
        return _stopped(code, steps, io)
    if pulled := steps.run("--local", "run", "pull", run_id, "--output-dir", "results"):
        return _stopped(pulled, steps, io)
    folder = directory / "results" / run_id
    if code == DONE:
        changes = str((folder / CHANGES).relative_to(directory))
        code = steps.run("changes", "show", changes, "--dir", ".")
        code = code or steps.run("changes", "apply", changes, "--dir", ".", "--dry-run")
        if code:
            return _stopped(code, steps, io)
    summary = summarize(_read(folder / "run.json"), _read(folder / "candidates.json"), folder, directory)
    if io.json:
        io.json_line(summary)
    else:
        _show(summary, folder, io)
    difference = summary["difference"]["test"]
    return DONE if code == DONE and difference is not None and difference >= 0 else NEGATIVE


def _stopped(code: int, steps: "_Steps", io: Io) -> int:
    """Say at which step it stopped; what that said about it stands above. An interrupt needs no words."""
    from beaker.core.problems import Problem

    if code in (INTERRUPTED, TERMINATED, HUNG_UP):
        return code
    hint = f"the project is left as it is: {steps.io.cwd}"
    return io.fail(Problem("BK723", f"the demo stopped at `beaker {steps.last}`, which ended with {code}", hint=hint))


def summarize(run: "Answer", candidates: "Answer", folder: Path, directory: Path) -> "Answer":
    """The demo's answer from the files that `run pull` wrote; numbers that a run lacks are `None`."""
    result = mapping(run.get("result"))
    test = mapping(result.get("test"))
    listed = {candidate["id"]: mapping(candidate.get("scores")) for candidate in candidates["candidates"]}

    def train(candidate_id: Any) -> Any:
        return mapping(listed.get(candidate_id, {}).get("train")).get("objective")

    change_set = folder / CHANGES
    return {
        "run_id": run["id"],
        "status": run["status"],
        "baseline": {"train": train(result.get("baseline_id")), "test": test.get("baseline")},
        "winner": {
            "candidate_id": result.get("winner_id"),
            "train": train(result.get("winner_id")),
            "test": test.get("winner"),
        },
        "difference": {"test": test.get("difference"), "low": test.get("low"), "high": test.get("high")},
        "rollouts": mapping(mapping(run.get("progress")).get("rollouts")).get("issued"),
        "changes": len(_read(change_set)["changes"]) if change_set.exists() else 0,
        "directory": str(directory),
    }


class _Steps:
    """Runs command lines in the project as a person would, and says which.

    With --quiet nothing of it is shown but problems.
    """

    def __init__(self, io: Io, directory: Path) -> None:
        import sys
        from io import StringIO

        from beaker.core.interpreters import PYTHON_VARIABLE

        environ = {name: text for name, text in io.environ.items() if not name.startswith("BEAKER_")}
        # The demo needs nothing but Beaker, whatever environment happens to be active.
        environ[PYTHON_VARIABLE] = sys.executable
        shown = StringIO() if io.quiet else io.stderr if io.json else io.stdout
        # What each command would say to do next is what the demo does next.
        self.io = io.derive(cwd=directory, environ=environ, stdout=shown, json=False, quiet=True)
        self.number = 0
        self.last = ""

    def say(self, *parts: str) -> None:
        self.io.out(*parts)

    def run(self, *argv: str) -> int:
        """The exit code of `beaker argv`, whose output goes where ours goes."""
        from beaker.cli.__main__ import run as run_command

        self.number += 1
        self.last = " ".join(map(quoted, argv))
        self.say()
        self.say(Styled(f"[{self.number}] beaker {self.last}", "heading"))
        return run_command(["--quiet", *argv], self.io)

    def latest_run(self) -> str | None:
        """The id of the newest run in the project, asked from the place that ran it."""
        import json
        from io import StringIO

        from beaker.cli.__main__ import run as run_command

        answer = StringIO()
        listing = ["--local", "--no-resume", "run", "list", "--limit", "1", "--json"]
        if run_command(listing, self.io.derive(stdout=answer)) != DONE:
            return None
        runs = json.loads(answer.getvalue())["runs"]
        return str(runs[0]["id"]) if runs else None


def _directory(given: str | None, io: Io) -> Path:
    import tempfile

    return (io.cwd / given).resolve() if given is not None else Path(tempfile.mkdtemp(prefix="beaker-demo-")).resolve()


def _make(directory: Path, io: Io) -> int:
    from returns.pipeline import is_successful

    from beaker.cli.demo.project import create_project

    made = create_project(directory)
    return DONE if is_successful(made) else io.fail(made.failure())


def _read(path: Path) -> "Answer":
    import json

    answer: Answer = json.loads(path.read_text(encoding="utf-8"))
    return answer


def _show(summary: "Answer", folder: Path, io: Io) -> None:
    directory = Path(summary["directory"])
    baseline, winner, difference = summary["baseline"], summary["winner"], summary["difference"]
    changes = (folder / CHANGES).relative_to(directory)
    io.out()
    io.out(Styled(f"Run {summary['run_id']}: {summary['status']}", "heading"))
    io.out(f"  baseline    TRAIN {score(baseline['train'])}   TEST {score(baseline['test'])}")
    io.out(f"  winner      TRAIN {score(winner['train'])}   TEST {score(winner['test'])}   {winner['candidate_id']}")
    interval = f"95 % interval {signed(difference['low'])} to {signed(difference['high'])}"
    io.out(f"  difference  {signed(difference['test'])} on TEST, {interval}")
    io.out(f"  spent       {counted(summary['rollouts'], 'rollout')}")
    io.out(f"  changes     {counted(summary['changes'], 'document')} in {changes}")
    io.out(f"  report      {(folder / 'report.html').relative_to(directory)}")
    io.out(f"  project     {directory}")
    io.out(f"  run state   {directory / '.beaker' / 'local'}")
    io.out()
    io.out(Styled("Next:", "heading"))
    io.out(f"  cd {quoted(str(directory))}")
    apply = io.derive(options="").command("changes", "apply", str(changes), "--dir", ".")
    width = max(len(apply), len("git status"))
    io.out(f"  {apply:<{width}}    # take the winner's playbooks")
    io.out(f"  {'git status':<{width}}    # look at them")
