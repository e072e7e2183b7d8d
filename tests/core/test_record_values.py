"""Answers on record of decisions about targets, documents, change sets, cases and plain values."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from beaker.core import text, values
from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.changesets import apply, change_set_from_json, derive, invert, plan, render_diff
from beaker.core.documents import (
    MAX_DOCUMENT_BYTES,
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    TargetDocument,
    UpdateDocumentChange,
    check_candidate_files,
    check_documents,
    content_sha256,
    name_fault,
)
from beaker.core.fields import count, optional_str, score_value, truth
from beaker.core.reserved_names import reserved_part
from beaker.core.scoring import objective_score
from beaker.core.strict_json import json_object, json_value, parse
from beaker.core.targets import (
    DocumentTargets,
    RepositoryTargets,
    compare_targets,
    documents,
    normalize_targets,
    parse_declaration,
    repository,
)

VECTORS = Path(__file__).parents[1] / "vectors"
LONG = "x" * 300
Table = tuple[Callable[..., object], list[Any]]
"""A decision, and the arguments of each row."""


def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def first(rows: list[Any], number: int) -> list[Any]:
    """The first `number` columns of each row: what is given, without what is expected."""
    return [row[:number] for row in rows]


def each(*arguments: Any) -> list[Any]:
    """Rows of one argument."""
    return [[argument] for argument in arguments]


def keyword(decide: Callable[..., object]) -> Callable[[Mapping[str, Any]], object]:
    return lambda given: decide(**given)


STORE = [
    TargetDocument(source_id="s-1", group="faq", name="a.md", content="old", version="1"),
    TargetDocument(source_id="s-2", group="faq", name="b.md", content="fixed", editable=False),
]
CREATE = CreateDocumentChange(group="faq", name="new.md", content="made\n")
UPDATE = UpdateDocumentChange(
    source_id="s-1", group="faq", name="a.md", content="new", base_sha256=content_sha256("old"), base_version="1"
)
DELETE = DeleteDocumentChange(source_id="s-1", group="faq", name="a.md", base_sha256=content_sha256("old"))
CHANGE_SET = {
    "format": "beaker.document-changes/1",
    "run_id": "r",
    "groups": ["faq"],
    "seed_hash": "0" * 64,
    "candidate_hash": "1" * 64,
    "changes": [],
}


def change_set(changes: list[DocumentChange], groups: list[str]) -> DocumentChangeSet:
    return DocumentChangeSet(
        run_id="r", groups=groups, seed_hash="0" * 64, candidate_hash="1" * 64, changes=tuple(changes)
    )


TABLES: dict[str, Table] = {
    "declaration": (parse_declaration, first(vectors("targets")["declarations"], 1)),
    "declaration elsewhere": (lambda data: parse_declaration(data, "there"), each(None, 7, [], [{"kind": "x"}, 3])),
    "comparison": (
        lambda left, right: compare_targets(left, parse_declaration(right).unwrap()),
        first(vectors("targets")["pairs"], 2),
    ),
    "comparison of nonsense": (
        lambda data: compare_targets(data, (repository(),)),
        each(None, 7, {"kind": "x"}, {"kind": "repository", "paths": [LONG] * 3}, {"a": float("nan")}),
    ),
    "targets": (
        normalize_targets,
        each(
            None,
            (),
            [],
            "x",
            3,
            [3],
            [repository(), repository()],
            [documents(groups=("a",)), documents(groups=("A",))],
        ),
    ),
    "repository target": (
        RepositoryTargets,
        each((), "src", 7, (7,), ("",), ("/x",), ("..",), ("a", "a"), ("a", "a/b"), (LONG,), (".beaker/x",), (".git",)),
    ),
    "document target": (
        lambda groups: DocumentTargets(groups),
        each((), "kb", 7, (7,), ("",), ("a/b",), ("a", "A"), (LONG,), ("beaker-repository",), (" a ",)),
    ),
    "json": (
        json_value,
        [
            [bad, "it"]
            for bad in (
                float("nan"),
                float("-inf"),
                {7: 1},
                {"a": [object()]},
                "\ud800",
                {"\ud800": 1},
                b"x",
                {1, 2},
                1.5,
                (1,),
            )
        ],
    ),
    "json object": (json_object, [[bad, "it"] for bad in (None, [], "x", {"a": float("nan")}, {"a": 1})]),
    "json text": (
        parse,
        [
            [bad, "it"]
            for bad in (
                '{"a":1,"a":2}',
                "NaN",
                "-Infinity",
                '"\\ud800"',
                "\ufeff[1]",
                b"\xff",
                b"\xef\xbb\xbf1",
                "[" * 300,
            )
        ],
    ),
    "text": (
        lambda rule, given: getattr(text, rule)(given, "it"),
        [
            [rule, given]
            for rule in (
                "text",
                "optional_text",
                "relative_path",
                "name",
                "sha256_hex",
                "optional_sha256_hex",
                "canonical_model",
            )
            for given in (
                None,
                "",
                " ",
                7,
                "a",
                " a b ",
                "../a",
                "/a",
                "a\nb",
                "C:x",
                "x" * 77,
                "/" + "x" * 77,
                "/" + "x" * 78,
                LONG,
                "0" * 64,
                "openai:x:y",
                "OpenAI:x",
                b"x",
            )
        ],
    ),
    "visible": (
        lambda given: [text.visible(given), text.one_line(given)],
        each("a\x1b[0m\r\nb\u202e", "\x7f\x85", "é", "\ud800 \t", "plain"),
    ),
    "fields": (
        lambda rule, given: {"score": score_value, "count": count, "truth": truth, "text": optional_str}[rule](
            given, "it"
        ),
        [
            [rule, given]
            for rule in ("score", "count", "truth", "text")
            for given in (None, True, 0, 1, -1, 2, 0.5, float("nan"), "x", "")
        ],
    ),
    "objective": (
        objective_score,
        [
            [{}, None],
            [{"a": float("nan")}, None],
            [{"a": 1.0}, {"b": 1.0}],
            [{"a": 1.0}, {"a": 0.0}],
            [{"a": 1.0}, {"a": -1.0}],
            [{"a": 0.5, "b": 1.0}, {"a": 3.0, "b": 1.0}],
            [{"a": 2.0}, None],
            [{"a": "x"}, None],
            [{"a": 1.0}, {"a": float("inf")}],
        ],
    ),
    "change set": (
        lambda more: change_set_from_json({**CHANGE_SET, **more}),
        each(
            {},
            {"format": "x"},
            {"format": None},
            {"changes": None},
            {"changes": [7]},
            {"changes": [{"op": "x"}]},
            {"extra": 1},
            {"groups": []},
            {"seed_hash": "x"},
            {"run_id": ""},
        ),
    ),
    "change set that is none": (change_set_from_json, each(None, [], "x", {}, {"format": "beaker.document-changes/2"})),
    "operation": (
        lambda change: change_set_from_json({**CHANGE_SET, "changes": [change]}),
        each(
            7,
            {},
            {"op": "create", "group": "faq", "name": "a.md", "content": "x"},
            {"op": "create", "group": " faq ", "name": "a.md", "content": "x"},
            {"op": "create", "group": "faq", "name": "./a.md", "content": "x"},
            {"op": "create", "group": "faq", "name": "a.md", "content": 7},
            {"op": "create", "group": "faq", "name": "a.md", "content": "x", "extra": 1},
            {"op": "delete", "group": "faq", "name": "a.md", "source_id": "s", "base_sha256": "x"},
            {"op": "update", "group": "faq", "name": "a.md", "source_id": "s", "base_sha256": "0" * 64},
        ),
    ),
    "plan": (
        lambda changes, groups: plan(STORE, change_set(changes, groups)),
        [
            [[CREATE], ["faq"]],
            [[CREATE, CREATE], ["faq"]],
            [[CREATE], ["other", "b"]],
            [[UPDATE, DELETE], ["faq"]],
            [[evolve(UPDATE, base_sha256="1" * 64)], ["faq"]],
            [[evolve(UPDATE, base_version="2")], ["faq"]],
            [[evolve(UPDATE, source_id="gone", name="gone.md")], ["faq"]],
            [[evolve(UPDATE, content="old")], ["faq"]],
            [[evolve(CREATE, name="a.md")], ["faq"]],
            [[evolve(CREATE, name="A.MD")], ["faq"]],
            [[evolve(CREATE, name="a.md/b.md")], ["faq"]],
            [[evolve(CREATE, content="x" * (MAX_DOCUMENT_BYTES + 1))], ["faq"]],
            [[evolve(CREATE, content="x" * MAX_DOCUMENT_BYTES)], ["faq"]],
            [[evolve(CREATE, content="é" * (MAX_DOCUMENT_BYTES // 2 + 1))], ["faq"]],
            [[evolve(DELETE, name="gone.md")], ["faq"]],
            [[evolve(CREATE, name=".git/x")], ["faq"]],
        ],
    ),
    "plan over two of one name": (
        lambda: plan([*STORE, evolve(STORE[0], source_id="s-9", name="A.md")], change_set([UPDATE], ["faq"])),
        [[]],
    ),
    "derivation": (
        lambda files, seeds: derive("r", ["faq"], seeds, files),
        [
            [{("faq", "a.md"): "old", ("faq", "b.md"): "fixed"}, STORE],
            [{("faq", "a.md"): "new", ("faq", "c.md"): "made"}, STORE],
            [{("faq", "a.md"): "old", ("faq", "b.md"): "edited"}, STORE],
            [{("faq", "A.md"): "old", ("faq", "b.md"): "fixed"}, STORE],
            [{("other", "a.md"): "old", ("faq", "b.md"): "fixed"}, STORE],
            [{}, STORE],
            [{}, [evolve(STORE[0], group="elsewhere")]],
            [{("faq", ".git/x"): "", ("faq", "b.md"): "fixed"}, STORE],
            [{("faq", "n" * 400): "\ud800", ("faq", "b.md"): "fixed"}, STORE],
        ],
    ),
    "apply and invert": (
        lambda changes: [apply(STORE, change_set(changes, ["faq"])), invert(STORE, change_set(changes, ["faq"]))],
        [[[CREATE]], [[UPDATE]], [[DELETE]], [[CREATE, UPDATE]], [[evolve(UPDATE, base_sha256="1" * 64)]]],
    ),
    "diff": (
        lambda changes, shown: render_diff(STORE if shown else None, change_set(changes, ["faq"])),
        [[[one], shown] for one in (CREATE, UPDATE, DELETE) for shown in (True, False)] + [[[], True]],
    ),
    "documents": (
        check_documents,
        each(
            STORE,
            [*STORE, evolve(STORE[0], source_id="s-3", name="A.md")],
            [*STORE, evolve(STORE[0], name="c.md")],
            [*STORE, evolve(STORE[0], source_id="s-3", name="a.md/c")],
            [evolve(STORE[0], content="x" * (MAX_DOCUMENT_BYTES + 1))],
        ),
    ),
    "candidate files": (
        check_candidate_files,
        [
            [["faq"], {("faq", "a.md"): "x"}],
            [["faq", "b"], {("c", "a.md"): "x", ("faq", " a"): "", ("faq", "a\\b"): "", ("faq", "x/.beaker"): ""}],
            [[], {("c", "a.md"): "x"}],
            [["faq"], {("faq", "n" * 400 + "/.."): "", ("faq", "n" * 291 + "/.."): "", ("faq", "n" * 293 + "/.."): ""}],
            [["faq"], {("faq", "a"): "", ("faq", "A"): "", ("faq", "a/b"): ""}],
            [["faq"], {("faq", "b"): "\ud800"}],
        ],
    ),
    "name of a document": (name_fault, each("a", "", "/a", " a", "a\\b", ".git", "a/.beaker/b", "..", "a//b")),
    "document": (
        keyword(TargetDocument),
        each(
            {"source_id": "s", "group": "g", "name": "n", "content": "c"},
            {"source_id": "", "group": "g", "name": "n", "content": "c"},
            {"source_id": "s", "group": "g/x", "name": "n", "content": "c"},
            {"source_id": "s", "group": "g", "name": "../n", "content": "c"},
            {"source_id": "s", "group": "g", "name": "n", "content": 7},
            {"source_id": "s", "group": "g", "name": "n", "content": "\ud800"},
            {"source_id": "s", "group": "g", "name": "n", "content": "c", "version": ""},
            {"source_id": "s", "group": "g", "name": "n", "content": "c", "editable": 1},
        ),
    ),
    "document changes": (
        lambda kind, given: {
            "create": CreateDocumentChange,
            "update": UpdateDocumentChange,
            "delete": DeleteDocumentChange,
        }[kind](**given),
        [
            ["create", {"group": "g", "name": "n", "content": 7}],
            ["create", {"group": "", "name": "n", "content": "c"}],
            ["update", {"source_id": "s", "group": "g", "name": "n", "content": "c", "base_sha256": "x"}],
            ["delete", {"source_id": "s", "group": "g", "name": "n", "base_sha256": "x"}],
        ],
    ),
    "scores": (
        CaseScore,
        [
            [2.0, {}],
            ["x", {}],
            [True, {}],
            [1.0, {"a": "x"}],
            [1.0, {"": 1.0}],
            [1.0, {"a": 1.0, " a ": 1.0}],
            [1.0, {}, [7]],
            [1.0, {}, "x"],
            [1.0, {}, (), ["x"]],
            [0.5, {"a": 0.5}],
        ],
    ),
    "checks": (
        keyword(Check),
        each(
            {"name": 7, "verdict": "pass"},
            {"name": " ", "verdict": "pass"},
            {"name": "a", "verdict": "x"},
            {"name": "a", "verdict": 2},
            {"name": "a", "verdict": None},
            {"name": "a", "verdict": "pass", "message": 7},
            {"name": "a", "verdict": "pass", "group": 7},
            {"name": "a", "verdict": "pass", "description": 7},
            {"name": "a", "verdict": "pass", "informational": 1},
            {"name": "a", "verdict": "pass", "expected": float("nan")},
            {"name": "a", "verdict": "pass", "predicted": {1: 2}},
            {"name": "a", "verdict": 0.5, "expected": 1},
        ),
    ),
    "field diffs": (FieldDiff, [["", 1, 1], [7, 1, 1], ["a", float("nan"), 1], ["a", 1, object], ["a", 1, 2]]),
    "reserved part": (reserved_part, each("a/.git/b", "a/.GIT", ".beaker/x", "a/b", "GIT~1", ".git ")),
    "frozen": (
        lambda change: change(values.read_only({"a": 1})),
        each(lambda d: d.update(b=1), lambda d: d.__setitem__("a", 2), lambda d: d.pop("a"), lambda d: d.clear()),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str, on_record: Callable[..., None]) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    on_record(name, *TABLES[name])
