"""The configuration file as a JSON Schema, for editors and other tools: `docs/schemas/beaker-yaml.json` is made here.

It says of the file read as YAML 1.2 what `core.config` and the launch settings say. Where the schema is kinder, the
file decides: what a word means (`7` as an agent's key), two names that differ in case only, and whatever needs two
places at once. Keys that mean nothing are refused here, for a typing mistake to be seen, and warned about by Beaker.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from beaker.core.config_entry import ENTRY_KEYS, SPEC_KEYS
from beaker.core.config_reader import DATASET_KEYS
from beaker.core.environment import (
    MAX_REQUIRED_ENV,
    RESERVED_ENVIRONMENT_NAMES,
    RESERVED_ENVIRONMENT_PREFIXES,
)
from beaker.core.launch import LOCAL_PATH_KEYS
from beaker.core.launch_options import SPEC_LAUNCH_KEYS
from beaker.core.limits import LARGEST_RESULT
from beaker.core.options import LARGEST, camel
from beaker.core.prices import DEAREST
from beaker.core.targets import REPOSITORY_GROUP
from beaker.core.values import ReadOnlyDict

FILE = "beaker-yaml.json"
"""The schema's name among the published ones."""


def config_schema() -> dict[str, Any]:
    """The schema, as JSON."""
    spec_settings, settings = {"$ref": "#/$defs/spec_settings"}, {"$ref": "#/$defs/settings"}
    has_specs = {"anyOf": [{"required": [key]} for key in ("spec", "specs", "default_spec")]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": ".beaker/beaker.yaml",
        "description": "What Beaker needs to know about a project. Keys of your own begin with x-, _ or a dot.",
        "type": ["object", "null"],
        "properties": _described({
            "integrations": {"type": "object", "additionalProperties": {"$ref": "#/$defs/integration"}},
            "default_integration": _word(),
            "config_defaults": {},
            "api": {"enum": ["local", "", None]},
            "specs": {"type": "object", "additionalProperties": {"$ref": "#/$defs/spec"}, "deprecated": True},
            "spec": {"$ref": "#/$defs/spec", "deprecated": True},
            "default_spec": _word(deprecated=True),
            "agent_key": _word(deprecated=True),
            "project_key": _word(deprecated=True),
        }),
        **_OWN_KEYS,
        "if": has_specs,
        "then": {"properties": {"config_defaults": spec_settings}},
        "else": {"properties": {"config_defaults": settings, "agent_key": False, "project_key": False}},
        "$defs": {
            "integration": _entry("entrypoint", ENTRY_KEYS, settings),
            "spec": _entry("target", SPEC_KEYS, spec_settings),
            "settings": _settings(_SETTINGS),
            "spec_settings": _settings(_SETTINGS | _SPEC_SETTINGS),
            "targets": _TARGETS,
        },
    }  # fmt: skip


_OWN_KEYS = {"patternProperties": {r"^(x-|_|\.)": {}}, "additionalProperties": False}


def _word(*, pattern: str | None = None, **more: Any) -> dict[str, Any]:
    """Text, or what YAML takes for a number, a switch or nothing where text is meant."""
    made = {"type": ["string", "number", "boolean", "null"]}
    return made | ({} if pattern is None else {"pattern": pattern}) | more


def _described(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {"description": _DESCRIPTIONS[key], **schema} if key in _DESCRIPTIONS else dict(schema)
        for key, schema in properties.items()
    }


def _entry(naming: str, keys: Iterable[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    properties = _described({key: settings if key == "config_defaults" else _ENTRY[key] for key in keys})
    return {
        "type": "object",
        "properties": properties,
        "required": [naming],
        **_OWN_KEYS,
        "if": {"properties": {"requires_scorer_model": {"const": True}}, "required": ["requires_scorer_model"]},
        "then": {"properties": {"scorer_model": {"type": "string"}}, "required": ["scorer_model"]},
        "allOf": [
            {
                "if": {"properties": {"sandbox_network": {"const": True}}, "required": ["sandbox_network"]},
                "then": {"properties": {"isolation": {"const": "sandbox"}}, "required": ["isolation"]},
            }
        ],
    }


def _settings(rules: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Launch settings and the selection of a dataset, each key in both spellings, at most one of the two."""
    properties = _spelled(rules)
    for key in DATASET_KEYS:
        properties[key] = {"type": ["string", "null"], "description": _DESCRIPTIONS["dataset"]}
    for key in LOCAL_PATH_KEYS:
        properties[key] = {"type": ["string", "null"], "description": _DESCRIPTIONS[LOCAL_PATH_KEYS[0]]}
    return {
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": False,
        "allOf": [*_one_spelling(rules), *_one_spelling(LOCAL_PATH_KEYS[:1])],
    }


def _options(rules: Mapping[str, Mapping[str, Any]], *, required: Iterable[str] = ()) -> dict[str, Any]:
    """An object of options, each key in both spellings."""
    needs = [{"anyOf": [{"required": [key]} for key in dict.fromkeys((name, camel(name)))]} for name in required]
    return {
        "type": "object",
        "properties": _spelled(rules),
        "additionalProperties": False,
        "allOf": [*_one_spelling(rules), *needs],
    }


def _spelled(rules: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {spelled: _or_null(rule) for name, rule in _described(rules).items() for spelled in (name, camel(name))}


def _one_spelling(names: Iterable[str]) -> list[dict[str, Any]]:
    """For each key of two spellings that it may not have both."""
    return [{"not": {"type": "object", "required": [name, camel(name)]}} for name in names if camel(name) != name]


def _or_null(rule: Mapping[str, Any]) -> dict[str, Any]:
    """`rule`, or null, which says as much as no key."""
    if "type" not in rule:
        return dict(rule)
    types = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    return {**rule, "type": [*types, "null"]}


def _whole(least: int, most: int = LARGEST) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


_DESCRIPTIONS: Mapping[str, str] = ReadOnlyDict({
    "integrations": "The project's Integrations, by id.",
    "default_integration": "The one that is meant when several exist and none is named.",
    "config_defaults": "Launch settings and the dataset of every run; those of an entry lie over those at the top.",
    "api": "`local`: run on this machine unless told otherwise.",
    "entrypoint": "module.path:attribute of your Integration.",
    "target": "module.path:attribute of your Spec's factory.",
    "source_dir": "The folder of your code, counted from the Git root.",
    "package_import_root": "The folder where imports start, counted from source_dir.",
    "required_env": "Names of the environment variables that your code may read.",
    "agent_key": "The agent that runs belong to.",
    "environment_base": "The image of a hosted build, as debian_slim:3.13.",
    "image_base": "An older name of environment_base.",
    "pip_install_from": "A further pyproject.toml for a hosted build, counted from the Git root.",
    "pip_install": "Packages for a hosted build: plain requirements.",
    "apt_install": "System packages for a hosted build.",
    "targets": "What may change; must say what Integration.targets says.",
    "scorer_model": "The judge that scoring uses, as provider:model.",
    "requires_scorer_model": "Whether scoring cannot do without a judge.",
    "isolation": "`process`: every case runs in a process of its own. `sandbox`: and that is confined.",
    "sandbox_network": "Whether confined processes reach the network.",
    "dataset": "The dataset of a run; one key of these at a time.",
    "local_dataset_path": "A folder with train.jsonl and test.jsonl, for `beaker run smoke`.",
    "harness_optimization": "The optimizer of a run on this machine.",
    "max_concurrency": "Cases run at a time.",
    "case_retry_limit": "Further attempts of a case that may be tried again.",
    "spend_budget_usd": "What models may cost, in US dollars.",
    "test_baseline": "Whether the baseline is scored on TEST too.",
    "extra": "Values of your own, which reach prepare_run.",
})  # fmt: skip

_FOLDER = r"^(?!\s*/)(?!\s*([^/]*/)*\.\.(/|\s*$))[^\x00]*$"
"""Relative, and without a part `..`."""

_RESERVED = {
    "not": {
        "anyOf": [
            {"pattern": f"^({'|'.join(RESERVED_ENVIRONMENT_PREFIXES)})"},
            {"enum": sorted(RESERVED_ENVIRONMENT_NAMES)},
        ]
    }
}
_NAMES = {"type": "string", "pattern": "^[A-Z_][A-Z0-9_]*$", **_RESERVED}
_VARIABLE = {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
_TEXT = {"type": "string", "pattern": r"\S"}
_SECONDS = {"type": "number", "exclusiveMinimum": 0}
_USD = {"type": "number", "minimum": 0, "maximum": DEAREST}

_REPOSITORY = {
    "type": "object",
    "properties": {
        "kind": {"const": "repository"},
        "paths": {
            "type": ["array", "null"],
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "string", "pattern": r"^\s*(?![A-Za-z]:|/)(?!(.*[/\\])?\.{0,2}([/\\]|\s*$))\S.*$"},
        },
    },
    "required": ["kind"],
    "additionalProperties": False,
}
_DOCUMENTS = {
    "type": "object",
    "properties": {
        "kind": {"const": "documents"},
        "groups": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {
                "type": "string",
                "pattern": r"^\s*[A-Za-z0-9][A-Za-z0-9._-]*\s*$",
                "not": {"pattern": rf"^\s*{REPOSITORY_GROUP}\s*$"},
            },
        },
    },
    "required": ["kind", "groups"],
    "additionalProperties": False,
}
_TARGET = {"anyOf": [_REPOSITORY, _DOCUMENTS]}
_TARGETS = {"anyOf": [*_TARGET["anyOf"], {"type": "array", "minItems": 1, "items": _TARGET}]}

_IDENTIFIERS = r"[^\W\d]\w*(\.[^\W\d]\w*)*"

_ENTRY: Mapping[str, Mapping[str, Any]] = ReadOnlyDict({
    "entrypoint": {"type": "string", "pattern": rf"^\s*(?!.*\.py(:|\s*$)){_IDENTIFIERS}:[^\W\d]\w*\s*$"},
    "target": {"type": "string", "pattern": rf"^\s*(?!.*\.py(:|\s*$)){_IDENTIFIERS}\s*:\s*{_IDENTIFIERS}\s*$"},
    "source_dir": _word(pattern=_FOLDER),
    "package_import_root": _word(pattern=_FOLDER),
    "required_env": {"type": ["array", "null"], "items": _NAMES, "maxItems": MAX_REQUIRED_ENV, "uniqueItems": True},
    "agent_key": _word(),
    "project_key": _word(deprecated=True),
    "environment_base": _word(),
    "image_base": _word(),
    "pip_install_from": _word(pattern=_FOLDER),
    "pip_install": {
        "type": ["array", "null"],
        "items": {"type": "string", "pattern": r"^\s*[A-Za-z0-9]", "not": {"pattern": r"[;|&`$\n\r\t]"}},
    },
    "apt_install": {
        "type": ["array", "null"],
        "items": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9.+-]*(=[A-Za-z0-9.+:~-]+)?$"},
    },
    "targets": {"$ref": "#/$defs/targets"},
    "scorer_model": {"type": ["string", "null"], "pattern": r"^([^\sA-Z:][^A-Z:]*:\S(.*\S)?)?$"},
    "requires_scorer_model": {"type": ["boolean", "null"]},
    "isolation": {"enum": ["process", "sandbox", "", None]},
    "sandbox_network": {"type": ["boolean", "null"]},
})  # fmt: skip

_REFLECTION: Mapping[str, Mapping[str, Any]] = ReadOnlyDict({
    "base_url": {"type": "string", "pattern": r"^\s*https?://[^?#]+$"},
    "model": _TEXT,
    "api_key_env": {**_VARIABLE, "not": {"pattern": "^BEAKER_"}},
    "temperature": {"type": "number", "minimum": 0},
    "max_output_tokens": _whole(16, 1_000_000),
    "context_tokens": _whole(512, 100_000_000),
    "provider": {"type": "string", "pattern": r"^\s*[^\s:][^:]*$"},
})  # fmt: skip

_STAGES = ("import", "prepare_run", "load_cases", "open_candidate", "run_case", "score_case", "proposal", "teardown")

_OPTIMIZER: Mapping[str, Mapping[str, Any]] = ReadOnlyDict({
    "proposer": _TEXT,
    "command": {"type": "array", "minItems": 1, "items": {"type": "string"}},
    "reflection": _options(_REFLECTION, required=("base_url", "model")),
    "proposer_env": {"type": "array", "items": _VARIABLE, "uniqueItems": True},
    "proposer_options": {"type": "object"},
    "engine": _TEXT,
    "engine_options": {"type": "object"},
    "max_rollouts": _whole(1),
    "max_proposals": _whole(1),
    "max_proposals_in_flight": _whole(1, 1000),
    "cases_per_process": _whole(1),
    "minibatch_size": _whole(1),
    "selection_fraction": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "score_repeats": _whole(1, 1000),
    "seed": _whole(-LARGEST),
    "prices": {
        "type": "object",
        "propertyNames": {"pattern": r"^\s*[^\s:][^:]*:.*\S"},
        "additionalProperties": _options({"input": _USD, "output": _USD}, required=("input", "output")),
    },
    "timeouts": _options(dict.fromkeys(_STAGES, _SECONDS)),
    "limits": _options({
        "memory_mb": _whole(64, 1 << 40),
        "file_mb": _whole(1, 1 << 40),
        "result_mb": _whole(1, LARGEST_RESULT),
        "candidate_seconds": _SECONDS,
    }),
})  # fmt: skip

_SETTINGS: dict[str, Mapping[str, Any]] = {
    "model": {"type": ["string", "object"]},
    "case_retry_limit": _whole(0, 1000),
    "spend_budget_usd": {"type": "number", "minimum": 0},
    "test_baseline": {"type": "boolean"},
    "max_concurrency": _whole(1, 1000),
    "optimization_config": {"type": "object"},
    "harness_optimization": _options(_OPTIMIZER),
    "repository_destinations": {"type": ["array", "object"]},
    "extra": {"type": "object"},
}

_SPEC_SETTINGS: dict[str, Mapping[str, Any]] = {key: {"deprecated": True} for key in SPEC_LAUNCH_KEYS}
