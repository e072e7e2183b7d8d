"""The published JSON Schema of the configuration file agrees with what reads the file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.config import TOP_KEYS, config_problems, parse_config
from beaker.core.config_entry import ENTRY_KEYS, SPEC_KEYS
from beaker.core.config_reader import LAUNCH_KEYS, WARNING_CODE
from beaker.core.config_schema import FILE, config_schema
from beaker.core.config_tree import tree_from_json
from beaker.core.optimizer import SETTING_HOMES, parse_launch_settings
from beaker.core.options import camel

ROOT = Path(__file__).parents[2]
VECTORS: dict[str, Any] = json.loads((ROOT / "tests" / "vectors" / "config.json").read_text("utf-8"))
PUBLISHED = ROOT / "docs" / "schemas" / FILE

KINDER = {
    # What the schema cannot say, or says of the value that YAML makes of a word.
    "[]", "text", "0", "false",
    "integrations:\n  7: {entrypoint: a:b}\n",
    "integrations:\n  true: {entrypoint: a:b}\n  ~: {}\n",
}  # fmt: skip


def valid(instance: object) -> bool:
    """Whether the schema takes `instance`; skipped where no validator is installed."""
    jsonschema = pytest.importorskip("jsonschema")
    found: bool = jsonschema.Draft202012Validator(config_schema()).is_valid(instance)
    return found


def plain_of(text: str) -> Any:
    """YAML text as JSON, and what Beaker says of it: whether there is a problem, or a key that means nothing."""
    yaml_tree = pytest.importorskip("beaker.files.yaml_tree")
    from beaker.core.config_tree import plain_json

    tree = yaml_tree.parse_yaml(text.encode(), "f").unwrap()
    return tree, plain_json(tree, file="f", path="$")[0]


def accepted(tree: Any) -> bool:
    read = parse_config(tree, "f")
    if not is_successful(read) or config_problems(read.unwrap()):
        return False
    return not any(warning.code == WARNING_CODE for warning in read.unwrap().warnings)


FILES = [
    *VECTORS["empty"],
    *(text for text, *_ in VECTORS["failures"]),
    *(text for text, *_ in VECTORS["warnings"]),
    *(f"integrations:\n  i: {written}\n" for written, _ in VECTORS["entry_fields"]),
    *(f"integrations:\n  i: {written}\n" for written, _ in VECTORS["entry_problems"]),
    "integrations:\n  i: {entrypoint: a:b, pip_install: ['; rm'], apt_install: [curl]}\n",
    "integrations:\n  i: {entrypoint: a:b, targets: []}\n",
    "integrations:\n  i: {entrypoint: a:b, targets: {kind: repository, paths: [src, a/b.py, .x, ...]}}\n",
    "integrations:\n  i: {entrypoint: a:b, targets: {kind: documents}}\n",
    "integrations:\n  i: {entrypoint: a:b, targets: {kind: documents, groups: [beaker-repository]}}\n",
    *(
        f"integrations:\n  i: {{entrypoint: a:b, targets: {{kind: repository, paths: ['{path}']}}}}\n"
        for path in ("", ".", "..", "a/../b", "../x", "/x", "C:/x", "a//b", "a/", "./a", "a/.", "a\\b", " a ", "a..b")
    ),
    *(
        f"integrations:\n  i: {{entrypoint: a:b, source_dir: '{path}'}}\n"
        for path in ("a/..", " /a", "..a", "a/../b", "./a")
    ),
    *(
        f"integrations:\n  i: {{entrypoint: '{text}'}}\n"
        for text in ("a.b:c", " a:b ", "a-b:c", "a:b.c", "1a:b", "é:ü", "a.py:b")
    ),
    *(f"specs:\n  i: {{target: '{text}'}}\n" for text in ("a.b:c", " a : b ", "a:b.c", "a.py", "a")),
    *(
        f"integrations:\n  i: {{entrypoint: a:b, {given}}}\n"
        for given in (
            "isolation: process", "isolation: sandbox", "isolation: jail", "isolation: sandbox, sandbox_network: true",
            "isolation: process, sandbox_network: true", "sandbox_network: true", "sandbox_network: false",
        )
    ),
    "spec: {target: 'a:b'}\nagent_key: k\n",
    "specs: {s: {target: 'a:b', entrypoint: 'a:b'}}\n",
    "default_spec: x\nproject_key: k\n",
]  # fmt: skip


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_schema__file__is_valid_when_beaker_has_nothing_to_say(text: str) -> None:
    """The schema takes a file exactly if Beaker finds neither a problem in it nor a key that means nothing."""
    tree, plain = plain_of(text)
    taken = valid(plain)
    if text in KINDER or (text_only(text) and not accepted(tree)):
        return
    assert taken == accepted(tree), text


def text_only(text: str) -> bool:
    """Whether the fault is one of those that need more than the shape of the file."""
    return any(part in text for part in ("beaker-sdk", ".nan", "groups: [1]"))


SETTINGS = [
    ({}, True), ({"max_concurrency": 1, "maxConcurrency": 1}, False), ({"max_concurrency": 0}, False),
    ({"maxConcurrency": 1000}, True), ({"max_concurrency": 1001}, False), ({"max_concurrency": True}, False),
    ({"case_retry_limit": 0}, True), ({"case_retry_limit": -1}, False), ({"test_baseline": 1}, False),
    ({"extra": {"a": [1]}}, True), ({"extra": []}, False), ({"unknown": 1}, False), ({"scorer_model": "a:b"}, False),
    ({"max_concurrency": None}, True), ({"seed": 1}, False),
]  # fmt: skip
OPTIMIZER = [
    ({"command": ["x"]}, True), ({"command": []}, False), ({"command": "x"}, False), ({"command": [1]}, False),
    ({"seed": -3}, True), ({"seed": 2**53}, False), ({"selection_fraction": 0}, False),
    ({"selectionFraction": 0.5}, True), ({"selection_fraction": 1}, False),
    ({"score_repeats": 1000}, True), ({"score_repeats": 1001}, False),
    ({"max_rollouts": 0}, False), ({"max_proposals": 1.5}, False), ({"engine": " "}, False),
    ({"engine_options": 1}, False),
    ({"proposer_env": ["lower_case"]}, True), ({"proposer_env": ["A", "A"]}, False), ({"proposer_env": ["1"]}, False),
    ({"timeouts": {"import": 0.5, "prepareRun": 3}}, True), ({"timeouts": {"import": 0}}, False),
    ({"timeouts": {"prepare_run": 1, "prepareRun": 1}}, False), ({"timeouts": {"sleep": 1}}, False),
    ({"limits": {"memoryMb": 64, "file_mb": 1, "candidate_seconds": 0.5}}, True),
    ({"limits": {"memory_mb": 63}}, False), ({"limits": {"result_mb": 65}}, False), ({"limits": {"cpu": 1}}, False),
    ({"prices": {"a:b": {"input": 0, "output": 1000000}}}, True), ({"prices": {"a": {"input": 0, "output": 1}}}, False),
    ({"prices": {"a:b": {"input": 0}}}, False), ({"prices": {"a:b": {"input": -1, "output": 0}}}, False),
    ({"reflection": {"base_url": "https://h/v1", "model": "m"}}, True), ({"reflection": {"model": "m"}}, False),
    ({"reflection": {"baseUrl": "http://h", "model": "m", "temperature": 0.1, "api_key_env": "K"}}, True),
    ({"reflection": {"base_url": "ftp://h", "model": "m"}}, False),
    ({"reflection": {"base_url": "http://h?q", "model": "m"}}, False),
    ({"reflection": {"base_url": "http://h", "model": "m", "max_output_tokens": 15}}, False),
    ({"reflection": {"base_url": "http://h", "model": "m", "provider": "a:b"}}, False),
    ({"reflection": {"base_url": "http://h", "model": "m", "api_key_env": "BEAKER_X"}}, False),
    ({"max_rolouts": 1}, False),
]  # fmt: skip


@pytest.mark.parametrize(("given", "good"), SETTINGS)
def test_schema__launch_settings__are_judged_alike(given: dict[str, Any], good: bool) -> None:
    """At the top and in an entry, the schema takes the settings that a run on this machine takes."""
    needed: dict[str, Any] = {"harness_optimization": {"command": ["x"]}}
    assert is_successful(parse_launch_settings({**needed, **given})) == good
    assert valid({"config_defaults": given}) == good
    assert valid({"integrations": {"i": {"entrypoint": "a:b", "config_defaults": given}}}) == good


@pytest.mark.parametrize(("given", "good"), OPTIMIZER)
def test_schema__optimizer__is_judged_alike(given: dict[str, Any], good: bool) -> None:
    """The same for what stands below `harness_optimization`."""
    proposer: dict[str, Any] = {} if {"command", "reflection"} & given.keys() else {"command": ["x"]}
    assert is_successful(parse_launch_settings({"harness_optimization": {**proposer, **given}})) == good
    assert valid({"config_defaults": {"harness_optimization": given}}) == good


def test_schema__selection_of_a_dataset__is_a_setting() -> None:
    """Every spelling of a selector and of the local folder stands beside the launch settings."""
    for key in (
        "dataset_ref",
        "datasetRef",
        "dataset",
        "dataset_id",
        "datasetId",
        "local_dataset_path",
        "localDatasetPath",
    ):
        assert valid({"config_defaults": {key: "d"}})
        assert not valid({"config_defaults": {key: 7}})
    assert not valid({"config_defaults": {"local_dataset_path": "d", "localDatasetPath": "d"}})


def test_schema__specs__have_settings_and_a_key_at_the_top() -> None:
    """What only the Spec generation has is taken where the file has a Spec, and nowhere else."""
    spec: dict[str, Any] = {"specs": {"s": {"target": "a:b"}}}
    for more in ({"agent_key": "k"}, {"project_key": "k"}, {"config_defaults": {"useHarnessOptimization": True}}):
        assert valid({**spec, **more})
        assert not valid(more)
    assert valid({"specs": {"s": {"target": "a:b", "config_defaults": {"scorer_model": "a:b"}}}})
    assert accepted(tree_from_json({**spec, "agent_key": "k"}))


def test_schema__every_key__is_known_to_it() -> None:
    """No key of the file, of an entry or of the settings is missing, in either spelling."""
    schema = config_schema()
    assert set(TOP_KEYS) <= schema["properties"].keys()
    parts = schema["$defs"]
    assert set(ENTRY_KEYS) == parts["integration"]["properties"].keys()
    assert set(SPEC_KEYS) == parts["spec"]["properties"].keys()
    assert {one for key in LAUNCH_KEYS for one in (key, camel(key))} <= parts["settings"]["properties"].keys()
    text = json.dumps(schema)
    assert [name for name in SETTING_HOMES if f'"{name}"' not in text] == []


@pytest.mark.skipif(not PUBLISHED.parent.exists(), reason="the schemas are not here")
def test_published_schema__is_this_one() -> None:
    """The file among the published schemas is what the code says; BEAKER_RECORD=1 writes it."""
    made = json.dumps(config_schema(), indent=2) + "\n"
    if os.environ.get("BEAKER_RECORD"):
        PUBLISHED.write_text(made, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == made
