"""Laws of document trees on disk: what is written is read back, and what is no document tree is refused."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.documents import MAX_DOCUMENT_BYTES, Place, check_candidate_files
from beaker.files import documents as module
from beaker.files.documents import read_document, read_store, read_tree, tree_difference, write_tree

GROUPS = ("faq", "kb")

files_on_disk = st.dictionaries(
    st.tuples(
        st.sampled_from(GROUPS),
        st.lists(st.text(st.characters(exclude_characters="/\\"), min_size=1, max_size=4), min_size=1, max_size=3).map(
            "/".join
        ),
    ),
    st.text(max_size=20),
    max_size=5,
).filter(lambda files: is_successful(check_candidate_files(GROUPS, files)))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A document tree with one document."""
    tree = tmp_path / "tree"
    write_tree(tree, GROUPS, {("faq", "a.md"): "x"}, read_only=False)
    return tree


def codes(root: Path) -> list[tuple[str, str]]:
    return [(problem.code, problem.where) for problem in read_tree(root, GROUPS).failure()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files_on_disk, st.booleans())
def test_read_tree__written_tree__comes_back(
    tmp_path_factory: pytest.TempPathFactory, files: dict[Place, str], read_only: bool
) -> None:
    """Every valid candidate survives the disk, byte for byte."""
    root = tmp_path_factory.mktemp("tree")
    write_tree(root, GROUPS, files, read_only=read_only)
    assert read_tree(root, GROUPS).unwrap() == files
    for (group, name), content in files.items():
        assert (root / group / name).read_bytes() == content.encode()


def test_write_tree__read_only__sets_the_modes(tmp_path: Path) -> None:
    """Files are 0444 and folders 0555, empty groups included; the root stays writable."""
    write_tree(tmp_path / "t", ("faq", "empty"), {("faq", "a/b.md"): "x\r\n"})
    modes = {
        path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "t", *(tmp_path / "t").rglob("*"))
    }
    assert {name: mode for name, mode in modes.items() if name != "t"} == {
        "t/faq": 0o555,
        "t/faq/a": 0o555,
        "t/faq/a/b.md": 0o444,
        "t/empty": 0o555,
    }
    assert modes["t"] & 0o200
    assert (tmp_path / "t/faq/a/b.md").read_bytes() == b"x\r\n"


def test_read_tree__empty_folders__are_ignored(root: Path) -> None:
    """Folders without files are nothing, declared or not."""
    (root / "faq/empty/deep").mkdir(parents=True)
    (root / "undeclared").mkdir()
    assert read_tree(root, GROUPS).unwrap() == {("faq", "a.md"): "x"}


def test_read_tree__missing_or_linked_root__is_refused(tmp_path: Path, root: Path) -> None:
    """The root must be a folder itself."""
    (tmp_path / "link").symlink_to(root)
    for wrong in (tmp_path / "none", tmp_path / "link", root / "faq/a.md"):
        assert [problem.code for problem in read_tree(wrong, GROUPS).failure()] == ["BK609"]


def plant_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(path.parent)  # a socket's path may be short only
        try:
            made.bind(path.name)
        finally:
            os.chdir(before)


@pytest.mark.parametrize(
    "where, plant, code",
    [
        ("faq/link", lambda path: path.symlink_to("a.md"), "BK609"),
        ("faq/dangling", lambda path: path.symlink_to("nowhere"), "BK609"),
        ("faq/folder", lambda path: path.symlink_to("/etc"), "BK609"),
        ("faq/pipe", lambda path: os.mkfifo(path), "BK609"),
        ("faq/socket", plant_socket, "BK609"),
        ("direct.md", lambda path: path.write_text("x"), "BK609"),
        ("linked-group", lambda path: path.symlink_to("faq"), "BK609"),
        ("other/b.md", lambda path: (path.parent.mkdir(), path.write_text("x")), "BK607"),
        ("FAQ/b.md", lambda path: (path.parent.mkdir(), path.write_text("x")), "BK607"),
        ("faq/a\\b.md", lambda path: path.write_text("x"), "BK600"),
        ("faq/ b.md", lambda path: path.write_text("x"), "BK600"),
        ("faq/c:d.md", lambda path: path.write_text("x"), "BK600"),
        ("faq/latin.md", lambda path: path.write_bytes("ä".encode("latin-1")), "BK608"),
        ("faq/binary.md", lambda path: path.write_bytes(bytes(range(256))), "BK608"),
        ("faq/large.md", lambda path: path.write_bytes(b"x" * (MAX_DOCUMENT_BYTES + 1)), "BK602"),
    ],
)
def test_read_tree__not_a_document__is_refused(
    root: Path, where: str, plant: Callable[[Path], object], code: str
) -> None:
    """Links, special files, and what no document may be called or hold are refused, and nothing beside them."""
    plant(root / where)
    assert codes(root) == [(code, where)]


def test_read_tree__hard_link__is_refused(root: Path) -> None:
    """A file with a second name elsewhere is no document of this tree; both of its names are said."""
    os.link(root / "faq/a.md", root / "kb/a.md")
    assert codes(root) == [("BK609", "faq/a.md"), ("BK609", "kb/a.md")]


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="file names are always Unicode here")
def test_read_tree__undecodable_name__is_refused(root: Path) -> None:
    """A file name that is no UTF-8 is refused with its bytes shown."""
    (Path(os.fsdecode(os.fsencode(root / "faq") + b"/\xff.md"))).write_text("x")
    assert codes(root) == [("BK608", "faq/\\udcff.md")]


def test_read_tree__several_faults__come_together(root: Path) -> None:
    """One fault never hides another."""
    (root / "faq/link").symlink_to("a.md")
    (root / "direct.md").write_text("x")
    (root / "kb/b.md").write_bytes(b"\xff")
    assert len(codes(root)) == 3


def test_read_tree__too_much__stops_reading(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree with more documents or bytes than its groups can hold is given up early."""
    for number in range(6):
        (root / f"kb/{number}").write_text("x" * 10)
    with monkeypatch.context() as patched:
        patched.setattr(module, "MAX_TREE_BYTES", 20)
        assert codes(root)[-1][0] == "BK603"
    monkeypatch.setattr(module, "MAX_DOCUMENTS", 2)
    assert codes(root)[-1][0] == "BK601"


def test_read_document__plain_file__is_read_exactly(tmp_path: Path) -> None:
    """Text comes as it is: line endings, byte-order mark, nothing."""
    for content in ("", "\ufeffa\r\n\rb", "\0"):
        (tmp_path / "a").write_bytes(content.encode())
        assert read_document(tmp_path / "a", "faq/a") == content


def test_read_store__untouched_documents__may_be_anything(root: Path) -> None:
    """Only documents that are asked for must be documents; the names of the others are enough."""
    (root / "faq/image.png").write_bytes(b"\x89PNG\xff")
    (root / "faq/link").symlink_to("a.md")
    (root / "faq/back\\slash").write_text("x")
    (root / "faq/sub").mkdir()
    (root / "faq/sub/large").write_bytes(b"x" * (MAX_DOCUMENT_BYTES + 1))
    (root / "not-a-group.txt").write_text("x")
    (root / "other").symlink_to("/etc")
    found = read_store(root, [("faq", "A.md"), ("faq", "new")]).unwrap()
    assert [(one.source_id, one.content) for one in found] == [
        ("faq/a.md", "x"),
        ("faq/image.png", ""),
        ("faq/sub/large", ""),
    ]


@pytest.mark.parametrize(
    "where, plant, code",
    [
        ("faq/t", lambda path: path.symlink_to("a.md"), "BK609"),
        ("faq/T", lambda path: path.symlink_to("a.md"), "BK609"),
        ("faq/t", lambda path: os.mkfifo(path), "BK609"),
        ("faq/t", lambda path: path.write_bytes(b"\xff"), "BK608"),
        ("faq/t", lambda path: path.write_bytes(b"x" * (MAX_DOCUMENT_BYTES + 1)), "BK602"),
        ("faq/sub", lambda path: path.symlink_to("/etc"), "BK609"),
        ("linked", lambda path: path.symlink_to("faq"), "BK609"),
        ("plain", lambda path: path.write_text("x"), "BK609"),
    ],
)
def test_read_store__touched_place_is_no_plain_file__is_refused(
    root: Path, where: str, plant: Callable[[Path], object], code: str
) -> None:
    """A link or special file at or above a touched place refuses, since a change would go elsewhere."""
    plant(root / where)
    places = [("faq", "t"), ("faq", "sub/t"), ("linked", "t"), ("plain", "t")]
    assert [problem.code for problem in read_store(root, places).failure()] == [code]


def test_read_store__hard_linked_document__is_refused(root: Path, tmp_path: Path) -> None:
    """Renaming over one name of a file would part it from the other, so it is said instead."""
    os.link(root / "faq/a.md", tmp_path / "elsewhere")
    (problem,) = read_store(root, [("faq", "a.md")]).failure()
    assert "2 hard links" in problem.message


def test_read_store__no_folder__is_refused(root: Path) -> None:
    """The store must be a folder."""
    for wrong in (root / "none", root / "faq/a.md"):
        (problem,) = read_store(wrong, [("faq", "a.md")]).failure()
        assert (problem.code, problem.where) == ("BK620", str(wrong))


def test_read_store__group_in_another_case__keeps_its_spelling(root: Path) -> None:
    """A folder `FAQ` is reported as such, so that a plan can say that it is not `faq`."""
    (root / "faq").rename(root / "FAQ")
    assert [one.group for one in read_store(root, [("faq", "a.md")]).unwrap()] == ["FAQ"]


def test_tree_difference__names_what_is_not_as_it_was_laid_out(tmp_path: Path) -> None:
    """Contents, documents more and fewer, and what is no document tree any more; modes alone are no difference."""
    files = {("kb", "deep/a.md"): "A", ("kb", "b.md"): "B"}
    write_tree(tmp_path, ["kb", "empty"], files, read_only=False)
    assert tree_difference(tmp_path, ["kb", "empty"], files) == ""
    (tmp_path / "kb" / "b.md").unlink()
    (tmp_path / "empty" / "c.md").write_text("C", encoding="utf-8")
    assert tree_difference(tmp_path, ["kb", "empty"], files) == "empty/c.md was added, kb/b.md was removed"
    (tmp_path / "kb" / "b.md").symlink_to("deep/a.md")
    assert "kb/b.md" in tree_difference(tmp_path, ["kb", "empty"], files)
    assert "is missing" in tree_difference(tmp_path / "none", ["kb"], files)
