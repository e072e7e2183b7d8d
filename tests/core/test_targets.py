"""Laws of targets: their rules, the declaration and its comparison."""

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.targets import (
    DocumentTargets,
    OptimizationTarget,
    RepositoryTargets,
    TargetMismatch,
    compare_targets,
    declaration_json,
    documents,
    normalize_targets,
    parse_declaration,
    repository,
    target_groups,
)

paths = st.lists(
    st.from_regex(r"[a-z]{1,3}(/[a-z.]?[a-z]{1,3}){0,2}", fullmatch=True), min_size=1, max_size=4, unique=True
)
group_names = st.lists(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,4}", fullmatch=True),
    min_size=1,
    max_size=5,
    unique_by=str.casefold,
)
repositories = st.just(repository()) | paths.map(repository)


@st.composite
def target_tuples(draw: st.DrawFn) -> tuple[OptimizationTarget, ...]:
    groups = draw(group_names)
    cut = draw(st.integers(0, len(groups)))
    made: list[OptimizationTarget] = [DocumentTargets(part) for part in (groups[:cut], groups[cut:]) if part]
    if draw(st.booleans()):
        made.insert(draw(st.integers(0, len(made))), draw(repositories))
    return tuple(made)


@given(target_tuples())
def test_normalize__is_idempotent(targets: tuple[OptimizationTarget, ...]) -> None:
    """A tuple of good targets stays as it is, as list or tuple; a lone target becomes a tuple of one."""
    assert normalize_targets(targets) == targets == normalize_targets(list(targets))
    assert normalize_targets(targets[0]) == (targets[0],)


@given(target_tuples())
def test_target__behaves_as_a_value(targets: tuple[OptimizationTarget, ...]) -> None:
    """Targets copy, pickle, hash and are rebuilt by `replace`; their kind is no argument."""
    for target in targets:
        for same in (copy.copy(target), copy.deepcopy(target), pickle.loads(pickle.dumps(target))):
            assert same == target
            assert hash(same) == hash(target)
        assert dataclasses.replace(target) == target
        assert dataclasses.asdict(target)["kind"] == target.kind
        with pytest.raises(TypeError):
            type(target)(("a",), "repository")  # type: ignore[call-arg]  # the point of the test


def test_normalize__other_shapes__are_refused() -> None:
    """Only a target or a sequence of targets will do."""
    for wrong in (None, {repository()}, iter([repository()]), {"a": repository()}, "x", 3, (), [], [repository(), "x"]):
        with pytest.raises(TypeError, match="target"):
            normalize_targets(wrong)


def test_target__one_bare_string__is_a_wrong_type() -> None:
    """Letters of a name are no names: a lone string is refused, and the message shows how one is written."""
    with pytest.raises(TypeError, match=r"write \('kb',\)"):
        documents(groups="kb")
    with pytest.raises(TypeError, match=r"write \('src',\)"):
        RepositoryTargets("src")


def test_normalize__groups_across_targets() -> None:
    """Group names are unique ignoring case over all targets; the reserved name is refused in its exact case."""
    with pytest.raises(ValueError, match="both 'kb' and 'KB', the same group"):
        normalize_targets([documents(groups=("kb",)), documents(groups=("KB",))])
    with pytest.raises(ValueError, match="reserved"):
        normalize_targets(documents(groups=("beaker-repository",)))
    both = normalize_targets([documents(groups=("Beaker-Repository",)), repository(), documents(groups=("a",))])
    assert target_groups(both) == ("Beaker-Repository", "a")


def test_repository__order_and_spelling_matter_to_equality() -> None:
    """Paths keep their order and case; the word "all" is a path only inside a tuple."""
    assert repository(("a", "b")) != repository(["b", "a"])
    assert repository() == repository("all") == RepositoryTargets(None)
    assert repository(("all",)).paths == ("all",)
    assert repository(iter(["src", "src/app"])).paths == ("src", "src/app")
    for wrong in (None, 3, "src"):
        with pytest.raises(TypeError):
            repository(wrong)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(ValueError, match="names 'a' twice"):
        repository(("a", " a "))


@given(target_tuples())
def test_declaration__round_trips_canonically(targets: tuple[OptimizationTarget, ...]) -> None:
    """A declaration is JSON, reading it gives targets that declare the same, and they agree with the originals."""
    declared = json.loads(json.dumps(declaration_json(targets)))
    parsed = parse_declaration(declared).unwrap()
    assert declaration_json(parsed) == declared
    assert isinstance(declared, dict) == (len(targets) == 1)
    assert compare_targets(declared, targets) == compare_targets([declared][0], parsed)
    assert is_successful(compare_targets(declared, targets))


@pytest.mark.parametrize(
    "declared,imported",
    [
        ({"kind": "repository"}, repository()),
        ([{"kind": "repository", "paths": None}], repository()),
        ({"kind": "repository", "paths": ["src", " a\\b "]}, repository(("a/b", "src"))),
        ({"kind": "documents", "groups": ["b", "a"]}, documents(groups=("a", "b"))),
    ],
)
def test_compare__same_meaning__agrees(declared: Any, imported: OptimizationTarget) -> None:
    """Spelling that changes nothing makes no mismatch."""
    assert is_successful(compare_targets(declared, (imported,)))


@pytest.mark.parametrize(
    "declared,imported",
    [
        ({"kind": "repository", "paths": ["a"]}, [repository()]),
        ({"kind": "repository", "paths": ["a"]}, [repository(("a", "a/b"))]),
        ({"kind": "documents", "groups": ["A"]}, [documents(groups=("a",))]),
        ({"kind": "documents", "groups": ["a", "b"]}, [documents(groups=("a",)), documents(groups=("b",))]),
        ([{"kind": "documents", "groups": ["a"]}, {"kind": "repository"}], [repository(), documents(groups=("a",))]),
    ],
)
def test_compare__other_meaning__shows_both(declared: Any, imported: list[OptimizationTarget]) -> None:
    """A mismatch carries both declarations, and its text has them."""
    mismatch = compare_targets(declared, imported).failure()
    assert isinstance(mismatch, TargetMismatch)
    assert mismatch.imported == declaration_json(imported)
    assert mismatch.declared == declaration_json(parse_declaration(declared).unwrap())
    assert json.dumps(mismatch.imported, sort_keys=True, separators=(",", ":")) in mismatch.message
    assert mismatch.hint


def test_compare__malformed_declaration__is_a_mismatch_that_says_why() -> None:
    """A declaration that cannot be read does not agree with anything, and both are shown."""
    mismatch = compare_targets({"kind": "docs"}, [repository()]).failure()
    assert "not valid" in mismatch.message
    assert mismatch.declared == {"kind": "docs"}
    assert mismatch.imported == {"kind": "repository", "paths": None}


@pytest.mark.parametrize(
    "declared,where,words",
    [
        (None, "targets", "must be an object"),
        ("all", "targets", "must be an object"),
        ([], "targets", "at least one target"),
        ([[{"kind": "repository"}]], "targets[0]", "must be an object"),
        ({}, "targets", "kind must be 'repository' or 'documents'"),
        ({"kind": "Repository"}, "targets", "kind must be"),
        ({"kind": ["repository"]}, "targets", "kind must be"),
        ({"kind": "repository", "path": ["a"]}, "targets", "no key 'path'"),
        ({"kind": "repository", "paths": "all"}, "targets", "list of strings"),
        ({"kind": "repository", "paths": ("a",)}, "targets", "list of strings"),
        ({"kind": "repository", "paths": [1]}, "targets", "list of strings"),
        ({"kind": "repository", "paths": []}, "targets", "at least one path"),
        ({"kind": "repository", "paths": ["a", " a"]}, "targets", "twice"),
        *(
            ({"kind": "repository", "paths": [path]}, "targets", "path")
            for path in (".", "src/", "./src", "a//b", "/src", "C:/x", "../x", "a/../b")
        ),
        ({"kind": "repository", "paths": [""]}, "targets", "non-empty"),
        ({"kind": "documents"}, "targets", "list of strings"),
        ({"kind": "documents", "groups": []}, "targets", "at least one group"),
        ({"kind": "documents", "groups": ["a"], "paths": ["b"]}, "targets", "no key 'paths'"),
        ([{"kind": "repository"}, {"kind": "documents", "groups": ["a", "A"]}], "targets[1]", "the same group"),
        ([{"kind": "repository"}, {"kind": "repository"}], "targets", "one repository target only"),
        ({"kind": "documents", "groups": ["beaker-repository"]}, "targets", "reserved"),
    ],
)
def test_parse__malformed__is_refused_with_its_place(declared: Any, where: str, words: str) -> None:
    """Every malformed declaration is one problem with a place and words that fit."""
    problem = parse_declaration(declared).failure()
    assert problem.code == "BK310"
    assert problem.where == where
    assert words in problem.message
    assert problem.hint


@pytest.mark.parametrize("paths", [["all"], ["src/**"], ["a", "A"], ["a", "a/b"], [".github"]])
def test_parse__paths_are_taken_literally(paths: list[str]) -> None:
    """There is no globbing, no folding of contained paths, and no magic word inside a list."""
    (target,) = parse_declaration({"kind": "repository", "paths": paths}).unwrap()
    assert target == RepositoryTargets(paths)
