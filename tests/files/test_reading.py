"""Opening files of others: regular ones, and nothing that could make us wait."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from beaker.files.jsonl import count_rows, read_manifest, read_rows
from beaker.files.reading import file_kind, open_regular, read_regular


def plant_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


PLANTS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a socket": plant_socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


def test_read_regular__file_or_link_to_one__is_read(tmp_path: Path) -> None:
    """Links are followed: a dataset may keep its rows elsewhere in its folder."""
    (tmp_path / "file").write_bytes(b"x\r\n")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "file") == read_regular(tmp_path / "link") == b"x\r\n"
    with open_regular(tmp_path / "link") as file:
        assert file.read(1) == b"x"


def test_open_regular__folder_or_nothing__is_the_system_s_error(tmp_path: Path) -> None:
    """The usual errors stay what they are."""
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none")


@pytest.mark.parametrize("kind", PLANTS)
@pytest.mark.parametrize("linked", [False, True])
def test_open_regular__something_else__is_refused_unopened(tmp_path: Path, kind: str, linked: bool) -> None:
    """Neither waits nor reads without end, and every reader of a dataset says what is there."""
    path = tmp_path / "train.jsonl"
    PLANTS[kind](tmp_path / "real" if linked else path)
    if linked:
        path.symlink_to("real")
    with pytest.raises(OSError, match=f"it is {kind}, not a regular file"):
        open_regular(path)
    ((number, row),) = read_rows(path)
    assert number == 0
    assert kind in str(row)
    assert kind in count_rows(path).failure().message
    path.rename(tmp_path / "manifest.json")
    assert kind in read_manifest(tmp_path).failure().message


def test_file_kind__each_mode__has_its_words() -> None:
    """Every kind of entry that is no regular file is named."""
    kinds = {stat.S_IFLNK: "link", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFCHR: "device"}
    for mode, word in kinds.items():
        assert word in file_kind(mode)
