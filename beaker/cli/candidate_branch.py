"""`beaker candidate branch`: a candidate's repository changes as a commit on a new branch, beside the checkout."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.run_view import doubts_of, mapping, score, signed
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.words import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.cli.place import Answer, Place


def add_branch(actions: Any) -> None:
    """Add `candidate branch`."""
    leaf = add_leaf(
        actions,
        "branch",
        help="commit a candidate's repository changes to a new branch",
        description="Makes a branch with one commit on top of the commit that the run started from. Your checkout, its "
        "index and its branches stay as they are, and nothing is pushed.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--name", required=True, metavar="BRANCH", help="the new branch; it must not exist")
    leaf.add_argument("--candidate", metavar="ID", help="the candidate, by id or number (default: the winner)")
    add_agent_option(leaf)


def branch(arguments: argparse.Namespace, io: Io) -> int:
    """Make the branch; nothing of the repository changes when that is refused."""
    from beaker.cli.place import answered, opened
    from beaker.files.git_commits import commit_patch, create_branch

    root = _repository(io)
    with opened(arguments, io) as place:
        run = place.call("get_optimization_run", run_id=arguments.run_id)
        chosen = _chosen(arguments, place)
        patch = _patch(place, chosen)
    pinned = _pinned(root, run)
    commit = answered(commit_patch(root, pinned, patch, commit_message(chosen, run)))
    answered(create_branch(root, arguments.name, commit))
    if io.json:
        told = {"run_id": arguments.run_id, "candidate_id": chosen, "branch": arguments.name}
        io.json_line({**told, "commit": commit, "parent": pinned})
        return DONE
    name = one_line(arguments.name)
    io.out(Styled("beaker candidate branch:", "ok"), f" {name} holds {one_line(chosen)} as {commit[:12]}")
    io.out(f"  on top of  {pinned}, the commit that the run started from")
    io.note()
    io.note(Styled("Next:", "heading"))
    io.note(f"  1. look at it: git show {quoted(arguments.name)}")
    return DONE


def commit_message(candidate_id: str, run: Mapping[str, Any]) -> str:
    """What the commit says: the candidate, and what it was proven to be worth, if it was."""
    result = mapping(run.get("result"))
    test = mapping(result.get("test"))
    lines = [f"Beaker candidate {one_line(candidate_id)}", ""]
    if test.get("difference") is not None and result.get("winner_id") == candidate_id:
        interval = f"95 % interval {signed(test.get('low'))} to {signed(test.get('high'))}"
        lines += [
            f"TEST {score(test.get('baseline'))} -> {score(test.get('winner'))} "
            f"({signed(test['difference'])}, {interval}, n {test.get('n')})"
        ]
        if doubts := doubts_of(test, of=result):
            lines += [f"Doubtful: {doubts}."]
    else:
        lines += ["Not proven on TEST."]
    source = mapping(run.get("github_source"))
    lines += [f"From run {one_line(str(run.get('id')))}, integration {one_line(str(source.get('integration_id')))}."]
    return "\n".join(lines) + "\n"


def _repository(io: Io) -> "Path":
    from beaker.core.problems import Problem, Refused
    from beaker.files.project import find_git_root

    root = find_git_root(io.cwd.resolve())
    if root is None:
        hint = "run the command in the checkout that the run was launched from"
        raise Refused(Problem("BK711", "this folder is not in a Git repository", str(io.cwd), hint))
    return root


def _chosen(arguments: argparse.Namespace, place: "Place") -> str:
    """The candidate that is meant: the named one, else the winner."""
    from beaker.core.problems import Problem, Refused

    given: str | None = arguments.candidate
    if given is not None:
        return f"{arguments.run_id}.{given}" if given.isascii() and given.isdecimal() else given
    listed: Answer = place.call("list_candidates", run_id=arguments.run_id)
    winner = listed.get("winner_id")
    if not isinstance(winner, str):
        hint = f"choose one with --candidate; `beaker run candidates {arguments.run_id}` lists them"
        raise Refused(Problem("BK908", f"the run {arguments.run_id} has no winner", hint=hint))
    return winner


def _patch(place: "Place", candidate_id: str) -> bytes:
    import tempfile
    from pathlib import Path

    from beaker.cli.place import answered
    from beaker.client.flows import download_candidate
    from beaker.core.problems import Problem, Refused

    with tempfile.TemporaryDirectory(prefix="beaker-candidate-") as temporary:
        folder = Path(temporary)
        answered(download_candidate(place.api, candidate_id, folder, wanted="patch.diff".__eq__))
        patch = folder / "patch.diff"
        if not patch.is_file():
            hint = "its documents are in the change sets that `beaker candidate download` fetches"
            message = f"the candidate {candidate_id} changes nothing in the repository"
            raise Refused(Problem("BK909", message, hint=hint))
        return patch.read_bytes()


def _pinned(root: "Path", run: Mapping[str, Any]) -> str:
    """The commit that the run started from, which this repository must have."""
    from returns.pipeline import is_successful

    from beaker.core.problems import Problem, Refused
    from beaker.files.git import resolve_ref

    source = mapping(run.get("github_source"))
    commit = str(source.get("commit") or "")
    found = resolve_ref(root, commit)
    if not is_successful(found):
        if found.failure().code != "BK712":
            raise Refused(found.failure())
        hint = "fetch it, or run the command in the checkout that the run was launched from"
        message = f"this repository does not have the commit {commit or '-'} that the run started from"
        raise Refused(Problem("BK712", message, str(root), hint))
    return found.unwrap()
