"""Laws of folders that are replaced as a whole."""

from pathlib import Path

import pytest

from beaker.files.folders import replacing_folder


def listed(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "there"
    (made / "tree").mkdir(parents=True)
    (made / "tree/old.txt").write_text("old")
    (made / "run.json").write_text("old")
    return made


def test_replacing__block_that_ends__leaves_what_it_wrote(folder: Path) -> None:
    """The new folder stands in the place of the old one, and nothing beside it."""
    with replacing_folder(folder) as fresh:
        (fresh / "new.txt").write_text("new")
        assert listed(folder) == {"tree/old.txt": "old", "run.json": "old"}
    assert listed(folder) == {"new.txt": "new"}
    assert [path.name for path in folder.parent.iterdir()] == ["there"]


def test_replacing__only_some__keeps_the_rest(folder: Path) -> None:
    """What is named is replaced, or gone when nothing new came; everything else stays, links as links."""
    (folder / "link").symlink_to("nowhere")
    with replacing_folder(folder, only={"run.json", "gone"}) as fresh:
        (fresh / "run.json").write_text("new")
    assert listed(folder) == {"tree/old.txt": "old", "run.json": "new"}
    assert (folder / "link").is_symlink()
    with replacing_folder(folder, only={"tree"}):
        pass
    assert listed(folder) == {"run.json": "new"}


@pytest.mark.parametrize("only", [(), ("run.json",)])
def test_replacing__block_that_raises__changes_nothing(folder: Path, only: tuple[str, ...]) -> None:
    """A failure leaves the old folder, and no trace of the new one, read-only folders included."""

    def failing() -> None:
        with replacing_folder(folder, only=only) as fresh:
            (fresh / "run.json").write_text("new")
            (fresh / "sealed").mkdir()
            (fresh / "sealed").chmod(0o555)
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert listed(folder) == {"tree/old.txt": "old", "run.json": "old"}
    assert [path.name for path in folder.parent.iterdir()] == ["there"]


def test_replacing__nothing_there__makes_it(tmp_path: Path) -> None:
    """A folder that does not exist yet is made."""
    with replacing_folder(tmp_path / "new", only={"x"}) as fresh:
        (fresh / "x").write_text("x")
    assert listed(tmp_path / "new") == {"x": "x"}


def test_replacing__no_place_for_it__names_the_folder_that_was_asked_for(tmp_path: Path) -> None:
    """The folder made beside it is nobody's business."""
    with pytest.raises(FileNotFoundError) as raised, replacing_folder(tmp_path / "no" / "run"):
        pass
    assert raised.value.filename == str(tmp_path / "no" / "run")


def test_replacing__write_that_fails__names_the_file_where_it_was_to_be(tmp_path: Path) -> None:
    """A file in the new folder is known by the place it would have had."""
    with pytest.raises(OSError) as raised, replacing_folder(tmp_path / "run") as fresh:
        (fresh / "missing" / "f").write_text("x")
    assert raised.value.filename == str(tmp_path / "run" / "missing" / "f")
