"""The law that no candidate brings in a secret."""

import asyncio

import pytest

from beaker.core.environment import redactor
from beaker.core.repository_tree import RepositoryEdits, RepositoryFile
from beaker.engine.candidates import CandidateTree
from beaker.engine.evidence import Evidence
from beaker.engine.proposal import Proposal, ProposalRequest
from beaker.engine.proposers.secretless import SecretlessProposer

SECRET = "sesame-8841"
PARENT = CandidateTree(
    {"book": {"a.txt": "a\n", "known.txt": f"{SECRET}\n"}}, {"src/old.py": RepositoryFile("100644", b"")}
)


class Fixed:
    """A proposer that always makes the same child."""

    def __init__(self, tree: CandidateTree | None) -> None:
        self.tree = tree

    async def propose(self, request: ProposalRequest) -> Proposal:
        return Proposal("no_change") if self.tree is None else Proposal("child", tree=self.tree, changed=("x",))


def propose(documents: dict[str, str] | None = None, edits: RepositoryEdits | None = None) -> Proposal:
    tree = CandidateTree(
        {"book": {**PARENT.documents["book"], **(documents or {})}}, {**PARENT.repository, **(edits or {})}
    )
    commit = {"src/has.py": RepositoryFile("100644", f"key = '{SECRET}'\n".encode())}
    proposer = SecretlessProposer(Fixed(tree), redactor([SECRET]), lambda _, path: commit.get(path))
    return asyncio.run(proposer.propose(ProposalRequest(1, 7, PARENT, Evidence({}, ()))))


def code(text: str) -> RepositoryFile:
    return RepositoryFile("100644", text.encode())


@pytest.mark.parametrize(
    ("documents", "edits", "path"),
    [
        ({"a.txt": f"use {SECRET}"}, {}, "book/a.txt"),
        ({"new.txt": SECRET}, {}, "book/new.txt"),
        ({"known.txt": f"{SECRET} {SECRET}"}, {}, "book/known.txt"),
        ({}, {"src/new.py": code(f"k = {SECRET!r}")}, "src/new.py"),
        ({}, {"src/old.py": RepositoryFile("100644", b"\xff" + SECRET.encode())}, "src/old.py"),
        ({}, {"src/has.py": code(f"{SECRET}{SECRET}")}, "src/has.py"),
        ({}, {f"src/{SECRET}.py": code("")}, "src/[redacted].py"),
    ],
)
def test_propose__edit_that_brings_in_a_secret__is_no_candidate(
    documents: dict[str, str], edits: RepositoryEdits, path: str
) -> None:
    """The message names the file, and not the value; nothing of the tree stays."""
    made = propose(documents, edits)
    assert (made.outcome, made.tree, made.changed) == ("invalid_tree", None, ())
    assert made.message == f"{path}: holds the value of a variable that is kept secret"
    assert SECRET not in repr(made)


def test_propose__secrets_that_were_there__are_no_edit() -> None:
    """A file of the project that holds a granted value can still be edited, and everything else too."""
    edits = {"src/has.py": code(f"# new\nkey = '{SECRET}'\n"), "src/old.py": None, "src/new.py": code("[redacted]")}
    made = propose({"a.txt": "b\n", "known.txt": f"{SECRET}!"}, edits)
    assert (made.outcome, made.changed) == ("child", ("x",))


def test_propose__no_child__is_passed_on() -> None:
    """There is nothing to look at."""
    proposer = SecretlessProposer(Fixed(None), redactor([SECRET]), lambda *_: None)
    assert asyncio.run(proposer.propose(ProposalRequest(1, 7, PARENT, Evidence({}, ())))).outcome == "no_change"
