"""Plans for the files of a case: what is captured under which name, every limit, and every reason to refuse."""

import io
import zipfile
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.case_files import (
    MAX_ATTEMPT_BYTES,
    MAX_CASE_BYTES,
    MAX_FILE_BYTES,
    MAX_FILES,
    SHOWN_FAULTS,
    Capture,
    Found,
    Staged,
    archive_name,
    archive_size,
    captured_of,
    folder_name,
    plan_captures,
    unexpected,
    view_faults,
)
from beaker.core.cases import CapturedFile, Case, CaseFile

H, OTHER = "ab" * 32, "cd" * 32
PARTS = st.text("abcAB", min_size=1, max_size=3)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)


def good(count: int, size: int = 10) -> tuple[list[CaseFile], list[Found], list[Staged]]:
    """`count` declared files that lie where they should."""
    paths = [f"f{number}" for number in range(count)]
    declared = [CaseFile(f"n{number}", path) for number, path in enumerate(paths)]
    return (
        declared,
        [Found("file", path, size) for path in paths],
        [Staged(path, "file", size) for path in paths],
    )


def plan(declared: Any, found: Any, staged: Any, attempt_bytes: int = 0) -> tuple[Capture, ...]:
    made = plan_captures(declared, found, staged, attempt_bytes=attempt_bytes)
    assert is_successful(made), made
    return made.unwrap()


def refusals(declared: Any, found: Any, staged: Any = (), attempt_bytes: int = 0) -> list[str]:
    """The messages of a refusal."""
    made = plan_captures(declared, found, staged, attempt_bytes=attempt_bytes)
    assert not is_successful(made)
    assert {problem.code for problem in made.failure()} == {"BK339"}
    return [problem.message for problem in made.failure()]


@given(st.integers(0, MAX_FILES), st.integers(0, MAX_CASE_BYTES // MAX_FILES), st.integers(0, 10**6))
def test_plan__good_files__are_copied_in_order(count: int, size: int, before: int) -> None:
    """One capture per declared file, under its name, from where it really lies, with its size."""
    declared, found, staged = good(count, size)
    made = plan(declared, found, [*staged, Staged("left/behind", "file", 1 << 40)], before)
    assert made == tuple(Capture(f"n{number}", f"f{number}", size) for number in range(count))
    assert plan(declared, found, staged, MAX_ATTEMPT_BYTES - count * size) == made


@given(st.lists(PATHS, max_size=6))
def test_plan__names__are_refused_exactly_when_some_file_system_cannot_hold_them_all(names: list[str]) -> None:
    """No name twice under case and form, none that another one needs as a folder."""
    declared = [CaseFile(name, "f") for name in names]
    made = plan_captures(declared, [Found("file", "f", 1)] * len(names), [Staged("f", "file", 1)], attempt_bytes=0)
    keys = [name.lower() for name in names]
    nested = any(one.startswith(f"{other}/") for one in keys for other in keys)
    assert is_successful(made) == (len(set(keys)) == len(keys) and not nested)


@pytest.mark.parametrize(
    "found, words",
    [
        (Found("missing"), "the file 'n': there is nothing at its path"),
        (Found("missing", what="cannot be read: Permission denied"), "the file 'n': cannot be read: Permission denied"),
        (Found("other", "x", what="a pipe"), "the file 'n': is a pipe, not a regular file or a folder"),
        (Found("file", "x", 1, links=2), "the file 'n': has 2 hard links"),
        (Found("file", None, 1), "the file 'n': lies outside the staging folder of this case"),
        (Found("folder", None), "the file 'n': lies outside the staging folder of this case"),
        (Found("file", "x", MAX_FILE_BYTES + 1), f"{MAX_FILE_BYTES + 1} bytes; a file may have at most 67108864"),
        (Found("file", "x", 4), "the file 'n': has 4 bytes, not 5 as declared"),
    ],
)
def test_plan__file_that_breaks_a_rule__is_named(found: Found, words: str) -> None:
    """Missing, of another kind, linked, elsewhere, too large, or not as large as declared."""
    size = found.size if found.size != 4 else 5
    messages = refusals([CaseFile("n", "x", None, size)], [found])
    assert len(messages) == 1
    assert words in messages[0]


def test_plan__every_limit__says_limit_and_count() -> None:
    """128 files, 64 MiB each, 256 MiB a case, 2 GiB an attempt: at the limit fine, above it refused."""
    plan(*good(MAX_FILES))
    assert "declares 129 files; a case may have at most 128" in refusals(*good(MAX_FILES + 1))[0]
    plan(*good(4, MAX_FILE_BYTES))
    message = f"all files of the case together have {5 * MAX_FILE_BYTES} bytes; at most 268435456 are allowed"
    assert refusals(*good(5, MAX_FILE_BYTES)) == [message]
    plan(*good(1, 1), MAX_ATTEMPT_BYTES - 1)
    message = f"the files of all cases up to this one have {MAX_ATTEMPT_BYTES + 1} bytes; at most 2147483648 are"
    assert message in refusals(*good(1, 1), MAX_ATTEMPT_BYTES)[0]


def test_plan__hints__say_what_to_do() -> None:
    """Too many files can become an archive; a file elsewhere belongs into staging; a link is replaced by a copy."""
    many = plan_captures(*good(MAX_FILES + 1), attempt_bytes=0).failure()[0]
    assert "one archive" in many.hint
    for at in (Found("missing"), Found("file", None, 1)):
        problem = plan_captures([CaseFile("n", "x")], [at], [], attempt_bytes=0).failure()[0]
        assert "runtime.case_files_dir(case_id)" in problem.hint
    linked = plan_captures([CaseFile("n", "x")], [Found("file", "x", 1, links=3)], [], attempt_bytes=0)
    assert "copy the file" in linked.failure()[0].hint
    link = plan_captures([CaseFile("n", "x")], [Found("other", "x", what="a symbolic link")], [], attempt_bytes=0)
    assert link.failure()[0].hint == "copy what it stands for"


def test_plan__undeclared_oddities__are_refused_though_the_declared_files_are_fine() -> None:
    """What is no plain file in staging is refused once; plain files that nobody declares are left behind."""
    declared, found, staged = good(1)
    odd = [Staged("sub/pipe", "other", what="a pipe"), Staged("twin", "file", 1, links=2), Staged("sub", "folder")]
    messages = refusals(declared, found, [*staged, *odd])
    assert messages == [
        "the file 'sub/pipe': is a pipe; a staging folder may hold regular files and folders only",
        "the file 'twin': has 2 hard links; a staging folder may hold files of its own only",
    ]
    twice = refusals([CaseFile("n", "f0")], [Found("file", "f0", 1, links=2)], [Staged("f0", "file", 1, links=2)])
    assert len(twice) == 1


def test_plan__all_faults__come_together_up_to_a_number() -> None:
    """One fault hides no other; beyond twenty they are counted."""
    declared, found, staged = good(3)
    missing = Found("missing")
    assert len(refusals(declared, [missing, found[1], missing], staged)) == 2
    many = refusals(*(lambda d, f, s: (d, [missing] * len(f), s))(*good(30)))
    assert len(many) == SHOWN_FAULTS + 1
    assert many[-1] == "10 more faults"
    exactly = refusals(*(lambda d, f, s: (d, [missing] * len(f), s))(*good(SHOWN_FAULTS)))
    assert len(exactly) == SHOWN_FAULTS
    assert "20 more" not in exactly[-1]


@pytest.mark.parametrize(
    "name, words",
    [
        ("a\0b", "holds a NUL"),
        ("a" * 256, "a part of the name has 256 bytes; at most 255"),
        ("é" * 128, "a part of the name has 256 bytes"),
        ("/".join(["abc"] * 300), "the name has 1199 characters; at most 1024"),
    ],
)
def test_plan__name_that_no_file_can_have__is_refused_before_anything_is_written(name: str, words: str) -> None:
    """Raw errors of the system never reach the user."""
    messages = refusals([CaseFile(name, "f")], [Found("file", "f", 1)], [Staged("f", "file", 1)])
    assert len(messages) == 1
    assert words in messages[0]
    assert len(messages[0]) < 400
    messages[0].encode()


def test_plan__longest_names__are_fine() -> None:
    """255 bytes a part, 1,024 characters in all."""
    for name in ("a" * 255, "/".join(["a" * 204] * 5), "é" * 127):
        assert len(plan([CaseFile(name, "f")], [Found("file", "f", 1)], [Staged("f", "file", 1)])) == 1


def test_plan__names_that_collide__are_told_apart_in_words() -> None:
    """Twice the same, the same but for case or form, and a file where a folder is needed."""
    declared = [CaseFile(name, "f") for name in ("a", "A", "b", "b", "é", "e\u0301", "a/x", "b/y/z", "c/d", "C/e")]
    messages = refusals(declared, [Found("file", "f", 1)] * len(declared), [Staged("f", "file", 1)])
    assert messages == [
        "the file 'A': differs from 'a' only in case or form",
        "the file 'b': is declared twice",
        "the file 'e\u0301': differs from 'é' only in case or form",
        "the file 'a/x': needs the folder 'a', which is a file",
        "the file 'b/y/z': needs the folder 'b', which is a file",
    ]


FOLDER = [
    Staged("docs", "folder"),
    Staged("docs/b.md", "file", 3),
    Staged("docs/a", "folder"),
    Staged("docs/a/é.md", "file", 5),
    Staged("docs.md", "file", 7),
]


def test_plan__folder__becomes_an_archive_of_what_is_below_it() -> None:
    """Members in the order of their paths, by their paths in the folder; the size is that of the archive."""
    members = (Staged("a", "folder"), Staged("a/é.md", "file", 5), Staged("b.md", "file", 3))
    (made,) = plan([CaseFile("docs.zip", "docs", None, archive_size(members))], [Found("folder", "docs")], FOLDER)
    assert made == Capture("docs.zip", "docs", archive_size(members), members)
    (whole,) = plan([CaseFile("all.zip", ".")], [Found("folder", "")], FOLDER)
    assert [member.path for member in whole.members or ()] == sorted(entry.path for entry in FOLDER)
    (empty,) = plan([CaseFile("none.zip", "docs/a/x")], [Found("folder", "docs/a/x")], FOLDER)
    assert (empty.members, empty.size) == ((), 22)


def test_plan__folder_with_thousands_of_files__is_one_file() -> None:
    """The limit on the number of files does not count what an archive holds; its size counts, and is told."""
    staged = [Staged("d", "folder"), *(Staged(f"d/{number}", "file", 1) for number in range(5_000))]
    (made,) = plan([CaseFile("d.zip", "d")], [Found("folder", "d")], staged)
    assert len(made.members or ()) == 5_000
    large = [*staged, Staged("d/large", "file", MAX_FILE_BYTES)]
    (message,) = refusals([CaseFile("d.zip", "d")], [Found("folder", "d")], large)
    assert message.startswith("the file 'd.zip': with 5001 members in it, the archive has 67")
    assert message.endswith("bytes; a file may have at most 67108864")


def test_plan__member_whose_name_is_not_utf8__is_refused() -> None:
    """An archive cannot name it; the message can be printed."""
    staged = [Staged("d", "folder"), Staged("d/\udcff", "file", 1)]
    (message,) = refusals([CaseFile("d.zip", "d")], [Found("folder", "d")], staged)
    assert message == "the file 'd.zip: \\udcff': the file name is not UTF-8"


MEMBERS = st.builds(
    Staged, st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=9),
    st.sampled_from(["file", "folder"]), st.integers(0, 40),
).map(lambda one: one if one.kind == "file" else attrs.evolve(one, size=0))  # fmt: skip


@given(st.lists(MEMBERS, max_size=8, unique_by=archive_name))
def test_archive_size__is_that_of_an_uncompressed_zip(members: list[Staged]) -> None:
    """What the plan says an archive will have is what one has."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for member in members:
            archive.writestr(zipfile.ZipInfo(archive_name(member)), b"x" * member.size)
    assert archive_size(members) == len(made.getvalue())


def test_archive_size__very_many_members__counts_the_longer_end() -> None:
    """Above 65,535 members a ZIP archive has a second directory end."""
    members = [Staged(str(number), "file") for number in range(0xFFFF + 1)]
    made = io.BytesIO()
    for mode, added in (("w", members[:-1]), ("a", members[-1:])):
        with zipfile.ZipFile(made, mode, zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]  # either mode
            for member in added:
                archive.writestr(zipfile.ZipInfo(member.path), b"")
        assert archive_size(members[: len(archive.filelist)]) == len(made.getvalue())


def test_unexpected__other_content_than_declared__is_named() -> None:
    """A stated SHA-256 must be that of the captured file; one that is not stated may be anything."""
    declared = [CaseFile("a", "x", H), CaseFile("b", "x", H), CaseFile("c", "x")]
    captured = [CapturedFile("a", 1, H), CapturedFile("b", 1, OTHER), CapturedFile("c", 1, OTHER)]
    (problem,) = unexpected(declared, captured)
    assert problem.code == "BK339"
    assert problem.message == f"the file 'b': its SHA-256 is {OTHER}, not {H} as declared"


def test_captured_of__case_of_a_setup__says_what_was_captured() -> None:
    """The declaration of a case that came out of a setup carries size and SHA-256."""
    case = Case("c", 1, files=[CaseFile("a", "/view/a", H, 3)])
    assert captured_of(case) == (CapturedFile("a", 3, H),)
    assert captured_of(Case("c", 1)) == ()


def test_folder_name__is_the_hash_of_the_id() -> None:
    """Ids may be long, hold slashes, or differ in case only."""
    assert folder_name("c") == "2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"
    assert len({folder_name(case_id) for case_id in ("c", "C", "../c", "c" * 1000)}) == 4


FILES = (CapturedFile("a/b", 1, H), CapturedFile("c", 2, H))
PRESENT = {entry.path: entry for entry in (Staged("a", "folder"), Staged("a/b", "file", 1), Staged("c", "file", 2))}


@pytest.mark.parametrize(
    "changes, said",
    [
        ({}, []),
        ({"c": None}, ["c was removed"]),
        ({"c": Staged("c", "file", 3)}, ["c was changed"]),
        ({"c": Staged("c", "file", 2, links=2)}, ["c was replaced"]),
        ({"c": Staged("c", "other", 2)}, ["c was replaced"]),
        ({"d": Staged("d", "file", 2)}, ["d was added"]),
        ({"d": Staged("d", "folder")}, ["d was added"]),
        ({"a": Staged("a", "other")}, ["a was added"]),
        ({"a/b": None, "c": None, "x": Staged("x", "file")}, ["a/b was removed", "c was removed", "x was added"]),
    ],
)
def test_view_faults__any_difference__is_told(changes: dict[str, Any], said: list[str]) -> None:
    """The exact set of files and folders, their kinds, sizes and links."""
    present = {path: entry for path, entry in {**PRESENT, **changes}.items() if entry is not None}
    assert list(view_faults(FILES, present)) == said
