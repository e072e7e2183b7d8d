"""`beaker candidate branch`: a candidate's repository changes as a commit on a new branch, beside the checkout."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from beaker.cli.candidate_names import add_candidate_name, candidate_id
from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.run_view import doubts_of, mapping, score, signed
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.words import counted, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.cli.place import Place


def add_branch(actions: Any) -> None:
    """Add `candidate branch`."""
    leaf = add_leaf(
        actions,
        "branch",
        help="commit a candidate's repository changes to a new branch",
        description="Makes a branch with one commit on top of the commit that the run started from. Your checkout, its "
        "index and its branches stay as they are, and nothing is pushed.",
    )
    add_candidate_name(leaf)
    leaf.add_argument("--name", required=True, metavar="BRANCH", help="the new branch; it must not exist")
    add_agent_option(leaf)


def branch(arguments: argparse.Namespace, io: Io) -> int:
    """Make the branch; nothing of the repository changes when that is refused."""
    from beaker.cli.place import answered, opened
    from beaker.core.candidate_names import run_of
    from beaker.files.git_commits import commit_patch, create_branch

    root = _repository(io)
    with opened(arguments, io) as place:
        chosen = candidate_id(place, arguments.candidate, arguments.beside)
        run_id = run_of(arguments.candidate)
        run = place.call("get_optimization_run", run_id=run_id)
        patch, documents = _changes(place, chosen, io)
    left_out = document_lines(chosen, documents, io)
    pinned = _pinned(root, run)
    commit = answered(commit_patch(root, pinned, patch, commit_message(chosen, run, left_out)))
    answered(create_branch(root, arguments.name, commit))
    if io.json:
        told = {"run_id": run_id, "candidate_id": chosen, "branch": arguments.name}
        io.json_line({**told, "commit": commit, "parent": pinned, "documents_left_out": sum(documents.values())})
        return DONE
    name = one_line(arguments.name)
    io.out(Styled("beaker candidate branch:", "ok"), f" {name} holds {one_line(chosen)} as {commit[:12]}")
    io.out(f"  on top of  {pinned}, the commit that the run started from")
    for line in left_out:
        io.out(f"  {line}" if line.startswith("  ") else f"  documents  {line}")
    io.note()
    io.note(Styled("Next:", "heading"))
    io.note(f"  1. look at it: git show {quoted(arguments.name)}")
    return DONE


def document_lines(candidate: str, documents: Mapping[str, int], io: Io) -> list[str]:
    """That a commit lacks the document changes of its candidate, and the commands that apply them; nothing when it has
    none. `documents` counts the changes in each change set, by file name."""
    if not documents:
        return []
    program = " ".join(filter(None, ("beaker", io.options)))
    applied = [f"  {program} changes apply {quoted(f'{candidate}/changes/{file}')} --dir DIR" for file in documents]
    changes = counted(sum(documents.values()), "document change")
    return [
        f"{changes} of this candidate {'is' if sum(documents.values()) == 1 else 'are'} not in this commit; apply with",
        f"  {program} candidate download {quoted(candidate)}",
        *applied,
    ]


def commit_message(candidate_id: str, run: Mapping[str, Any], left_out: Sequence[str] = ()) -> str:
    """What the commit says: the candidate, what it was proven to be worth, if it was, and what is `left_out` of it."""
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
    if left_out:
        scored = ["The TEST score is of both together."] if test.get("difference") is not None else []
        lines += ["", *left_out, *scored]
    return "\n".join(lines) + "\n"


def _repository(io: Io) -> "Path":
    from beaker.core.problems import Problem, Refused
    from beaker.files.project import find_git_root

    root = find_git_root(io.cwd.resolve())
    if root is None:
        hint = "run the command in the checkout that the run was launched from"
        raise Refused(Problem("BK711", "this folder is not in a Git repository", str(io.cwd), hint))
    return root


def _changes(place: "Place", candidate: str, io: "Io") -> tuple[bytes, dict[str, int]]:
    """The patch of a candidate, and how many document changes it has beside it, by document target."""
    import json
    import tempfile
    from pathlib import Path

    from beaker.cli.place import answered
    from beaker.cli.transfers import telling
    from beaker.client.flows import download_candidate
    from beaker.core.problems import Problem, Refused

    with tempfile.TemporaryDirectory(prefix="beaker-candidate-") as temporary:
        folder = Path(temporary)
        answered(
            download_candidate(
                place.api, candidate, folder, wanted=_is_change, progress=telling(io, "fetched", at_the_end=False)
            )
        )
        patch = folder / "patch.diff"
        if not patch.is_file():
            hint = "its documents are in the change sets that `beaker candidate download` fetches"
            message = f"the candidate {candidate} changes nothing in the repository"
            raise Refused(Problem("BK909", message, hint=hint))
        counts = {}
        for change_set in sorted((folder / "changes").glob("*.json")):
            if count := len(json.loads(change_set.read_bytes()).get("changes") or ()):
                counts[change_set.name] = count
        return patch.read_bytes(), counts


def _is_change(path: str) -> bool:
    return path == "patch.diff" or path.startswith("changes/")


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
