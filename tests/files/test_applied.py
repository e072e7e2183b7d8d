"""Laws of taking an applied change set back: contents return, foreign edits stay, nothing is left behind."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.changesets import Conflict, derive
from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChangeSet,
    TargetDocument,
    UpdateDocumentChange,
)
from beaker.files.applied import RECORDS
from beaker.files.change_journal import STAGING
from beaker.files.changes import apply_to_directory, revert_in_directory

SEEDS = {"a.md": "old a\r\n", "sub/b.md": "old b", "keep.md": "kept"}


def sha(content: str) -> str:
    return sha256(content.encode()).hexdigest()


CHANGES = DocumentChangeSet(
    "run",
    "0" * 64,
    "1" * 64,
    (
        UpdateDocumentChange(source_id="1", group="faq", name="a.md", content="new a", base_sha256=sha("old a\r\n")),
        DeleteDocumentChange(source_id="2", group="faq", name="sub/b.md", base_sha256=sha("old b")),
        CreateDocumentChange(group="faq", name="c.md", content="created"),
    ),
    groups=("faq",),
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name, content in SEEDS.items():
        (tmp_path / "faq" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "faq" / name).write_bytes(content.encode())
    return tmp_path


def documents(root: Path) -> dict[str, str]:
    folder = root / "faq"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in folder.rglob("*") if path.is_file()
    }


def apply(root: Path, change_set: DocumentChangeSet = CHANGES, **options: Any) -> Any:
    return apply_to_directory(root, change_set, remember=True, **options)


def test_revert__applied_set__restores_every_content_and_leaves_no_record(store: Path) -> None:
    """Updated, deleted and created documents are as before, and so is the folder."""
    apply(store).unwrap()
    assert documents(store) == {"a.md": "new a", "c.md": "created", "keep.md": "kept"}
    reverted = revert_in_directory(store, CHANGES).unwrap()
    assert [step.outcome for step in reverted.steps] == ["applies"] * 3
    assert documents(store) == SEEDS
    assert [path.name for path in store.iterdir()] == ["faq"]


def test_revert__then_apply_and_revert_again__goes_back_and_forth(store: Path) -> None:
    """A set that was taken back can be applied again, and taken back again."""
    for _ in range(2):
        apply(store).unwrap()
        revert_in_directory(store, CHANGES).unwrap()
    assert documents(store) == SEEDS


def test_revert__dry_run__writes_nothing(store: Path) -> None:
    """A dry run tells the steps and keeps both the documents and the record."""
    apply(store).unwrap()
    after = documents(store)
    assert len(revert_in_directory(store, CHANGES, dry_run=True).unwrap().steps) == 3
    assert documents(store) == after
    revert_in_directory(store, CHANGES).unwrap()
    assert documents(store) == SEEDS


def test_revert__foreign_edit__leaves_everything_and_can_be_repeated(store: Path) -> None:
    """A document that somebody changed since is a conflict: nothing is taken back until it is put right."""
    apply(store).unwrap()
    (store / "faq/c.md").write_text("mine now")
    refused = revert_in_directory(store, CHANGES)
    assert not is_successful(refused)
    assert [type(problem) for problem in refused.failure()] == [Conflict]
    assert documents(store) == {"a.md": "new a", "c.md": "mine now", "keep.md": "kept"}
    (store / "faq/c.md").write_text("created")
    revert_in_directory(store, CHANGES).unwrap()
    assert documents(store) == SEEDS


@pytest.mark.parametrize("prepare", ["nothing", "another", "reverted", "forgetful"])
def test_revert__not_applied_here__is_refused(store: Path, prepare: str) -> None:
    """Without a record of this very set there is no way back, whatever else was applied."""
    other = DocumentChangeSet("other", "0" * 64, "1" * 64, (CHANGES.changes[2],), groups=("faq",))
    if prepare == "another":
        apply(store, other).unwrap()
    elif prepare == "reverted":
        apply(store).unwrap()
        revert_in_directory(store, CHANGES).unwrap()
    elif prepare == "forgetful":
        apply_to_directory(store, CHANGES).unwrap()
    before = documents(store)
    assert [problem.code for problem in revert_in_directory(store, CHANGES).failure()] == ["BK624"]
    assert documents(store) == before


def test_revert__two_sets__each_has_its_own_way_back(store: Path) -> None:
    """Records of several sets stand beside each other; the folder of records goes with the last."""
    other = DocumentChangeSet(
        "other", "0" * 64, "1" * 64, (CreateDocumentChange(group="faq", name="d.md", content="d"),), groups=("faq",)
    )
    apply(store).unwrap()
    apply(store, other).unwrap()
    revert_in_directory(store, CHANGES).unwrap()
    assert documents(store) == {**SEEDS, "d.md": "d"}
    assert (store / RECORDS / ".gitignore").read_text() == "*\n"
    revert_in_directory(store, other).unwrap()
    assert not (store / RECORDS).exists()


def test_apply__again_after_a_part_was_undone_by_hand__keeps_the_whole_way_back(store: Path) -> None:
    """What a second apply finds done already keeps the old content that the first one wrote down."""
    apply(store).unwrap()
    (store / "faq/a.md").write_bytes(SEEDS["a.md"].encode())
    apply(store).unwrap()
    apply(store).unwrap()
    revert_in_directory(store, CHANGES).unwrap()
    assert documents(store) == SEEDS


@pytest.mark.parametrize("fault", ["conflict", "disk"])
def test_apply__that_fails__leaves_no_record(store: Path, fault: str) -> None:
    """What was not applied has nothing to take back."""
    if fault == "conflict":
        (store / "faq/a.md").write_text("foreign")
    else:
        (store / STAGING).write_text("in the way")
    before = documents(store)
    assert not is_successful(apply(store))
    assert documents(store) == before
    assert not (store / RECORDS).exists()
    if fault == "disk":
        (store / STAGING).unlink()


@pytest.mark.kill
@pytest.mark.parametrize("mode", ["revert", pytest.param("revert-killed", marks=pytest.mark.soak)])
def test_revert__stopped_at_any_operation__can_still_be_done(tmp_path: Path, mode: str) -> None:
    """Wherever an apply or taking it back is killed, the next `revert` gives everything as it was before."""
    script = Path(__file__).parent / "interrupted_apply.py"
    argv = [sys.executable, str(script), mode, str(tmp_path / "store")]
    result = json.loads(subprocess.run(argv, capture_output=True, text=True, timeout=300, check=True).stdout)
    assert result["faults"] == []
    assert result["points"] > 60
    assert min(result["outcomes"]["was before"], result["outcomes"]["was after"]) > 0


def test_apply__that_is_undone_on_the_way__leaves_the_records_as_they_were(store: Path) -> None:
    """An error between the renames takes the record back too, and only that one."""
    impossible = CreateDocumentChange(group="faq", name="n" * 300, content="longer than any file name")
    failing = DocumentChangeSet("run", "0" * 64, "1" * 64, (*CHANGES.changes, impossible), groups=("faq",))
    assert not is_successful(apply(store, failing))
    assert documents(store) == SEEDS
    assert not (store / RECORDS).exists()
    apply(store).unwrap()
    records = {path.name: path.read_bytes() for path in (store / RECORDS).iterdir()}
    assert not is_successful(apply(store, failing))
    assert {path.name: path.read_bytes() for path in (store / RECORDS).iterdir()} == records


@pytest.mark.parametrize("damage", ["junk", "link", "file"])
def test_record__that_is_none__is_refused(store: Path, damage: str) -> None:
    """A damaged record, or something else in the place of records, is named and changes nothing."""
    apply(store).unwrap()
    record = next((store / RECORDS).glob("*.json"))
    if damage == "junk":
        record.write_text("{")
    else:
        (store / RECORDS).rename(store / "elsewhere")
        (store / RECORDS).symlink_to("elsewhere") if damage == "link" else (store / RECORDS).write_text("x")
    before = documents(store)
    assert [problem.code for problem in revert_in_directory(store, CHANGES).failure()] == ["BK625"]
    assert documents(store) == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(
    before=st.dictionaries(st.sampled_from(["a", "b/c", "d"]), st.text(max_size=5)),
    after=st.dictionaries(st.sampled_from(["a", "b/c", "e"]), st.text(max_size=5)),
)
def test_revert__any_derived_set__is_the_inverse_of_apply(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    """Whatever a candidate made of the documents, apply and revert give the documents that were there."""
    root = tmp_path_factory.mktemp("store")
    (root / "faq").mkdir()
    for name, content in before.items():
        (root / "faq" / name).parent.mkdir(exist_ok=True)
        (root / "faq" / name).write_bytes(content.encode())
    seeds = [TargetDocument(source_id=name, group="faq", name=name, content=text) for name, text in before.items()]
    change_set = derive("r", ["faq"], seeds, {("faq", name): text for name, text in after.items()}).unwrap()
    apply(root, change_set).unwrap()
    assert documents(root) == after
    reverted = revert_in_directory(root, change_set)
    assert is_successful(reverted) == bool(change_set.changes)
    assert documents(root) == before
