"""Laws of documents, their changes, and document trees."""

import copy
import dataclasses
import json
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENTS,
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    TargetDocument,
    UpdateDocumentChange,
    candidate_hash,
    check_candidate_files,
    check_documents,
    document_key,
    seed_hash,
)
from beaker.core.problems import Problem

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "documents.json").read_text(encoding="utf-8"))
HASH = "ab" * 32


def document(name: str = "a.md", content: str = "x", **more: Any) -> TargetDocument:
    return TargetDocument(**{"source_id": f"id {name!a}", "group": "faq", "name": name, "content": content, **more})


def codes(outcome: Any) -> list[str]:
    problems: tuple[Problem, ...] = outcome.failure()
    return [problem.code for problem in problems]


def test_seed_hash__vector() -> None:
    """The published vector of a target's seeds holds."""
    seeds = [TargetDocument(**one) for one in VECTORS["seeds"]]
    assert seed_hash(seeds) == seed_hash(seeds[::-1]) == VECTORS["seed_hash"]


def test_seed_hash__no_seeds__hashes_an_empty_list() -> None:
    """A target without seeds has the hash of `[]`."""
    assert seed_hash(()) == VECTORS["no_seeds_hash"] == sha256(b"[]").hexdigest()


def test_candidate_hash__vector() -> None:
    """The published vector of a candidate's files holds."""
    assert candidate_hash({(group, name): text for group, name, text in VECTORS["files"]}) == VECTORS["candidate_hash"]


@given(st.dictionaries(st.tuples(st.sampled_from(["a", "b"]), st.text("ab/é", min_size=1)), st.text(), max_size=5))
def test_candidate_hash__second_implementation__agrees(files: dict[tuple[str, str], str]) -> None:
    """A naive writing of the canonical JSON gives the same hash, and the order of the files does not matter."""
    listed = ",".join(
        "{"
        f'"content":{json.dumps(files[place], ensure_ascii=False)},'
        f'"group":{json.dumps(place[0])},"name":{json.dumps(place[1], ensure_ascii=False)}'
        "}"
        for place in sorted(files)
    )
    assert candidate_hash(files) == sha256(f"[{listed}]".encode()).hexdigest()
    assert candidate_hash(dict(reversed(files.items()))) == candidate_hash(files)


def test_document__fields__are_stored_settled() -> None:
    """Text is stripped, backslashes become slashes, content is kept as it is."""
    made = TargetDocument(source_id=" p ", group=" kb\n", name=" a\\b.md ", content=" x\r\n", version=" 7 ")
    assert (made.source_id, made.group, made.name, made.content, made.version) == ("p", "kb", "a/b.md", " x\r\n", "7")
    assert made.editable is True


@pytest.mark.parametrize(
    "field, wrong, error",
    [
        ("source_id", "", ValueError),
        ("source_id", 3, ValueError),
        ("source_id", "\ud800", ValueError),
        ("group", "a/b", ValueError),
        ("group", "_x", ValueError),
        ("name", "a:b.md", ValueError),
        ("name", "../a", ValueError),
        ("name", "/a", ValueError),
        ("name", "a//b", ValueError),
        ("name", "\udcff.md", ValueError),
        ("content", None, TypeError),
        ("content", b"x", TypeError),
        ("content", "\ud800", ValueError),
        ("version", 3, ValueError),
        ("version", " ", ValueError),
        ("editable", 1, TypeError),
    ],
)
def test_document__wrong_field__is_named(field: str, wrong: object, error: type[Exception]) -> None:
    """A document refuses a wrong field with the kind of error the contract gives, naming the field."""
    with pytest.raises(error, match=rf"TargetDocument\.{field}"):
        document(**{field: wrong})


def test_document__positional__is_refused() -> None:
    """Documents and changes are made with keywords only."""
    with pytest.raises(TypeError):
        TargetDocument("p", "faq", "a.md", "x")  # type: ignore[misc]


def test_changes__op__is_fixed_and_last() -> None:
    """`op` cannot be given, stands last, and takes part in the `asdict` shape."""
    create = CreateDocumentChange(group="faq", name="a", content="x")
    update = UpdateDocumentChange(source_id="p", group="faq", name="a", content="x", base_sha256=HASH.upper())
    delete = DeleteDocumentChange(source_id="p", group="faq", name="a", base_sha256=HASH, base_version="7")
    assert dataclasses.asdict(create) == {"group": "faq", "name": "a", "content": "x", "op": "create"}
    assert list(dataclasses.asdict(update)) == [
        "source_id",
        "group",
        "name",
        "content",
        "base_sha256",
        "base_version",
        "op",
    ]
    assert update.base_sha256 == HASH
    assert attrs.asdict(delete) == {
        "source_id": "p",
        "group": "faq",
        "name": "a",
        "base_sha256": HASH,
        "base_version": "7",
        "op": "delete",
    }
    assert all(isinstance(one, DocumentChange) for one in (create, update, delete))
    with pytest.raises(TypeError):
        CreateDocumentChange(group="faq", name="a", content="x", op="create")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="base_sha256"):
        dataclasses.replace(delete, base_sha256="abc")


def test_change_set__fields__are_settled_and_hashable() -> None:
    """Hashes are lower-cased, iterables become tuples, and the value can be hashed, copied and pickled."""
    create = CreateDocumentChange(group="faq", name="a", content="x")
    made = DocumentChangeSet(" r ", HASH.upper(), HASH, [create], ["faq"])  # type: ignore[arg-type]
    assert made == DocumentChangeSet("r", HASH, HASH, (create,), groups=("faq",))
    assert hash(made) == hash(pickle.loads(pickle.dumps(made))) == hash(copy.deepcopy(made))


@pytest.mark.parametrize("wrong", [None, 5, ["create"], [None]])
def test_change_set__changes_of_another_type__are_refused(wrong: Any) -> None:
    """Anything but an iterable of changes is a `TypeError`."""
    with pytest.raises(TypeError):
        DocumentChangeSet("r", HASH, HASH, wrong)


def test_change_set__assignment__is_refused() -> None:
    """A change set cannot be changed."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        DocumentChangeSet("r", HASH, HASH, ()).run_id = "s"  # type: ignore[misc]


@pytest.mark.parametrize(
    "name, other", [("a.md", "A.md"), ("é.md", "e\u0301.md"), ("straße", "STRASSE"), ("b/É", "B/e\u0301")]
)
def test_document_key__careless_spellings__are_one(name: str, other: str) -> None:
    """Case and Unicode form do not make a second document."""
    assert document_key("FAQ", name) == document_key("faq", other)


@pytest.mark.parametrize(
    "names, expected",
    [
        (["a.md", "b.md"], []),
        (["a.md", "a.md"], ["BK604"]),
        (["a.md", "A.md"], ["BK604"]),
        (["é", "e\u0301"], ["BK604"]),
        (["a", "a/b.md"], ["BK605"]),
        (["a/b.md", "A"], ["BK605"]),
        (["a/b/c", "a"], ["BK605"]),
        (["a/b/c", "a/b", "a"], ["BK605", "BK605", "BK605"]),
        (["ab", "a/b.md"], []),
        (["a\0b"], ["BK600"]),
        (["x" * 256], ["BK600"]),
        (["é" * 128], ["BK600"]),
        (["x" * 255], []),
        (["y/" * 512 + "z"], ["BK600"]),
        ([".git/hooks/pre-commit"], ["BK600"]),
        (["a/.GIT /x"], ["BK600"]),
        (["a/git~1/x"], ["BK600"]),
        (["a/.g\u200cit"], ["BK600"]),
        (["a/.beaker/beaker.yaml"], ["BK600"]),
        ([".gitignore", ".beakers/x"], []),
    ],
)
def test_check__names__form_a_tree(names: list[str], expected: list[str]) -> None:
    """Documents and candidate files obey the same rules about places."""
    documents = [document(name, source_id=str(number)) for number, name in enumerate(names)]
    outcome = check_documents(documents)
    assert (codes(outcome) if not is_successful(outcome) else []) == expected
    files = {("faq", name): "x" for name in names}
    if len(files) == len(names):
        candidate = check_candidate_files(["faq"], files)
        assert (codes(candidate) if not is_successful(candidate) else []) == expected


def test_check_documents__source_id_twice__is_refused() -> None:
    """Every document of a target has its own `source_id`."""
    outcome = check_documents([document("a", source_id="p"), document("b", source_id="p")])
    assert codes(outcome) == ["BK606"]
    assert outcome.failure()[0].where == "faq/b"


def test_check__one_document_too_large__is_named() -> None:
    """A document may have exactly the limit in UTF-8 bytes, and not one more."""
    largest = "é" * (MAX_DOCUMENT_BYTES // 2)
    assert is_successful(check_documents([document(content=largest)]))
    assert codes(check_documents([document(content=f"{largest}x")])) == ["BK602"]
    assert codes(check_candidate_files(["faq"], {("faq", "a"): f"{largest}x"})) == ["BK602"]


def test_check__all_documents_too_large__are_refused() -> None:
    """The documents of a target have a limit together."""
    content = "x" * MAX_DOCUMENT_BYTES
    assert is_successful(check_documents([document(str(n), content) for n in range(20)]))
    assert codes(check_documents([document(str(n), content) for n in range(21)])) == ["BK603"]
    assert codes(check_candidate_files(["faq"], {("faq", str(n)): content for n in range(21)})) == ["BK603"]


def test_check__too_many_documents__are_counted() -> None:
    """2,000 documents pass; with one more only their number is reported."""
    assert is_successful(check_documents([document(str(n)) for n in range(MAX_DOCUMENTS)]))
    assert codes(check_documents([document("same") for _ in range(MAX_DOCUMENTS + 1)])) == ["BK601"]
    assert codes(check_candidate_files((), {("faq", str(n)): "" for n in range(MAX_DOCUMENTS + 1)})) == ["BK601"]


def test_check_documents__several_faults__come_together() -> None:
    """One fault never hides another."""
    outcome = check_documents([document("a"), document("A"), document("a/b"), document("c\0")])
    assert sorted(codes(outcome)) == ["BK600", "BK604", "BK605"]


@pytest.mark.parametrize(
    "place, content, code",
    [
        (("FAQ", "a"), "x", "BK607"),
        (("other", "a"), "x", "BK607"),
        (("faq", "a\\b"), "x", "BK600"),
        (("faq", " a"), "x", "BK600"),
        (("faq", "c:d.md"), "x", "BK600"),
        (("faq", "a/../b"), "x", "BK600"),
        (("faq", ""), "x", "BK600"),
        (("faq", "\udcff"), "x", "BK600"),
        (("faq", "a"), "\ud800", "BK608"),
    ],
)
def test_check_candidate_files__bad_file__is_named(place: tuple[str, str], content: str, code: str) -> None:
    """A file that no document may be is refused, and the good one beside it is not blamed."""
    outcome = check_candidate_files(["faq"], {place: content, ("faq", "good"): "x"})
    assert codes(outcome) == [code]
    assert outcome.failure()[0].where == f"{place[0]}/{place[1]}"


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8)), max_size=6))
def test_check_candidate_files__anything__is_judged(files: list[tuple[str, str, str]]) -> None:
    """Every mapping gets an answer, and what passes can be hashed."""
    mapping = {(group, name): content for group, name, content in files}
    outcome = check_candidate_files({group for group, _ in mapping}, mapping)
    if is_successful(outcome):
        assert len(candidate_hash(mapping)) == 64
