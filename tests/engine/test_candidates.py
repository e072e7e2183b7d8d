"""Laws of candidate trees."""

from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.documents import TargetDocument
from beaker.core.repository_tree import RepositoryFile
from beaker.engine.candidates import (
    CandidateTree,
    changed_paths,
    tree_digest,
    tree_files,
    tree_from_files,
    tree_from_json,
    tree_to_json,
)
from beaker.engine.seeds import seed_tree, seeds_from_json, seeds_to_json

GROUPS = ("a", "b", "c")
TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
FILES = st.dictionaries(st.tuples(st.sampled_from(GROUPS), st.sampled_from(["x", "y/z", "é"])), TEXT, max_size=6)


@given(FILES)
def test_files__to_a_tree_and_back__are_the_same(files: dict[tuple[str, str], str]) -> None:
    """The tree has every group, and nothing is lost on the way through JSON."""
    tree = tree_from_files(GROUPS, files)
    assert tuple(tree.documents) == GROUPS
    assert tree_files(tree) == files
    assert tree_from_json(tree_to_json(tree)).unwrap() == tree


@given(FILES, FILES)
def test_digest__of_two_trees__is_equal_exactly_for_equal_content(one: Any, other: Any) -> None:
    """Order does not matter; any difference in a name or a text does."""
    first, second = tree_from_files(GROUPS, one), tree_from_files(reversed(GROUPS), dict(reversed(other.items())))
    assert (tree_digest(first) == tree_digest(second)) == (one == other)
    assert bool(changed_paths(first, second)) == (one != other)


def test_digest__of_a_tree__is_the_published_one() -> None:
    """Stored runs name trees by this digest: it must never change."""
    tree = CandidateTree({"faq": {"refund.md": "Zwölf Tage"}, "empty": {}})
    written = '{"documents":{"empty":{},"faq":{"refund.md":"Zwölf Tage"}}}'
    assert tree_digest(tree) == sha256(written.encode()).hexdigest()
    assert tree_digest(tree) == "5a50e366d267b6e41ade8010dc0ac91eb547515729df053c8ab00dc4129b6910"


EDITS = st.dictionaries(
    st.sampled_from(["a.py", "src/b.py"]),
    st.none() | st.builds(RepositoryFile, st.sampled_from(["100644", "100755"]), st.binary(max_size=4)),
)


@given(EDITS, EDITS)
def test_digest__of_repository_edits__is_equal_exactly_for_equal_edits(one: Any, other: Any) -> None:
    """Path, mode, content and deletion count; the JSON form and the contents give the tree again."""
    first, second = CandidateTree({"a": {"x": ""}}, one), CandidateTree({"a": {"x": ""}}, other)
    assert (tree_digest(first) == tree_digest(second)) == (one == other)
    assert bool(changed_paths(first, second)) == (one != other)
    contents = {sha256(file.content).hexdigest(): file.content for file in one.values() if file is not None}
    assert tree_from_json(tree_to_json(first), contents).unwrap() == first


def test_digest__of_an_edited_tree__is_the_published_one() -> None:
    """Stored runs name trees by this digest: it must never change."""
    tree = CandidateTree({}, {"b": None, "a": RepositoryFile("100755", b"x")})
    written = '{"documents":{},"repository":{"a":{"mode":"100755","sha256":"%s"},"b":null}}'
    assert tree_digest(tree) == sha256((written % sha256(b"x").hexdigest()).encode()).hexdigest()


def test_tree_from_json__without_a_content__is_refused() -> None:
    """A tree is whole or none; what is no tree is refused too."""
    tree = tree_to_json(CandidateTree({}, {"a": RepositoryFile("100755", b"x")}))
    assert [(one.code, one.where) for one in tree_from_json(tree).failure()] == [("BK501", "a")]
    assert [one.code for one in tree_from_json({"documents": 7}).failure()] == ["BK501"]


@given(FILES)
def test_seeds__kept_as_facts__come_back_whole(files: dict[tuple[str, str], str]) -> None:
    """Contents come from the tree, everything else from the facts."""
    documents = tuple(
        TargetDocument(
            source_id=f"{group}-{name}",
            group=group,
            name=name,
            content=content,
            version="7" if number % 2 else None,
            editable=number % 3 > 0,
        )
        for number, ((group, name), content) in enumerate(sorted(files.items()))
    )
    assert seeds_from_json(seeds_to_json(reversed(documents)), seed_tree(GROUPS, documents)) == documents
