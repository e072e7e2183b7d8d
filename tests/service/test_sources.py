"""Kept commits: written back as Git would check them out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from beaker.core.problems import Problem, Refused
from beaker.files.git import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE, TreeFile
from beaker.service.blobs import Blobs
from beaker.service.sources import SourceFile, check_out, keep_source, leaving_links

FILES = (
    TreeFile("a.txt", FILE_MODE, b"text"),
    TreeFile("bin/run", EXECUTABLE_MODE, b"#!/bin/sh\n"),
    TreeFile("deep/er/ünï.bin", FILE_MODE, bytes(range(256))),
    TreeFile("link", LINK_MODE, b"a.txt"),
    TreeFile("vendor/lib", SUBMODULE_MODE, b""),
)


def test_check_out__kept_commit__is_as_it_was(tmp_path: Path) -> None:
    """Content, modes, links; a submodule is an empty folder."""
    blobs = Blobs(tmp_path / "blobs")
    digest, _ = keep_source(blobs, iter(FILES))
    assert keep_source(blobs, iter(FILES))[0] == digest
    out = tmp_path / "out"
    check_out(blobs, digest, out)
    assert (out / "a.txt").read_bytes() == b"text"
    assert (out / "deep/er/ünï.bin").read_bytes() == bytes(range(256))
    assert os.access(out / "bin/run", os.X_OK)
    assert os.stat(out / "a.txt").st_mode & 0o111 == 0
    assert os.readlink(out / "link") == "a.txt"
    assert list((out / "vendor/lib").iterdir()) == []


def test_keep_source__interrupted__stores_nothing(tmp_path: Path) -> None:
    """When reading the commit fails midway no blob stays."""
    blobs = Blobs(tmp_path / "blobs")

    def failing() -> Iterator[TreeFile]:
        yield FILES[0]
        raise Refused(Problem("BK716", "gone"))

    with pytest.raises(Refused):
        keep_source(blobs, failing())
    assert [path for path in blobs.root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/x", "a/../../x", ".git/hooks/post-checkout", "a//b", ".GIT/x", "a/git~1/x", ".g\u200cit", "a\0b"],
)
def test_check_out__path_that_leaves_the_folder__is_refused(tmp_path: Path, path: str) -> None:
    """A crafted commit writes nothing outside, and no hook."""
    blobs = Blobs(tmp_path / "blobs")
    digest, _ = keep_source(blobs, iter([TreeFile(path, FILE_MODE, b"x")]))
    with pytest.raises(Refused) as refused:
        check_out(blobs, digest, tmp_path / "deep" / "out")
    assert refused.value.problems[0].code == "BK476"
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize(
    "entries",
    [
        [("zz", LINK_MODE, b"../outside"), ("zz/b", FILE_MODE, b"x")],
        [("zz/b", FILE_MODE, b"x"), ("zz", LINK_MODE, b"../outside")],
        [("zz", LINK_MODE, b"inside"), ("inside/a", FILE_MODE, b"x"), ("zz/b/c", FILE_MODE, b"x")],
        [("zz", FILE_MODE, b"x"), ("zz/b", FILE_MODE, b"x")],
        [("zz", SUBMODULE_MODE, b""), ("zz/b", FILE_MODE, b"x")],
        [("zz", FILE_MODE, b"x"), ("zz", FILE_MODE, b"y")],
        [("zz", FILE_MODE, b"x"), ("zz", LINK_MODE, b"inside")],
    ],
)
def test_check_out__paths_in_each_other_s_way__write_nothing(
    tmp_path: Path, entries: list[tuple[str, str, bytes]]
) -> None:
    """A crafted commit that has a link or a file where it has a folder, or a path twice, writes nothing anywhere."""
    blobs, outside = Blobs(tmp_path / "blobs"), tmp_path / "outside"
    outside.mkdir()
    digest, _ = keep_source(blobs, (TreeFile(*entry) for entry in entries))
    with pytest.raises(Refused) as refused:
        check_out(blobs, digest, tmp_path / "out")
    assert "BK476" in {problem.code for problem in refused.value.problems}
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "links, leaving",
    [
        ({"a": "b", "d/a": "../b", "d/e/a": "../../x/./y", "self": ".", "loop": "loop", "p": "q", "q": "p"}, []),
        ({"a": "/etc/passwd"}, ["a"]),
        ({"a": ".."}, ["a"]),
        ({"d/a": "../../x"}, ["d/a"]),
        ({"d/a": "b/../../../x"}, ["d/a"]),
        ({"a": "d/../x", "d": "deep/er"}, []),
        ({"a": "d/../../../x", "d": "deep/er"}, ["a"]),
        ({"deep/er/up": "../..", "a": "deep/er/up/../x"}, ["a"]),
        ({"deep/Up": "..", "a": "deep/uP/../x"}, ["a"]),
        ({"a": "b/c", "b": "/home"}, ["a", "b"]),
        ({"a": "loop/../..", "loop": "loop"}, []),
    ],
)
def test_leaving_links__lead_out_by_whatever_way__are_named(
    tmp_path: Path, links: dict[str, str], leaving: list[str]
) -> None:
    """Absolute links, links above the root, and those that get there through other links; no checkout has them."""
    blobs = Blobs(tmp_path / "blobs")
    digest, files = keep_source(blobs, (TreeFile(path, LINK_MODE, to.encode()) for path, to in links.items()))
    found = leaving_links(blobs, files)
    assert [(problem.code, problem.where) for problem in found] == [("BK483", path) for path in leaving]
    if leaving:
        with pytest.raises(Refused):
            check_out(blobs, digest, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    else:
        check_out(blobs, digest, tmp_path / "out")
        assert {path: os.readlink(tmp_path / "out" / path) for path in links} == links


def test_leaving_links__files__are_not_read(tmp_path: Path) -> None:
    """Only links are looked at."""
    assert leaving_links(Blobs(tmp_path / "blobs"), [SourceFile("a", FILE_MODE, "0" * 64, 1)]) == ()
