"""Laws of applying a change set to a folder: compare-and-swap, all or nothing, whatever happens in between."""

import fcntl
import json
import os
import pickle
import random
import shutil
import stat
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.changesets import apply, derive
from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    Place,
    TargetDocument,
    UpdateDocumentChange,
)
from beaker.files.change_journal import STAGING
from beaker.files.changes import apply_to_directory, look_at_directory, read_documents, recover
from beaker.files.documents import read_tree, write_tree

HASH = "0" * 64
namespaces = pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode != 0,
    reason="user namespaces are refused here, so no small or read-only file system can be mounted",
)


def sha(content: str) -> str:
    return sha256(content.encode()).hexdigest()


def changes(*listed: DocumentChange) -> DocumentChangeSet:
    return DocumentChangeSet("run", HASH, HASH, listed)


def create(name: str, content: str = "new", group: str = "faq") -> DocumentChange:
    return CreateDocumentChange(group=group, name=name, content=content)


def update(name: str, base: str = "old", content: str = "new", group: str = "faq") -> DocumentChange:
    return UpdateDocumentChange(source_id="p", group=group, name=name, content=content, base_sha256=sha(base))


def delete(name: str, base: str = "old", group: str = "faq") -> DocumentChange:
    return DeleteDocumentChange(source_id="p", group=group, name=name, base_sha256=sha(base))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with a few documents, and things that are none."""
    root = tmp_path / "store"
    files = {("faq", "a.md"): "old", ("faq", "sub/b.md"): "old", ("kb", "c.md"): "old"}
    write_tree(root, ("faq", "kb"), files, read_only=False)
    (root / "faq/picture.png").write_bytes(b"\x89PNG\xff")
    (root / "README").write_text("not a document")
    return root


def everything(root: Path) -> dict[str, object]:
    """Every file and folder, with content, mode and number of links."""
    return {
        path.relative_to(root).as_posix(): (
            path.read_bytes() if path.is_file() else None,
            stat.S_IMODE(path.lstat().st_mode),
            path.lstat().st_nlink if path.is_file() else 0,
        )
        for path in root.rglob("*")
    }


def test_apply__fitting_set__changes_exactly_the_named_documents(store: Path) -> None:
    """Creations, updates and deletions happen, and nothing else does."""
    before = everything(store)
    applied = apply_to_directory(
        store, changes(update("a.md"), delete("sub/b.md"), create("n/e/w.md", "x\r\n"))
    ).unwrap()
    assert [step.outcome for step in applied.steps] == ["applies"] * 3
    after = everything(store)
    assert (store / "faq/a.md").read_bytes() == b"new"
    assert (store / "faq/n/e/w.md").read_bytes() == b"x\r\n"
    assert not (store / "faq/sub").exists()
    changed = {"faq/a.md", "faq/sub", "faq/sub/b.md", "faq/n", "faq/n/e", "faq/n/e/w.md"}
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == changed


def test_apply__again__changes_nothing(store: Path) -> None:
    """A set that was applied finds everything done already, down to the time stamps."""
    change_set = changes(update("a.md"), delete("sub/b.md"), create("n.md"))
    apply_to_directory(store, change_set).unwrap()
    stamps = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    applied = apply_to_directory(store, change_set).unwrap()
    assert {step.outcome for step in applied.steps} == {"already_applied"}
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == stamps


def test_apply__dry_run__writes_nothing(store: Path) -> None:
    """A dry run says what would be done and leaves the folder as it is."""
    before = everything(store)
    applied = apply_to_directory(store, changes(update("a.md"), create("n.md")), dry_run=True).unwrap()
    assert applied.dry_run
    assert [step.outcome for step in applied.steps] == ["applies", "applies"]
    assert everything(store) == before


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    "bad, code",
    [
        (update("sub/b.md", base="something else"), "BK616"),
        (update("missing.md"), "BK616"),
        (update("SUB/b.md"), "BK616"),
        (create("sub/b.md"), "BK616"),
        (delete("sub/b.md", base="something else"), "BK616"),
        (create("sub"), "BK614"),
        (create("a.md/below"), "BK614"),
        (create("picture.png/below"), "BK614"),
        (create("picture.png"), "BK608"),
        (update("a.md"), "BK613"),
    ],
)
def test_apply__one_change_does_not_fit__nothing_is_changed(
    store: Path, bad: DocumentChange, code: str, dry_run: bool
) -> None:
    """One conflict refuses the whole set and leaves the folder untouched."""
    before = everything(store)
    outcome = apply_to_directory(store, changes(update("a.md"), bad, create("n.md")), dry_run=dry_run)
    assert {problem.code for problem in outcome.failure()} == {code}
    assert everything(store) == before


def test_apply__modes__are_kept(store: Path) -> None:
    """An updated file keeps its mode; a created one follows the umask."""
    (store / "faq/a.md").chmod(0o640)
    (store / "kb/c.md").chmod(0o444)
    apply_to_directory(store, changes(update("a.md"), update("c.md", group="kb"), create("n.md"))).unwrap()
    umask = os.umask(0)
    os.umask(umask)
    modes = [stat.S_IMODE((store / name).stat().st_mode) for name in ("faq/a.md", "kb/c.md", "faq/n.md")]
    assert modes == [0o640, 0o444, 0o666 & ~umask]


def test_apply__file_and_folder_trade_places__works_both_ways(store: Path) -> None:
    """A document may become a folder of documents, and a folder a document."""
    down = changes(delete("a.md"), create("a.md/inner"), delete("sub/b.md"), create("sub"))
    apply_to_directory(store, down).unwrap()
    assert (store / "faq/a.md/inner").read_text() == "new"
    assert (store / "faq/sub").read_text() == "new"


def test_apply__folder_in_the_way__is_undone(store: Path) -> None:
    """A folder that no document explains cannot be replaced: the error comes back, and nothing is changed."""
    (store / "faq/taken").mkdir()
    before = everything(store)
    outcome = apply_to_directory(store, changes(update("a.md"), delete("sub/b.md"), create("taken"), create("z/z")))
    assert [(problem.code, problem.where) for problem in outcome.failure()] == [("BK701", str(store / "faq/taken"))]
    assert everything(store) == before


@pytest.mark.parametrize("link", ["faq/sub", "faq/a.md", "kb"])
def test_apply__symbolic_link_in_the_way__is_refused(store: Path, tmp_path: Path, link: str) -> None:
    """Nothing is written through a link."""
    elsewhere = tmp_path / "elsewhere"
    (store / link).rename(elsewhere)
    (store / link).symlink_to(elsewhere)
    before = everything(tmp_path)
    outcome = apply_to_directory(store, changes(update("a.md"), update("sub/b.md"), update("c.md", group="kb")))
    assert "BK609" in {problem.code for problem in outcome.failure()}
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "name", [".git/hooks/pre-commit", "sub/.GIT./x", "git~1/x", ".beaker/beaker.yaml", ".g\u200cit/x"]
)
def test_apply__document_in_a_folder_of_git__refuses_the_whole_set(store: Path, name: str) -> None:
    """No program and no configuration is written as a document, nor what stands beside it in the set."""
    before = everything(store)
    for dry_run in (True, False):
        outcome = apply_to_directory(store, changes(create("fine.md"), create(name)), dry_run=dry_run)
        assert [(problem.code, problem.where) for problem in outcome.failure()] == [("BK600", f"faq/{name}")]
    assert everything(store) == before


def test_apply__linked_store__is_followed(store: Path, tmp_path: Path) -> None:
    """The folder the user names may itself be a link."""
    (tmp_path / "link").symlink_to(store)
    assert is_successful(apply_to_directory(tmp_path / "link", changes(update("a.md"))))
    assert (store / "faq/a.md").read_text() == "new"


def test_apply__wrong_folder__is_named(store: Path) -> None:
    """A folder that holds none of the groups that are updated cannot be meant, nor can one that is not there."""
    for wrong in (store / "faq", store / "none", store / "README"):
        (problem,) = apply_to_directory(wrong, changes(update("a.md"))).failure()
        assert (problem.code, problem.where) == ("BK620", str(wrong))


def test_apply__new_groups_only__makes_their_folders(tmp_path: Path) -> None:
    """A set that only creates needs no group folder to be there."""
    assert is_successful(apply_to_directory(tmp_path, changes(create("a/b"), create("c", group="kb"))))
    assert (tmp_path / "faq/a/b").read_text() == (tmp_path / "kb/c").read_text() == "new"


def test_apply__another_command_at_work__is_refused(store: Path) -> None:
    """Two commands never work in one folder; what the second meets is said, not guessed."""
    holder = os.open(store, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        for outcome in (apply_to_directory(store, changes(update("a.md"))), recover(store)):
            assert [problem.code for problem in outcome.failure()] == ["BK621"]
    finally:
        os.close(holder)
    assert is_successful(apply_to_directory(store, changes(update("a.md"))))


places = st.tuples(st.sampled_from(["faq", "kb"]), st.sampled_from(["a", "a/b", "b", "c/d/e", "é"]))
trees = st.dictionaries(places, st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=5).filter(
    lambda tree: not any((group, "a") in tree and (group, "a/b") in tree for group in ("faq", "kb"))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(trees, trees)
def test_apply__derived_set__leads_from_seeds_to_candidate_on_disk_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, old: dict[Place, str], new: dict[Place, str]
) -> None:
    """The folder ends as the pure `apply` says, which is the candidate."""
    seeds = [
        TargetDocument(source_id=f"{group}/{name}", group=group, name=name, content=content)
        for (group, name), content in old.items()
    ]
    change_set = derive("run", ("faq", "kb"), seeds, new).unwrap()
    root = tmp_path_factory.mktemp("store")
    write_tree(root, ("faq", "kb"), old, read_only=False)
    apply_to_directory(root, change_set).unwrap()
    assert read_tree(root, ("faq", "kb")).unwrap() == new
    assert {(one.group, one.name): one.content for one in apply(seeds, change_set).unwrap()} == new
    assert not (root / STAGING).exists()


def under_fire(mode: str, folder: Path) -> dict[str, Any]:
    script = Path(__file__).parent / "interrupted_apply.py"
    done = subprocess.run([sys.executable, str(script), mode, str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.kill
@pytest.mark.parametrize(
    "mode",
    [
        "kill",
        pytest.param("kill-twice", marks=pytest.mark.soak),
        pytest.param("foreign", marks=pytest.mark.soak),
        "interrupt",
        "error",
        pytest.param("errors", marks=pytest.mark.soak),
    ],
)
def test_apply__stopped_at_any_operation__is_completed_or_undone(tmp_path: Path, mode: str) -> None:
    """However and wherever an apply is stopped, the folder is found whole: as before, or as after.

    Killed, killed again while recovering, with someone else writing in between, interrupted, out of space.
    """
    result = under_fire(mode, tmp_path / "store")
    assert result["faults"] == []
    assert result["points"] > 60
    assert result["outcomes"]["before"] > 0
    assert result["outcomes"]["after"] > 0


@pytest.mark.kill
def test_apply__killed_by_the_clock__is_completed_or_undone(tmp_path: Path) -> None:
    """SIGKILL at random moments of a large apply leaves the folder whole after the next command."""
    names = [f"{number}.md" for number in range(300)]
    change_set = changes(*(update(name) for name in names))
    script = (
        "import pickle, sys; from pathlib import Path; from beaker.files.changes import apply_to_directory\n"
        "change_set = pickle.load(sys.stdin.buffer); print('ready', flush=True)\n"
        "apply_to_directory(Path(sys.argv[1]), change_set)\n"
    )
    outcomes = set()
    for _ in range(8):
        root = tmp_path / "store"
        shutil.rmtree(root, ignore_errors=True)
        write_tree(root, ("faq",), {("faq", name): "old" for name in names}, read_only=False)
        with subprocess.Popen(
            [sys.executable, "-c", script, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(pickle.dumps(change_set))
            child.stdin.close()
            child.stdout.readline()
            time.sleep(random.uniform(0, 0.15))
            child.kill()
        recover(root).unwrap()
        contents = {(root / "faq" / name).read_text() for name in names}
        assert len(contents) == 1
        outcomes |= contents
        assert not (root / STAGING).exists()
    assert outcomes <= {"old", "new"}


def stopped(store: Path, change_set: DocumentChangeSet) -> Path:
    """Leave `store` as an apply does that was killed right after it wrote its journal; returns the staging folder."""
    script = (
        "import os, pickle, sys; from pathlib import Path; from beaker.files.changes import apply_to_directory\n"
        "change_set = pickle.load(sys.stdin.buffer)\n"
        "def hook(event, args):\n"
        "    if event == 'os.rename' and str(args[1]).endswith('journal.json'): armed.append(1)\n"
        "    elif armed and event == 'os.remove' or armed and event == 'os.rename': os.kill(os.getpid(), 9)\n"
        "armed = []; sys.addaudithook(hook)\n"
        "apply_to_directory(Path(sys.argv[1]), change_set)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(store)], input=pickle.dumps(change_set))
    assert done.returncode == -9
    assert (store / STAGING / "journal.json").exists()
    return store / STAGING


def test_recover__killed_apply__is_completed_and_said(store: Path) -> None:
    """A dry run foresees it and writes nothing; the next command completes what was begun and reports it."""
    change_set = changes(update("a.md"), delete("sub/b.md"))
    stopped(store, change_set)
    before = everything(store)
    foreseen = apply_to_directory(store, change_set, dry_run=True).unwrap()
    looked, recovery = look_at_directory(store, change_set).unwrap()
    assert everything(store) == before
    assert {(one.name, one.content) for one in looked} >= {("a.md", "new")}
    assert "sub/b.md" not in {one.name for one in looked}
    applied = apply_to_directory(store, change_set).unwrap()
    assert foreseen.recovery == recovery == applied.recovery
    assert foreseen.steps == applied.steps
    assert applied.recovery is not None
    assert applied.recovery.outcome == "completed"
    assert {step.outcome for step in applied.steps} == {"already_applied"}
    assert recover(store).unwrap() is None


def test_recover__edit_in_between__undoes_around_it(store: Path) -> None:
    """A document that someone wrote since is kept, everything else is as before."""
    stopped(store, changes(update("a.md"), delete("sub/b.md"), create("n.md")))
    (store / "faq/a.md").write_text("mine")
    before = everything(store)
    again = changes(delete("sub/b.md"), create("n.md"))
    foreseen = apply_to_directory(store, again, dry_run=True).unwrap()
    assert everything(store) == before
    recovery = recover(store).unwrap()
    assert foreseen.recovery == recovery
    assert foreseen.steps == apply_to_directory(store, again, dry_run=True).unwrap().steps
    assert recovery is not None
    assert (recovery.outcome, recovery.kept) == ("undone", ("faq/a.md",))
    assert (store / "faq/a.md").read_text() == "mine"
    assert (store / "faq/sub/b.md").read_text() == "old"
    assert not (store / "faq/n.md").exists()


def test_recover__nothing_left_behind__is_none(store: Path) -> None:
    """A folder without an interrupted apply needs nothing."""
    assert recover(store).unwrap() is None


def test_recover__staging_without_journal__is_removed(store: Path) -> None:
    """An apply that was killed before its journal had changed nothing."""
    before = everything(store)
    (store / STAGING).mkdir()
    (store / STAGING / "new-0").write_text("new")
    foreseen = apply_to_directory(store, changes(update("a.md")), dry_run=True).unwrap().recovery
    assert (store / STAGING / "new-0").exists()
    recovery = recover(store).unwrap()
    assert recovery is not None
    assert foreseen == recovery
    assert recovery.outcome == "undone"
    assert everything(store) == before


@pytest.mark.parametrize(
    "edit",
    [
        lambda journal: journal.update(steps=[{"group": "faq", "name": "../x", "old": None, "new": HASH}]),
        lambda journal: journal.update(steps=[{"group": "..", "name": "x", "old": None, "new": HASH}]),
        lambda journal: journal.update(steps=[{"group": "faq", "name": " x", "old": None, "new": HASH}]),
        lambda journal: journal.update(steps=[{"group": "faq", "name": ".git/x", "old": None, "new": HASH}]),
        lambda journal: journal.update(folders=["faq/.GIT"]),
        lambda journal: journal.update(folders=["../elsewhere"]),
        lambda journal: journal.update(folders=["/etc"]),
        lambda journal: journal.update(folders=["a\\b"]),
        lambda journal: journal.update(format="other/1"),
        lambda journal: journal.pop("steps"),
        lambda journal: journal.update(extra=1),
    ],
)
def test_recover__planted_journal__is_refused(store: Path, edit: Any) -> None:
    """A journal that leads out of the documents, or is none of ours, is refused and nothing is touched."""
    staging = stopped(store, changes(update("a.md")))
    journal = json.loads((staging / "journal.json").read_text())
    edit(journal)
    (staging / "journal.json").write_text(json.dumps(journal))
    before = everything(store)
    for outcome in (recover(store), apply_to_directory(store, changes(update("a.md")))):
        assert [problem.code for problem in outcome.failure()] == ["BK622"]
        assert outcome.failure()[0].hint
    assert everything(store) == before


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff"])
def test_recover__damaged_journal__is_refused(store: Path, data: bytes) -> None:
    """A journal that cannot be read is not guessed at."""
    staging = stopped(store, changes(update("a.md")))
    (staging / "journal.json").write_bytes(data)
    assert [problem.code for problem in recover(store).failure()] == ["BK622"]


def test_recover__journal_is_a_pipe__is_not_waited_for(store: Path) -> None:
    """Something else in the journal's place is refused at once."""
    staging = stopped(store, changes(update("a.md")))
    (staging / "journal.json").unlink()
    os.mkfifo(staging / "journal.json")
    (problem,) = recover(store).failure()
    assert "a pipe" in problem.message


def test_recover__planted_link__leads_nowhere(store: Path, tmp_path: Path) -> None:
    """A group folder that became a link after the kill is not written through, in neither direction."""
    stopped(store, changes(create("n.md", group="kb"), update("c.md", group="kb")))
    (store / "kb").rename(tmp_path / "elsewhere")
    (store / "kb").symlink_to(tmp_path / "elsewhere")
    assert [problem.code for problem in recover(store).failure()] == ["BK609"]
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == ["c.md"]
    assert (tmp_path / "elsewhere/c.md").read_text() == "old"


@pytest.mark.parametrize("plant", [lambda path: path.symlink_to("faq"), lambda path: path.write_text("x")])
def test_recover__staging_is_no_folder__is_refused(store: Path, plant: Any) -> None:
    """Something else under the staging folder's name is left alone."""
    plant(store / STAGING)
    assert [problem.code for problem in recover(store).failure()] == ["BK622"]
    assert os.path.lexists(store / STAGING)


def test_recover__staged_content_is_damaged__is_undone(store: Path) -> None:
    """What was staged must still be what the journal says; otherwise everything is taken back."""
    staging = stopped(store, changes(update("a.md"), delete("sub/b.md")))
    (staging / "new-0").write_text("half a fi")
    recovery = recover(store).unwrap()
    assert recovery is not None
    assert recovery.outcome == "undone"
    assert (store / "faq/a.md").read_text() == (store / "faq/sub/b.md").read_text() == "old"


def test_read_documents__places_of_the_set__come_with_content(store: Path) -> None:
    """What a set touches is read, the names beside it are listed."""
    found = read_documents(store, changes(update("a.md"), create("n.md"))).unwrap()
    assert {one.name: one.content for one in found} == {"a.md": "old", "picture.png": "", "sub/b.md": ""}


ON_SMALL_DISK = """
import subprocess
import sys
from pathlib import Path
from hashlib import sha256
from beaker.core.documents import CreateDocumentChange, DocumentChangeSet, UpdateDocumentChange
from beaker.files.changes import apply_to_directory

disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)], check=True)
(disk / "faq").mkdir()
(disk / "faq/a").write_text("old")
update = UpdateDocumentChange(
    source_id="p", group="faq", name="a", content="new", base_sha256=sha256(b"old").hexdigest()
)

def left():
    return sorted(str(path.relative_to(disk)) for path in disk.rglob("*")), (disk / "faq/a").read_text()

def show(change_set):
    (problem,) = apply_to_directory(disk, change_set).failure()
    print(problem.code, problem.message, "|", problem.hint)
    print(left())

large = tuple(CreateDocumentChange(group="faq", name=f"n{n}", content="x" * 40_000) for n in range(5))
show(DocumentChangeSet("r", "0" * 64, "0" * 64, (update, *large)))
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
show(DocumentChangeSet("r", "0" * 64, "0" * 64, (update,)))
dry = apply_to_directory(disk, DocumentChangeSet("r", "0" * 64, "0" * 64, (update,)), dry_run=True).unwrap()
print([step.outcome for step in dry.steps])
"""


@namespaces
def test_apply__full_and_read_only_disk__is_said_and_leaves_nothing(tmp_path: Path) -> None:
    """A disk that is full or read-only gets a problem with its next step and stays as it was; a dry run works."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["unshare", "-Urm", sys.executable, "-c", ON_SMALL_DISK, str(disk)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    full, first, read_only, second, dry = done.stdout.splitlines()
    assert full.startswith("BK701 cannot apply the changes: No space left on device | free some space")
    assert read_only.startswith("BK701 cannot apply the changes: Read-only file system | this file system is read-only")
    assert first == second == "(['faq', 'faq/a'], 'old')"
    assert dry == "['applies']"
