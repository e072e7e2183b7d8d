"""Kept commits: written back as Git would check them out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from beaker.core.problems import Problem, Refused
from beaker.files.git import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE, TreeFile
from beaker.service.blobs import Blobs
from beaker.service.sources import check_out, keep_source

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


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a/../../x", ".git/hooks/post-checkout", "a//b", ".GIT/x"])
def test_check_out__path_that_leaves_the_folder__is_refused(tmp_path: Path, path: str) -> None:
    """A crafted commit writes nothing outside, and no hook."""
    blobs = Blobs(tmp_path / "blobs")
    digest, _ = keep_source(blobs, iter([TreeFile(path, FILE_MODE, b"x")]))
    with pytest.raises(Refused) as refused:
        check_out(blobs, digest, tmp_path / "deep" / "out")
    assert refused.value.problems[0].code == "BK476"
    assert list((tmp_path / "deep" / "out").rglob("*")) == []
