"""Answers on record of decisions about the Spec generation: names, paths, prompts, datasets, models and evidence."""

from collections.abc import Callable
from typing import Any

import pytest

from beaker.core.context_search import context_texts, search_terms, snippets
from beaker.core.dataset_sources import choose_dataset
from beaker.core.inference import choose_spec_target, spec_model
from beaker.core.reasoning_effort import nearest_effort
from beaker.core.resource_trees import prompt_file_names, resource_name, tree_path

TEXTS = ["kb", "A.b-c_1", "prompts", "beaker-repository", " kb", "a/b", "", ".x", "é", 7, None, "x" * 200]
PATHS = ["a.md", "a//b", "a\\b", " a b ", "/a", "a/", "c:x", "a/../b", "./a", "", 7, ".hidden/x"]
ADDRESSES = ["d", "C:\\d", "file:///a%20b", "file://host/d", "s3://b/p/", "s3://b", "s3:///p", "https://x/y", " "]
CONTEXT = {
    "page": "Total: 12.50\nEUR",
    "files": [{"name": "a", "content": "12.50"}, {"filename": "b", "x": 1}, "12.50", 3],
    "map": {"total": "12.50"},
    "number": 12.5,
}

Table = tuple[Callable[..., object], list[Any]]

TABLES: dict[str, Table] = {
    "resource_names": (resource_name, [[given, "a resource's name"] for given in TEXTS]),
    "tree_paths": (tree_path, [[given, "a path"] for given in PATHS]),
    "prompt_files": (prompt_file_names, [[["system", "with blank", "Two", "two", "x" * 97]], [[]]]),
    "dataset_sources": (
        choose_dataset,
        [[[{"uri": address}], {}] for address in ADDRESSES]
        + [[[], {key: "/d"}] for key in ("local_dataset_path", "dataset_uri", "datasetArtifactUri", "other")]
        + [[[{"kind": "report", "uri": "/r"}, {"kind": "dataset", "s3Uri": "s3://b/d"}], {"dataset_uri": "/d"}]],
    ),
    "spec_models": (
        spec_model,
        [["p:m", "x", "y"], [None, "p:m", "q"], [None, "p/m", "p"], [None, "p/m", None], [None, "m", None]],
    ),
    "spec_targets": (
        choose_spec_target,
        [
            ["p:m", {"BEAKER_WRITEBACK_BASE_URL": "http://w/"}],
            ["m", {"BEAKER_WRITEBACK_BASE_URL": "http://w/", "BEAKER_RUN_TOKEN": "t"}],
            [None, {"BEAKER_INFERENCE_BASE_URL": "http://g", "BEAKER_RUN_TOKEN": "t"}],
        ],
    ),
    "efforts": (
        lambda budget, base, supported: nearest_effort(budget, base=base, supported=supported),
        [[budget, 100, ["low", "medium", "high", "max"]] for budget in (0, 35, 64, 65, 66, 100, 1000)]
        + [[50, 100, ["unheard"]]],
    ),
    "search_terms": (
        search_terms,
        [
            ["total", expected, {"total": ["Amount"]}]
            for expected in ("12.50", "Acme Inc.", ["a", "pear"], None, True, "ab")
        ]
        + [["due_date.day", 7, {}]],
    ),
    "snippets": (
        lambda keys, terms: list(snippets(context_texts(CONTEXT, keys), terms)),
        [[None, ["12.50"]], [["files"], ["12.50"]], [None, ["eur", "x"]], [["absent"], ["12.50"]]],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str, on_record: Callable[..., None]) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    on_record(name, *TABLES[name])
