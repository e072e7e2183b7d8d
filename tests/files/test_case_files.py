"""Case files on disk: real files, links, pipes and archives, and views that are checked afterwards."""

import os
import shutil
import stat
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from returns.pipeline import is_successful

from beaker.core.case_files import plan_captures
from beaker.core.cases import CapturedFile, CaseFile
from beaker.core.problems import Refused
from beaker.files import case_files
from beaker.files.case_files import capture, check_view, copy_view, look, remove_view


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    folder = tmp_path / "staging"
    folder.mkdir()
    return folder


def planned(staging: Path, declared: list[CaseFile]):
    found, staged = look(staging, declared)
    return plan_captures(declared, found, staged, attempt_bytes=0)


def captured(staging: Path, view: Path, declared: list[CaseFile]) -> tuple[CapturedFile, ...]:
    made = planned(staging, declared)
    assert is_successful(made), made
    return capture(staging, view, made.unwrap())


def messages(staging: Path, declared: list[CaseFile]) -> list[str]:
    made = planned(staging, declared)
    assert not is_successful(made)
    return [problem.message for problem in made.failure()]


def tree(root: Path) -> dict[str, object]:
    """Every path with its content (`None` for a folder) and its mode."""
    return {
        path.relative_to(root).as_posix(): (
            None if path.is_dir() else path.read_bytes(),
            oct(stat.S_IMODE(path.stat().st_mode)),
        )
        for path in root.rglob("*")
    }


def test_capture__declared_files__are_copied_under_their_names_and_sealed(staging, tmp_path):
    """Names are the declared ones, one staged file may have two, what is not declared stays behind."""
    (staging / "sub").mkdir()
    (staging / "sub" / "a").write_bytes(b"A\r\n\0")
    (staging / "sub" / "a").chmod(0o755)
    (staging / "left").write_bytes(b"behind")
    declared = [CaseFile("in/put.txt", staging / "sub/a"), CaseFile("again", staging / "sub" / "a")]
    made = captured(staging, tmp_path / "view", declared)
    digest = sha256(b"A\r\n\0").hexdigest()
    assert made == (CapturedFile("in/put.txt", 4, digest), CapturedFile("again", 4, digest))
    assert tree(tmp_path / "view") == {
        "in": (None, "0o555"),
        "in/put.txt": (b"A\r\n\0", "0o444"),
        "again": (b"A\r\n\0", "0o444"),
    }
    assert stat.S_IMODE((tmp_path / "view").stat().st_mode) == 0o555
    check_view(tmp_path / "view", made, {})


def test_capture__relative_path__counts_from_the_working_directory(staging, tmp_path, monkeypatch):
    """And parents that are links are followed before it is asked where the file lies."""
    (staging / "a").write_bytes(b"a")
    (tmp_path / "link").symlink_to(staging)
    monkeypatch.chdir(staging)
    made = captured(staging, tmp_path / "view", [CaseFile("n", "a"), CaseFile("m", tmp_path / "link" / "a")])
    assert [file.size for file in made] == [1, 1]


def test_look__everything_that_is_no_file_of_its_own__is_refused(staging, tmp_path):
    """Missing, elsewhere, link, hard link, pipe, another case's folder: each is named with its rule."""
    (tmp_path / "outside").write_bytes(b"x")
    other = tmp_path / "staging2"
    other.mkdir()
    (other / "a").write_bytes(b"x")
    (staging / "file").write_bytes(b"x")
    (staging / "link").symlink_to(staging / "file")
    (staging / "twin").write_bytes(b"x")
    os.link(staging / "twin", tmp_path / "twin")
    os.mkfifo(staging / "pipe")
    names = ["gone", "file/below", "link", "twin", "pipe"]
    declared = [CaseFile(name.replace("/", "_"), staging / name) for name in names]
    declared += [CaseFile("outside", tmp_path / "outside"), CaseFile("other", other / "a")]
    assert messages(staging, declared) == [
        "the file 'gone': there is nothing at its path",
        "the file 'file_below': there is nothing at its path",
        "the file 'link': is a symbolic link, not a regular file or a folder",
        "the file 'twin': has 2 hard links",
        "the file 'pipe': is a pipe, not a regular file or a folder",
        "the file 'outside': lies outside the staging folder of this case",
        "the file 'other': lies outside the staging folder of this case",
    ]
    assert messages(staging, [CaseFile("nul", "a\0b")])[0].startswith("the file 'nul': cannot be read: ")
    assert messages(staging, [CaseFile("file", staging / "file")]) == [
        "the file 'link': is a symbolic link; a staging folder may hold regular files and folders only",
        "the file 'pipe': is a pipe; a staging folder may hold regular files and folders only",
        "the file 'twin': has 2 hard links; a staging folder may hold files of its own only",
    ]


def test_look__staging_folder_replaced_by_a_link__holds_nothing_of_its_own(staging, tmp_path):
    """What lies behind a link was never staged."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a").write_bytes(b"a")
    staging.rmdir()
    staging.symlink_to(tmp_path / "elsewhere")
    assert messages(staging, [CaseFile("a", staging / "a")]) == [
        "the file 'a': lies outside the staging folder of this case"
    ]


def test_look__nothing_was_staged__is_an_empty_folder(tmp_path):
    """A case that never asked for its folder has none."""
    assert look(tmp_path / "none", []) == ((), ())


def filled(folder: Path) -> Path:
    (folder / "empty").mkdir(parents=True)
    (folder / "b").mkdir()
    (folder / "b" / "é.txt").write_bytes(b"two")
    (folder / "a.txt").write_bytes(b"one")
    return folder


def test_capture__folder__is_an_archive_that_depends_on_contents_alone(staging, tmp_path):
    """The same bytes on every Python and at every time; names and contents come out again."""
    filled(staging / "docs")
    made = captured(staging, tmp_path / "view", [CaseFile("docs.zip", staging / "docs")])
    archive = tmp_path / "view" / "docs.zip"
    assert made == (CapturedFile("docs.zip", archive.stat().st_size, ARCHIVE),)
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        assert opened.namelist() == ["a.txt", "b/", "b/é.txt", "empty/"]
        assert opened.read("b/é.txt") == b"two"
        assert {info.compress_type for info in opened.infolist()} == {zipfile.ZIP_STORED}
    shutil.unpack_archive(archive, tmp_path / "out")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")) == [
        "a.txt", "b", "b/é.txt", "empty",
    ]  # fmt: skip
    os.utime(staging / "docs" / "a.txt", (0, 0))
    declared = [CaseFile("docs.zip", staging / "docs", ARCHIVE, made[0].size)]
    assert captured(staging, tmp_path / "again", declared) == made


ARCHIVE = "1d290838ad5a5cc9f2d351721b475d240ded605ac184b486f4560d895b466025"


def test_capture__whole_staging_folder__can_be_declared(staging, tmp_path):
    """Everything that was staged, in one archive."""
    filled(staging)
    captured(staging, tmp_path / "view", [CaseFile("all.zip", staging)])
    with zipfile.ZipFile(tmp_path / "view" / "all.zip") as opened:
        assert len(opened.namelist()) == 4


@pytest.mark.parametrize("change", ["longer", "shorter", "gone", "link", "linked"])
@pytest.mark.parametrize("declared", ["a", "."])
def test_capture__file_that_changes_meanwhile__is_refused_and_leaves_nothing(staging, tmp_path, change, declared):
    """What is captured is what was looked at, or nothing."""
    (staging / "a").write_bytes(b"12345")
    plan = planned(staging, [CaseFile("n", staging / declared)]).unwrap()
    path = staging / "a"
    if change in ("longer", "shorter"):
        path.write_bytes(b"123456" if change == "longer" else b"1234")
    elif change == "linked":
        os.link(path, tmp_path / "twin")
    else:
        path.unlink()
        if change == "link":
            path.symlink_to(tmp_path)
    with pytest.raises(Refused) as caught:
        capture(staging, tmp_path / "view", plan)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("BK339", "the file 'n': changed while it was copied")
    assert not (tmp_path / "view").exists()


def test_copied__grows_while_it_is_read__is_refused(staging, tmp_path, monkeypatch):
    """Also a file that is written to between two reads."""
    path = staging / "a"
    path.write_bytes(b"12345")
    plan = planned(staging, [CaseFile("n", path)]).unwrap()
    monkeypatch.setattr(case_files, "_BLOCK", 2)
    real = case_files.sha256

    class Writing:
        def __init__(self) -> None:
            self._real = real()

        def update(self, block: bytes) -> None:
            self._real.update(block)
            path.write_bytes(b"54321")

        def hexdigest(self) -> str:
            return self._real.hexdigest()

    monkeypatch.setattr(case_files, "sha256", Writing)
    with pytest.raises(Refused, match="changed while it was copied"):
        capture(staging, tmp_path / "view", plan)


@pytest.fixture
def view(staging, tmp_path) -> tuple[Path, tuple[CapturedFile, ...]]:
    (staging / "a").write_bytes(b"12345")
    files = captured(staging, tmp_path / "view", [CaseFile("in/a", staging / "a"), CaseFile("b", staging / "a")])
    return tmp_path / "view", files


def unsealed(view: Path) -> None:
    for folder, _, files in os.walk(view):
        os.chmod(folder, 0o755)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o644)


def sealed(view: Path) -> None:
    for folder, _, files in os.walk(view):
        for name in files:
            if not os.path.islink(os.path.join(folder, name)):
                os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(folder, 0o555)


CHANGES = {
    "in/a was changed": lambda view: (view / "in/a").write_bytes(b"54321"),
    "b was changed": lambda view: (view / "b").write_bytes(b"1234"),
    "b was removed": lambda view: (view / "b").unlink(),
    "in/a was removed, in was added, in/x was added": lambda view: (view / "in/a").rename(view / "in/x"),
    "c was added": lambda view: (view / "c").write_bytes(b""),
    "d was added": lambda view: (view / "d").mkdir(),
    "b was replaced": lambda view: ((view / "b").unlink(), (view / "b").symlink_to("in/a")),
}


@pytest.mark.parametrize("words", [words for words in CHANGES if "in was added" not in words])
def test_check_view__any_difference__is_named(view, words):
    """A first look hashes everything, a second one what was touched; both find it."""
    folder, files = view
    states = check_view(folder, files, {})
    assert check_view(folder, files, states) == states
    unsealed(folder)
    CHANGES[words](folder)
    sealed(folder)
    for known in ({}, states):
        with pytest.raises(Refused) as caught:
            check_view(folder, files, known)
        (problem,) = caught.value.problems
        assert problem.code == "BK555"
        assert problem.message.endswith(f"while the run used them: {words}")


def test_check_view__modes_count(view):
    """A file that can be written to is none that is sealed."""
    folder, files = view
    (folder / "b").chmod(0o644)
    with pytest.raises(Refused, match="the mode of b was changed"):
        check_view(folder, files, {})
    (folder / "b").chmod(0o444)
    (folder / "in").chmod(0o755)
    with pytest.raises(Refused, match="the mode of in was changed"):
        check_view(folder, files, {})


def test_check_view__touched_but_equal__is_fine(view):
    """What was only touched is hashed and found to be the same."""
    folder, files = view
    states = check_view(folder, files, {})
    (folder / "b").chmod(0o644)
    (folder / "b").chmod(0o444)
    assert check_view(folder, files, states).keys() == states.keys()
    remove_view(folder)
    with pytest.raises(Refused, match="in/a was removed"):
        check_view(folder, files, states)


def test_copy_view__is_a_sealed_copy_of_what_was_captured(view, tmp_path):
    """Equal to the view; a view that does not hold what was captured is not handed on."""
    folder, files = view
    copy_view(folder, tmp_path / "copies" / "1", files)
    assert tree(tmp_path / "copies" / "1") == tree(folder)
    unsealed(folder)
    (folder / "b").write_bytes(b"54321")
    for number, spoil in enumerate([lambda: None, (folder / "b").unlink], start=2):
        spoil()
        with pytest.raises(Refused, match="b was changed"):
            copy_view(folder, tmp_path / "copies" / str(number), files)


def test_remove_view__removes_what_is_sealed(view):
    """Modes do not keep it, and a second call does nothing."""
    folder, _ = view
    remove_view(folder)
    assert not folder.exists()
    remove_view(folder)
