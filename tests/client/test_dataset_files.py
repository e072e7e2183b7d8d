"""What travels of a folder: the dataset, whole and counted, and nothing else."""

import json
import os
from pathlib import Path

import pytest

from beaker.client.dataset_files import MAX_ROW_FAULTS, gather, gather_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "train.jsonl").write_text('{"id": "t1"}\n\n{"id": "t2"}\n', encoding="utf-8")
    (made / "test.jsonl").write_text('{"id": "h1"}\n', encoding="utf-8")
    return made


def test_gather__folder__takes_what_a_dataset_is(folder: Path) -> None:
    """Rows and manifest travel; dotfiles, notes and `.git` do not; both splits are counted."""
    (folder / "manifest.json").write_text('{"metadata": {}}', encoding="utf-8")
    for name in (".env", "notes.txt", "val.jsonl", ".git/config", "train.jsonl.bak"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("secret", encoding="utf-8")
    dataset = gather(folder, name=" inv ", metadata={"who": "me"}).unwrap()
    assert [file.path for file in dataset.declaration.files] == ["manifest.json", "test.jsonl", "train.jsonl"]
    assert (dataset.declaration.name, dataset.declaration.splits) == ("inv", {"train": 2, "test": 1})
    train = dataset.sources["train.jsonl"]
    assert (train.size, train.sha256) == (27, dataset.declaration.files[2].sha256)


def test_gather__counts_given__must_agree(folder: Path) -> None:
    """A count that disagrees with the file is refused before anything is sent."""
    assert gather(folder, name="inv", splits={"train": 2}).unwrap()
    assert gather(folder, name="inv", splits={"train": 3}).failure()[0].code == "BK209"


def test_gather__missing_split__is_named_with_the_likely_file(folder: Path) -> None:
    """`val.jsonl` where `test.jsonl` is meant gets the right words."""
    (folder / "test.jsonl").rename(folder / "val.jsonl")
    (problem,) = gather(folder, name="inv").failure()
    assert (problem.code, "val.jsonl" in problem.hint) == ("BK210", True)


def test_gather__file_or_nothing__is_refused(folder: Path) -> None:
    """A `.jsonl` where a folder is meant, and a path that is not there."""
    assert "folder" in gather(folder / "train.jsonl", name="inv").failure()[0].message
    assert gather(folder / "absent", name="inv").failure()[0].code == "BK216"


def test_gather__bad_rows__are_all_named(folder: Path) -> None:
    """Each with its line, in both files, up to a limit and then counted; unless nobody wants to know."""
    (folder / "train.jsonl").write_text('{"a": 1}\n{"a": 1,}\n[]\n', encoding="utf-8")
    (folder / "test.jsonl").write_text("nope\n" * (MAX_ROW_FAULTS + 5), encoding="utf-8")
    problems = gather(folder, name="inv").failure()
    assert [problem.where.rpartition("/")[2] for problem in problems[:3]] == [
        "train.jsonl:2",
        "train.jsonl:3",
        "test.jsonl:1",
    ]
    assert (len(problems), problems[-1].message) == (MAX_ROW_FAULTS + 1, "7 more rows are faulty")
    assert gather(folder, name="inv", check_rows=False).unwrap()


def test_gather__link_out_of_the_folder__never_travels(folder: Path, tmp_path: Path) -> None:
    """A link inside the folder is followed; one that leads out is refused, by name."""
    (folder / "train.jsonl").rename(folder / "rows")
    os.symlink("rows", folder / "train.jsonl")
    assert gather(folder, name="inv").unwrap()
    (tmp_path / "private").write_text('{"id": "p"}\n', encoding="utf-8")
    (folder / "test.jsonl").unlink()
    os.symlink(tmp_path / "private", folder / "test.jsonl")
    assert [problem.code for problem in gather(folder, name="inv").failure()] == ["BK815"]


def test_gather__link_to_a_hidden_file__never_travels(folder: Path) -> None:
    """A dotfile does not travel under the name of a split either, nor through a second link or a hidden folder."""
    (folder / ".env").write_text('{"id": "s3cret"}\n', encoding="utf-8")
    (folder / ".git").mkdir()
    (folder / ".git" / "rows").write_text('{"id": "s3cret"}\n', encoding="utf-8")
    os.symlink(".env", folder / "second")
    for target in (".env", "second", ".git/rows"):
        (folder / "test.jsonl").unlink()
        os.symlink(target, folder / "test.jsonl")
        (problem,) = gather(folder, name="inv").failure()
        assert (problem.code, "hidden" in problem.message) == ("BK815", True)


@pytest.mark.parametrize("name", ["train.jsonl", "test.jsonl", "manifest.json"])
@pytest.mark.parametrize("linked", [False, True])
def test_gather__no_regular_file__is_refused_at_once(folder: Path, tmp_path: Path, name: str, linked: bool) -> None:
    """A pipe is not waited for and a device not read, be it directly or through a link."""
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / ("pipe" if linked else name))
    if linked:
        os.symlink("pipe", folder / name)
    problems = gather(folder, name="inv").failure()
    assert any("a pipe" in problem.message and problem.where.endswith(name) for problem in problems)
    (folder / name).unlink()
    os.symlink("/dev/zero", folder / name)
    assert any("a device" in problem.message for problem in gather(folder, name="inv").failure())


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1, "a": 2}', "\ufeff{,}"])
def test_gather__invalid_manifest__is_refused(folder: Path, text: str) -> None:
    """What no run could read is not sent, rows checked or not."""
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    for check in (True, False):
        (problem,) = gather(folder, name="inv", check_rows=check).failure()
        assert "manifest.json" in problem.where


def test_gather__files_that_rows_name__travel_too(folder: Path) -> None:
    """By their path below the folder, in any spelling; hidden files and what no row names stay."""
    (folder / "clips").mkdir()
    for name in ("clips/a.wav", "clips/b.wav", ".secret", "notes.txt"):
        (folder / name).write_text(name, encoding="utf-8")
    rows = [{"audio": "./clips/a.wav", "other": [".secret", "../clips/b.wav", "train.jsonl"]}]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for check in (True, False):
        dataset = gather(folder, name="inv", check_rows=check).unwrap()
        assert sorted(dataset.sources) == ["clips/a.wav", "test.jsonl", "train.jsonl"]
    assert dataset.sources["clips/a.wav"].path == folder / "clips" / "a.wav"


def test_gather__named_link_out_of_the_folder__is_refused(folder: Path, tmp_path: Path) -> None:
    """A row cannot take along what lies elsewhere."""
    (tmp_path / "private").write_text("p", encoding="utf-8")
    os.symlink(tmp_path / "private", folder / "clip")
    (folder / "train.jsonl").write_text('{"audio": "clip"}\n', encoding="utf-8")
    assert [problem.code for problem in gather(folder, name="inv").failure()] == ["BK815"]


def test_gather_files__given_files__all_travel(folder: Path, tmp_path: Path) -> None:
    """Wherever they lie; rows are counted and checked as those of a folder."""
    (tmp_path / ".clip").write_text("c", encoding="utf-8")
    files = {"train.jsonl": folder / "train.jsonl", "test.jsonl": folder / "test.jsonl", "a/clip": tmp_path / ".clip"}
    dataset = gather_files(files, name="inv").unwrap()
    assert (sorted(dataset.sources), dataset.declaration.splits) == (sorted(files), {"train": 2, "test": 1})
    assert gather_files(files, name="inv", splits={"train": 9}).failure()[0].code == "BK209"
    assert gather_files({"val.jsonl": folder / "test.jsonl"}, name="inv").failure()[0].code == "BK210"
    assert gather_files({**files, "test.jsonl": folder / "none"}, name="inv").failure()[-1].code == "BK701"
    (folder / "test.jsonl").write_text("[]\n", encoding="utf-8")
    assert gather_files(files, name="inv").failure()[0].code == "BK214"
    assert gather_files({**files, "b": tmp_path / "none"}, name="inv").failure()
