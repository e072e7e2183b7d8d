"""Laws of the proposer's working copy, on real files."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.documents import TargetDocument
from beaker.core.targets import DocumentTargets
from beaker.engine.candidates import CandidateTree, tree_from_files
from beaker.engine.evidence import Evidence, write_evidence
from beaker.engine.folders import remove_tree
from beaker.engine.judging import Misdeed, Scope
from beaker.engine.working_copy import LaidOut, lay_out, take_back

TARGETS = (DocumentTargets(("kb",)), DocumentTargets(("faq", "empty")))
SEEDS = (
    TargetDocument(source_id="1", group="kb", name="a.md", content="alpha\n"),
    TargetDocument(source_id="2", group="kb", name="deep/er/b.md", content="beta\r\n"),
    TargetDocument(source_id="3", group="faq", name="c~", content="", editable=False),
)
SCOPE = Scope(targets=TARGETS, seeds=SEEDS)
PARENT = tree_from_files(("kb", "faq", "empty"), {(one.group, one.name): one.content for one in SEEDS})


def no_repository(tree: CandidateTree, folder: Path) -> None:
    raise AssertionError("only documents are declared")


def nothing(_: Sequence[str]) -> set[str]:
    return set()


def back(root: Path, *, ignored: set[str] | None = None) -> CandidateTree | Misdeed:
    """What `take_back` makes of a working copy."""
    rules = (lambda paths: (ignored or set()) & set(paths)) if ignored else nothing
    taken = take_back(LaidOut(root, PARENT, {}), SCOPE, ignored=rules)
    return taken.unwrap() if is_successful(taken) else taken.failure()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    root = tmp_path / "copy"
    lay_out(root, PARENT, SCOPE, no_repository)
    write_evidence(root / "evidence", Evidence({"a": 1}, ({"id": "x"},)))
    return root


def test_take_back__untouched__is_the_parent(copy: Path) -> None:
    """Bytes, empty groups and names that look like droppings included."""
    assert back(copy) == PARENT
    assert sorted(path.name for path in (copy / "documents").iterdir()) == ["empty", "faq", "kb"]
    assert (copy / "documents/kb/deep/er/b.md").read_bytes() == b"beta\r\n"


def test_lay_out__documents_that_are_locked__have_mode_0444(copy: Path) -> None:
    """The others can be written."""
    assert (copy / "documents/faq/c~").stat().st_mode & 0o777 == 0o444
    assert (copy / "documents/kb/a.md").stat().st_mode & 0o200


def test_take_back__creates_updates_deletes__are_the_child(copy: Path) -> None:
    """All three at once, in folders that come and go."""
    kb = copy / "documents" / "kb"
    (kb / "a.md").unlink()
    (kb / "deep/er/b.md").write_text("gamma")
    (copy / "documents/empty/new").mkdir()
    (copy / "documents/empty/new/d.md").write_text("delta")
    child = back(copy)
    assert isinstance(child, CandidateTree)
    assert child.documents == {"kb": {"deep/er/b.md": "gamma"}, "faq": {"c~": ""}, "empty": {"new/d.md": "delta"}}


@pytest.mark.parametrize("name", ["__pycache__/m.cpython-311.pyc", ".DS_Store", "a.md~", ".a.md.swp", "x.pyc"])
def test_take_back__droppings_of_tools__are_removed_and_not_judged(copy: Path, name: str) -> None:
    """Inside the documents and beside them."""
    for folder in (copy, copy / "documents" / "kb"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\xff")
    assert back(copy) == PARENT
    assert not (copy / "documents" / "kb" / name).exists()


def test_take_back__what_the_project_ignores__counts_outside_the_documents_only(copy: Path) -> None:
    """The project's rules are about its repository; a document is a document whatever it is called."""
    (copy / "agent.log").touch()
    (copy / ".venv").symlink_to("/usr")
    (copy / "documents/kb/agent.log").write_text("a document")
    child = back(copy, ignored={"agent.log", ".venv", "documents/kb/agent.log"})
    assert isinstance(child, CandidateTree)
    assert child.documents["kb"]["agent.log"] == "a document"
    assert back(copy) == Misdeed("special_file", ".venv: a link or special file")


def test_take_back__several_misdeeds__names_the_gravest(copy: Path) -> None:
    """Links before strays, strays before what makes the tree invalid."""
    kb = copy / "documents" / "kb"
    (kb / "a.md").write_bytes(b"\xff")
    assert isinstance(bad := back(copy), Misdeed)
    assert bad.outcome == "invalid_tree"
    (copy / "stray").touch()
    assert back(copy) == Misdeed("outside_targets", "stray: outside the targets")
    (kb / "link").symlink_to("a.md")
    assert back(copy) == Misdeed("special_file", "documents/kb/link: a link or special file")


def test_take_back__evidence_edited__does_not_matter(copy: Path) -> None:
    """Not even when it is gone, or a link."""
    remove_tree(copy / "evidence")
    (copy / "evidence").symlink_to("/etc")
    assert back(copy) == PARENT


@pytest.mark.parametrize("folder", [".git", "sub/.GIT", "git~1", ".g\u200cit", ".beaker", ".Beaker."])
def test_take_back__folder_of_git_or_beaker__is_an_invalid_tree(copy: Path, folder: str) -> None:
    """A repository or a configuration inside a group is no document, whatever spelling a file system takes for it."""
    (copy / "documents/kb" / folder / "hooks").mkdir(parents=True)
    (copy / "documents/kb" / folder / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    bad = back(copy)
    assert isinstance(bad, Misdeed)
    assert bad.outcome == "invalid_tree"
    assert folder.rpartition("/")[2].encode("ascii", "backslashreplace").decode() in bad.message


def test_take_back__names_that_are_no_text__are_an_invalid_tree(copy: Path) -> None:
    """The message can be stored and printed."""
    with open(os.fsencode(copy / "documents" / "kb") + b"/\xff\n.md", "w"):
        pass
    bad = back(copy)
    assert isinstance(bad, Misdeed)
    assert bad.outcome == "invalid_tree"
    bad.message.encode()


def test_take_back__a_folder_that_cannot_be_read__is_an_invalid_tree(copy: Path) -> None:
    """Here: a path longer than the system takes."""
    before = os.getcwd()
    try:
        os.chdir(copy / "documents" / "kb")
        for _ in range(40):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
        with open("f", "w"):
            pass
    finally:
        os.chdir(before)
    bad = back(copy)
    assert isinstance(bad, Misdeed)
    assert bad.outcome == "invalid_tree"
    remove_tree(copy)
    assert not copy.exists()


def test_take_back__more_files_than_any_tree_may_have__are_an_invalid_tree(copy: Path) -> None:
    """The limits of a document tree hold."""
    for number in range(2_001):
        (copy / "documents/kb" / str(number)).touch()
    bad = back(copy)
    assert isinstance(bad, Misdeed)
    assert bad.outcome == "invalid_tree"


NAMES = st.sampled_from(["a.md", "deep/er/b.md", "new.md", "deep/c.md", "z/y/x"])


@given(edits=st.dictionaries(NAMES, st.none() | st.text(st.characters(codec="utf-8"), max_size=20)))
def test_take_back__any_edits__give_just_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, edits: dict[str, str | None]
) -> None:
    """The child's documents are the parent's with the edits, to the byte."""
    root = tmp_path_factory.mktemp("copies") / "copy"
    lay_out(root, PARENT, SCOPE, no_repository)
    expected = dict(PARENT.documents["kb"])
    for name, content in edits.items():
        path = root / "documents" / "kb" / name
        if content is None:
            path.unlink(missing_ok=True)
            expected.pop(name, None)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
            expected[name] = content
    child = back(root)
    assert isinstance(child, CandidateTree)
    assert child.documents["kb"] == expected
    remove_tree(root)


def test_remove_tree__read_only_or_missing__leaves_nothing(copy: Path) -> None:
    """Modes do not protect it, and nothing to remove is no error."""
    for folder, _, _ in os.walk(copy, topdown=False):
        os.chmod(folder, 0o555)
    remove_tree(copy)
    assert not copy.exists()
    remove_tree(copy)
