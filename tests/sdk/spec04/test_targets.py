"""Prompts and resources: immutable, compared without order, and read from folders within limits."""

import copy
import hashlib
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.sdk.spec04 import DirectoryResource, FileRecord, OptimizationTargets, optimization_targets_from_prompts

TREES = st.dictionaries(
    st.sampled_from(["kb", "wiki", "a.b"]),
    st.dictionaries(st.sampled_from(["a.md", "b/c.md", "d"]), st.text(max_size=5), min_size=1),
)
PROMPTS = st.dictionaries(st.text(min_size=1).filter(str.strip), st.text(max_size=5), max_size=3)


def test_targets__fields__are_read_only_views() -> None:
    """Neither the attributes nor what they hold can be changed, and what was given is not kept."""
    prompts, tree = {"system": "Hi"}, {"a//b.md": "A"}
    targets = OptimizationTargets(prompts, resources={"kb": tree, "dir": DirectoryResource({"x": "X"})})
    prompts["system"], tree["c"] = "changed", "C"
    assert dict(targets.prompts) == targets.to_dict() == {"system": "Hi"}
    assert {name: dict(files) for name, files in targets.resources.items()} == {
        "kb": {"a/b.md": "A"},
        "dir": {"x": "X"},
    }
    for change in (
        lambda: setattr(targets, "prompts", {}),
        lambda: delattr(targets, "prompts"),
        lambda: setattr(targets, "other", {}),
        lambda: targets.prompts.__setitem__("a", "b"),  # type: ignore[attr-defined]  # a Mapping for readers
        lambda: targets.resources["kb"].__setitem__("a", "b"),  # type: ignore[attr-defined]  # as above
        lambda: setattr(DirectoryResource({"x": "X"}), "files", {}),
        lambda: delattr(DirectoryResource({"x": "X"}), "files"),
    ):
        with pytest.raises((AttributeError, TypeError)):
            change()


@given(PROMPTS, TREES)
def test_targets__order__does_not_matter(prompts: dict[str, str], trees: dict[str, dict[str, str]]) -> None:
    """Equal, hashed alike and of one id in any order; copies and pickles are the same; `from_dict` has the prompts."""
    targets = OptimizationTargets(prompts, resources=trees)
    turned = OptimizationTargets(
        dict(reversed(prompts.items())),
        resources={name: dict(reversed(files.items())) for name, files in reversed(trees.items())},
    )
    assert (targets, hash(targets), targets.candidate_id) == (turned, hash(turned), turned.candidate_id)
    assert targets.file_records == turned.file_records
    assert copy.deepcopy(targets) == targets == pickle.loads(pickle.dumps(targets))
    assert OptimizationTargets.from_dict(targets.to_dict()).prompts == prompts
    assert (targets != OptimizationTargets({**prompts, "more": ""}, resources=trees)) is True
    assert targets != OptimizationTargets(prompts, resources={**trees, "more": {"x": ""}})
    assert targets != prompts


def test_targets__file_records__are_every_file_in_order() -> None:
    """Those of prompts stand in `prompts`; each record has its text and that text's SHA-256."""
    targets = OptimizationTargets({"b b": "2", "a": "1"}, resources={"z": {"z": "Z"}, "kb": {"y": "Y", "x": "X"}})
    digest = hashlib.sha256(b"b b").hexdigest()
    assert [(one.resource, one.path, one.content) for one in targets.file_records] == [
        ("kb", "x", "X"),
        ("kb", "y", "Y"),
        ("prompts", "a.md", "1"),
        ("prompts", f"prompt-{digest}.md", "2"),
        ("z", "z", "Z"),
    ]
    assert targets.file_records[0] == FileRecord("kb", "x", "X", hashlib.sha256(b"X").hexdigest())


def test_targets__candidate_id__changes_with_every_part() -> None:
    """Another name, path or text is another candidate; nothing at all is one too."""
    variants = [
        OptimizationTargets(),
        OptimizationTargets({"a": "1"}),
        OptimizationTargets({"a": "2"}),
        OptimizationTargets({"b": "1"}),
        OptimizationTargets(resources={"kb": {"x": "1"}}),
        OptimizationTargets(resources={"kb": {"y": "1"}}),
        OptimizationTargets(resources={"wiki": {"x": "1"}}),
    ]
    assert len({one.candidate_id for one in variants}) == len(variants) == len(set(variants))
    assert all(len(one.candidate_id) == 64 for one in variants)


def test_targets__repr__shows_names_and_counts_only() -> None:
    """No text of a prompt or a file is printed."""
    targets = OptimizationTargets({"b": "secret", "a": "secret"}, resources={"kb": {"x": "secret", "y": "secret"}})
    assert repr(targets) == "OptimizationTargets(prompts=['a', 'b'], files={'kb': 2})"
    assert repr(DirectoryResource({"x": "secret"})) == "DirectoryResource(1 files)"


@pytest.mark.parametrize(
    "prompts, resources, error, words",
    [
        (["a"], None, TypeError, "prompts must be a mapping, not list"),
        (None, ["a"], TypeError, "resources must be a mapping, not list"),
        ({1: "x"}, None, TypeError, "a prompt's name must be a string, not int"),
        ({" ": "x"}, None, ValueError, "a prompt's name must not be empty"),
        ({"a": 1}, None, TypeError, r"prompts\['a'\] must be a string, not int"),
        (None, {"prompts": {"x": "X"}}, ValueError, "reserved"),
        (None, {"beaker-repository": {"x": "X"}}, ValueError, "reserved"),
        (None, {"a/b": {"x": "X"}}, ValueError, "a resource's name"),
        (None, {1: {"x": "X"}}, TypeError, "a resource's name must be a string"),
        (None, {"kb": {}}, ValueError, r"resources\['kb'\] must hold at least one file"),
        (None, {"kb": "text"}, TypeError, r"resources\['kb'\] must map paths to texts, not be str"),
        (None, {"kb": {"../x": "X"}}, ValueError, r"resources\['kb'\]: a path must be a path without"),
        (None, {"kb": {"a/b": "X", "a//b": "Y"}}, ValueError, "the path 'a/b' stands twice"),
        (None, {"kb": {"x": b"X"}}, TypeError, r"resources\['kb'\]\['x'\] must be a string, not bytes"),
    ],
)
def test_targets__wrong_parts__are_refused(prompts: Any, resources: Any, error: type[Exception], words: str) -> None:
    """Types and names are told apart, and where it is."""
    with pytest.raises(error, match=words):
        OptimizationTargets(prompts, resources=resources)


def test_from_prompts__stripped_names_and_texts__refuse_what_is_empty() -> None:
    """Names are stripped, values made text; an empty name, text or mapping is a wrong value."""
    assert optimization_targets_from_prompts({" a ": "A", 2: 3}) == OptimizationTargets({"a": "A", "2": "3"})
    for prompts, words in (
        ({}, "at least one"),
        ({" ": "x"}, "empty"),
        ({"a": " \n"}, "empty"),
        ({"a": "A", " a": "B"}, "twice"),
    ):
        with pytest.raises(ValueError, match=words):
            optimization_targets_from_prompts(prompts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a few files."""
    for name, content in {"a.md": "A", "b/c.md": "C", "b/d.txt": "D", "b/e/f.md": "ä"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_from_directory__patterns__give_the_matching_texts(folder: Path) -> None:
    """One pattern or several, each file once, folders left out; equal to the same files given by hand."""
    every = {"a.md": "A", "b/c.md": "C", "b/e/f.md": "ä"}
    assert DirectoryResource.from_directory(folder, include="**/*.md") == DirectoryResource(every)
    read = DirectoryResource.from_directory(str(folder), include=["*", "b/*.txt", "a.md"])
    assert dict(read.files) == {"a.md": "A", "b/d.txt": "D"}
    assert hash(read) == hash(DirectoryResource({"b/d.txt": "D", "a.md": "A"}))
    assert read != {"a.md": "A", "b/d.txt": "D"}
    (folder / "a.md").write_text("later")
    assert read.files["a.md"] == "A"
    assert copy.deepcopy(read) == read == pickle.loads(pickle.dumps(read))


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "b/../*", "C:/x", "\\x", "b\\..\\*", "", " ", 7])
def test_from_directory__pattern_that_leaves__is_refused(folder: Path, pattern: Any) -> None:
    """Absolute patterns, drives and parents, and what is no pattern."""
    with pytest.raises(ValueError, match="a pattern must"):
        DirectoryResource.from_directory(folder, include=[pattern])


def test_from_directory__nothing_or_no_folder__is_refused(folder: Path) -> None:
    """No pattern, no match, no folder, and a folder that is a link."""
    (folder / "link").symlink_to(folder / "b")
    for root, include, words in (
        (folder, "*.nothing", "no file below .* matches"),
        (folder, [], "at least one pattern"),
        (folder / "none", "*", "must be a folder"),
        (folder / "a.md", "*", "must be a folder"),
        (folder / "link", "*", "no symbolic link"),
    ):
        with pytest.raises(ValueError, match=words):
            DirectoryResource.from_directory(root, include=include)


def test_from_directory__limits__hold_exactly(folder: Path) -> None:
    """At a limit it is read, one below it is not; sizes are those in bytes."""
    exact = {"include": "**/*.md", "max_files": 3, "max_file_bytes": 2, "max_total_bytes": 4}
    assert len(DirectoryResource.from_directory(folder, **exact).files) == 3  # type: ignore[arg-type]  # by name
    for name, words in (
        ("max_files", "3 files .* more than the 2"),
        ("max_file_bytes", "more than 1 bytes"),
        ("max_total_bytes", "more than 3 bytes together"),
    ):
        with pytest.raises(ValueError, match=words):
            DirectoryResource.from_directory(folder, **{**exact, name: exact[name] - 1})  # type: ignore[operator, arg-type]


def test_from_directory__links_and_special_files__are_refused(folder: Path, tmp_path_factory: Any) -> None:
    """Whatever is no regular UTF-8 file of this folder is refused where a pattern names it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.md").write_text("X")
    (folder / "link.md").symlink_to(outside / "x.md")
    (folder / "linked").symlink_to(outside)
    (folder / "broken.md").symlink_to(folder / "none")
    (folder / "latin.md").write_bytes(b"\xff")
    os.mkfifo(folder / "pipe.md")
    for include, words in (
        ("link.md", "link.md is a symbolic link"),
        ("linked", "linked is a symbolic link"),
        ("linked/x.md", "linked is a symbolic link"),
        ("broken*.md", "symbolic link"),
        ("pipe.md", "no regular file"),
        ("latin.md", "not UTF-8"),
    ):
        with pytest.raises(ValueError, match=words):
            DirectoryResource.from_directory(folder, include=include)
