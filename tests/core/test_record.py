"""What every decision answers, words included: each row of each table, against the answers on record.

What a refusal says is what people see, so a change of it is a change of the product. Where it is meant, run this file
with BEAKER_RECORD=1, which writes the record anew, and read the difference before it is committed.
"""

import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from returns.result import Failure, Result

from beaker.core import api, datasets, image_packages, login, models, options, text, transfer, values
from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.changesets import change_set_from_json
from beaker.core.config import ProjectConfig, parse_config
from beaker.core.config_entry import IntegrationEntry
from beaker.core.config_tree import kind_of, plain_json, tree_from_json
from beaker.core.credentials import choose_agent_key, choose_base_url, choose_credential, read_session
from beaker.core.documents import CreateDocumentChange, DeleteDocumentChange, TargetDocument, UpdateDocumentChange
from beaker.core.environment import parse_required_env, required_env_faults, reserved_environment_reason
from beaker.core.fields import count, optional_str, score_value, truth
from beaker.core.inference import choose_inference_target, choose_scoring_target
from beaker.core.launch import (
    check_launch_keys,
    choose_dataset,
    choose_ref,
    left_out,
    local_dataset_path,
    merge_config,
    no_dataset,
    plan_launch,
)
from beaker.core.optimizer import parse_launch_settings
from beaker.core.problems import Problem
from beaker.core.project_layout import (
    normalize_beaker_config_path,
    normalize_repository_directory,
    parse_entrypoint,
)
from beaker.core.python_version import ProjectMetadata, base_python, choose_hosted_python, project_requirement
from beaker.core.readiness import check_readiness, read_available
from beaker.core.reserved_names import reserved_part
from beaker.core.runs import RUN_STATUSES, RunEvent, next_status, outcome
from beaker.core.scoring import objective_score
from beaker.core.selection import select
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
from beaker.core.version_specifiers import parse_specifiers

VECTORS = Path(__file__).parents[1] / "vectors"
RECORD = VECTORS / "record.json"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
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


def lines(found: object) -> list[str]:
    """An answer as lines of text: a value, or each problem with its code, place and hint."""
    match found:
        case Result():
            return lines(found.failure() if isinstance(found, Failure) else found.unwrap())
        case Problem(code=code, message=message, where=where, hint=hint):
            extra = {name: getattr(found, name) for name in ("status", "detail", "problems") if hasattr(found, name)}
            return [f"{type(found).__name__} {code} | {where} | {message} | {hint}" + (f" | {extra}" if extra else "")]
        case tuple() | list():
            return [line for one in found for line in lines(one)]
        case _ if isinstance(found, Iterator):
            return lines(list(found))
        case _:
            return [repr(found)]


def answer(decide: Callable[..., object], arguments: list[Any]) -> list[str]:
    """What a decision gives; a refusal of a constructor is an answer too."""
    try:
        return lines(decide(*arguments))
    except (TypeError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"]


def keyword(decide: Callable[..., object]) -> Callable[[Mapping[str, Any]], object]:
    return lambda given: decide(**given)


def settings_of(config: Any) -> object:
    """What is wrong with settings; what they set is the subject of their own tests."""
    found = parse_launch_settings(config)
    return found if isinstance(found, Failure) else "accepted"


def config_of(data: Any) -> object:
    found = parse_config(tree_from_json(data), "f")
    if isinstance(found, Failure):
        return found
    config = found.unwrap()
    return [*config.warnings, *(problem for entry in config.integrations.values() for problem in entry.problems)]


def request_of(call: str, arguments: dict[str, Any], **more: Any) -> object:
    made = api.build_request(call, arguments, **more)
    if isinstance(made, Failure):
        return made
    request = made.unwrap()
    return [request.method, request.path, request.query, dict(request.headers), request.body]


def arguments_of(method: str, path: str, query: Any = (), body: bytes = b"") -> object:
    match = api.match_request(method, path).unwrap()
    request = api.Request(method=method, path=path, query=tuple(map(tuple, query)), body=body)
    return api.read_arguments(match, request)


def response_of(call: str, status: int, body: str = "") -> object:
    return api.read_response(call, api.Response(status=status, body=body.encode()))


def selected(entries: list[str], default: str | None, explicit: str | None) -> object:
    made = {name: IntegrationEntry(id=name, entrypoint="a:b") for name in entries}
    return select(ProjectConfig(file="f", integrations=made, default_integration=default), explicit)


def hosted_python(base: Any, projects: list[Any]) -> object:
    made = [ProjectMetadata(f"p{n}/pyproject.toml", *project) for n, project in enumerate(projects)]
    return [choose_hosted_python(base, made), *map(project_requirement, made)]


def declared(name: object, files: list[str], splits: dict[str, object], metadata: Any = None) -> object:
    made = [datasets.DatasetFile(file, 1, "0" * 64) for file in files]
    return datasets.declare_dataset(name, made, splits=splits, metadata=metadata)


def polled(*answers: dict[str, Any]) -> object:
    opened = {"challenge_id": "c", "poll_token": "p", "user_code": "AB-1", "approval_url": "https://app.example/cli"}
    state, _ = login.begin("https://api.example", host="box", timeout=600.0)
    at, said = 100.0, []
    for one in (opened, *answers):
        moved = login.step(state, login.Answered(one, at))
        if isinstance(moved, Failure):
            return moved
        state, commands = moved.unwrap()
        said += [state.phase, *commands, state.problem]
        at += 1.0
    return said


def transferred(*answers: dict[str, Any]) -> object:
    made = datasets.declare_dataset(
        "inv",
        [datasets.DatasetFile(file, 3, "0" * 64) for file in ("train.jsonl", "test.jsonl")],
        splits={"train": 1, "test": 1},
    ).unwrap()
    state, said = transfer.begin(made)
    told: list[object] = [state.phase, *said]
    for one in answers:
        event = transfer.FileSent(one["sent"]) if "sent" in one else transfer.Announced(one)
        if "complete" in one:
            event = transfer.Completed(one["complete"])  # type: ignore[assignment]  # one of three events
        moved = transfer.step(state, event)
        if isinstance(moved, Failure):
            return [*told, moved]
        state, commands = moved.unwrap()
        told += [state.phase, *commands, state.problem]
    return told


def built_anew(module: str, name: str) -> bool:
    """Whether a table that is made when a module is loaded comes out the same when it is loaded again."""
    loaded = importlib.import_module(module)
    spec = importlib.util.spec_from_file_location(module, loaded.__file__)
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    return repr(getattr(again, name)) == repr(getattr(loaded, name))


DIGEST = datasets.declare_dataset(
    "inv",
    [datasets.DatasetFile(file, 3, "0" * 64) for file in ("train.jsonl", "test.jsonl")],
    splits={"train": 1, "test": 1},
).unwrap()
ARTIFACT = {"artifact_id": "art", "manifest_digest": DIGEST.manifest_digest, "status": "PENDING_UPLOAD"}
TARGET = {"path": "test.jsonl", "upload_url": "https://store/x?sig", "headers": {"a": 1}}
CHANGE_SET = {
    "format": "beaker.document-changes/1",
    "run_id": "r",
    "groups": ["faq"],
    "seed_hash": "0" * 64,
    "candidate_hash": "1" * 64,
    "changes": [],
}
ENTRIES: list[Any] = [
    {"a": {"entrypoint": "a:b", **more}}
    for more in (
        {"entrypoint": 7},
        {"entrypoint": "a"},
        {"entrypoint": "a:b c"},
        {"source_dir": "../x"},
        {"source_dir": 7},
        {"package_import_root": ".beaker"},
        {"required_env": "KEY"},
        {"required_env": ["KEY", "KEY", "path", 7, "BEAKER_X"]},
        {"agent_key": ["k"]},
        {"isolation": "thread"},
        {"targets": {"kind": "x"}},
        {"targets": "all"},
        {"scorer_model": "gpt"},
        {"scorer_model": 7},
        {"requires_scorer_model": "yes"},
        {"requires_scorer_model": True},
        {"config_defaults": ["x"]},
        {"config_defaults": {"scorer_model": "openai:gpt", "max_concurency": 1}},
        {"environment_base": "python:3.12"},
        {"environment_base": 3.12},
        {"apt_packages": ["curl", "a b", 7]},
        {"pip_packages": ["numpy", "./x", "-r x", 7]},
        {"pip_packages": "numpy"},
        {"playbook": True},
        {"entry_point": "a:b"},
        {"dataset": "inv"},
        {"x-own": 1},
    )
]
CONFIGS: list[Any] = [
    *({"integrations": entries} for entries in ENTRIES),
    {"integrations": {"": {"entrypoint": "a:b"}, "a b": {"entrypoint": "a:b"}, "a": ["x"], "b": None}},
    {"integrations": {"a": {}}, "default_integration": "b"},
    {"integrations": ["a"]},
    {"default_integration": 7},
    {"config_defaults": "x"},
    {"api": "https://evil.example"},
    {"spec": {}, "specs": [], "default_spec": "a", "agent_key": "k", "project_key": "p"},
    {"integrationz": {}, "x-own": 1, "dataset": "d"},
    ["x"],
    "x",
    7,
]
TABLES: dict[str, Table] = {
    "agent key": (
        lambda row: choose_agent_key(row["flag"], row["environ"], row["configured"], dotenv=row["dotenv"]),
        each(*vectors("credentials")["agent_key"]),
    ),
    "base url": (
        lambda row: choose_base_url(row["flag"], row["environ"], local=row["local"], configured=row["configured"]),
        each(*vectors("credentials")["base_url"]),
    ),
    "credential": (
        lambda row: choose_credential(
            row["flag"], read_session(row["session"]), row["environ"], base_url="https://api.withbeaker.ai", now=NOW
        ),
        each(*vectors("credentials")["credential"]),
    ),
    "selection": (
        selected,
        [
            [
                *((row["config"] or {"entries": [], "default": None})[key] for key in ("entries", "default")),
                row["explicit"],
            ]
            for row in vectors("selection")
        ],
    ),
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
    "splits": (
        lambda row: datasets.validate_splits(
            row["found"], declared=row.get("declared"), for_run=row.get("for_run", False)
        ),
        each(
            *vectors("datasets")["cases"],
            {"found": {"train": 1, "test": 1}, "declared": {"val": 1, "Test": 2, "train": -1, "x": 1, "": 0}},
            {"found": {"train": 1, "test": 1}, "declared": {"train": 2, "test": True}},
            {"found": {"val": 3, "train": 1}, "for_run": True},
        ),
    ),
    "dataset reference": (
        datasets.parse_reference,
        first(vectors("datasets")["references"], 1) + each(f"{LONG}@", f"://{LONG}"),
    ),
    "promotion": (
        datasets.promotion,
        [["inv@r1", "r2"], ["inv", " "], ["inv@production", None], ["inv", "production"], ["inv", "r"], ["", "r1"]],
    ),
    "newest revision": (datasets.newest_revision, [[[], "inv"], [[{"name": "inv", "revision": "r"}], "inv"]]),
    "dataset declaration": (
        declared,
        [
            [" ", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}],
            ["a@b", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}],
            [f"://{LONG}", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}],
            [f"\x1b{LONG}", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}],
            ["a", [], {}],
            ["a", ["x", "./x", "train.jsonl", "test.jsonl"], {"train": 1}],
            ["a", ["train.jsonl", "val.jsonl"], {"train": 1, "val": 1}],
            ["a", ["train.jsonl", "test.jsonl"], {"train": 1, "test": "x"}],
            ["a", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, {"k": float("nan")}],
            ["a", ["train.jsonl", "test.jsonl", "a/b.png"], {"train": 1, "test": 1}, {"k": 1}],
        ],
    ),
    "dataset file": (
        datasets.DatasetFile,
        [
            ["a", -1, "0" * 64],
            ["a", True, "0" * 64],
            ["a", 1, "0"],
            ["..", 1, "0" * 64],
            ["a", 1, None],
            ["a", 1, f" {'AB' * 32} "],
        ],
    ),
    "artifact path": (
        datasets.artifact_path,
        [[path, "path"] for path in (None, "", f"/{LONG}", f"../{LONG}", f"\n{LONG}", "a//b")],
    ),
    "manifest": (
        datasets.manifest_digest,
        each([datasets.DatasetFile("a/b", 0, "0" * 64), datasets.DatasetFile("./a//b", 1, "0" * 64)], []),
    ),
    "configuration": (config_of, each(*CONFIGS)),
    "settings": (settings_of, first(vectors("launch_settings")["refused"], 1)),
    "settings that run": (settings_of, first(vectors("launch_settings")["accepted"], 1)),
    "settings of wrong kinds": (
        settings_of,
        each(
            *(
                {"harness_optimization": {"command": ["x"], key: wrong}}
                for key in (
                    "proposer",
                    "command",
                    "reflection",
                    "proposer_env",
                    "max_rollouts",
                    "max_proposals",
                    "max_proposals_in_flight",
                    "cases_per_process",
                    "minibatch_size",
                    "selection_fraction",
                    "score_repeats",
                    "seed",
                    "prices",
                    "timeouts",
                )
                for wrong in (None, True, 0, -1, 0.5, 10**20, "x", "", LONG, [], [7], [""], {}, {"x": 1})
            ),
            *(
                {"harness_optimization": {"command": ["x"]}, key: wrong}
                for key in (
                    "model",
                    "case_retry_limit",
                    "spend_budget_usd",
                    "test_baseline",
                    "max_concurrency",
                    "optimization_config",
                    "repository_destinations",
                    "extra",
                    "scorer_model",
                    "maxConcurency",
                )
                for wrong in (None, True, 0, -1, 0.5, 10**20, "x", "", [], {}, {"x": 1})
            ),
        ),
    ),
    "launch keys": (
        check_launch_keys,
        first(vectors("launch")["keys"], 1)
        + each({"tenant": 1}, {"scorer_model": "x", "maxConcurrency": 1, "max_concurrency": 2}),
    ),
    "merging": (lambda layers: merge_config(*layers), first(vectors("launch")["merge"], 1)),
    "choice of a dataset": (
        lambda resolved, reference, artifact: choose_dataset(resolved, reference=reference, artifact_id=artifact),
        first(vectors("launch")["dataset"], 3),
    ),
    "local dataset": (
        local_dataset_path,
        each(
            {},
            {"local_dataset_path": 7},
            {"localDatasetPath": "d", "local_dataset_path": "e"},
            {"localDatasetPath": " "},
        ),
    ),
    "ref": (
        lambda ref, local, branch, pushed: choose_ref(ref, local=local, branch=branch, pushed=pushed),
        first(vectors("launch")["refs"], 4),
    ),
    "left out": (
        keyword(left_out),
        each(
            {"branch": "a", "default_branch": "main", "dirty": ["x"], "unpushed": 2},
            {"branch": None, "default_branch": None, "dirty": [], "unpushed": 1},
            {"branch": "main", "default_branch": "main", "dirty": [str(n) for n in range(20)], "unpushed": 0},
            {"branch": "main", "default_branch": "main", "dirty": [], "unpushed": 0},
        ),
    ),
    "no dataset": (
        no_dataset,
        [
            [None, None],
            [
                ProjectConfig(file="f", misplaced_selectors=("dataset",)),
                IntegrationEntry(id="i", misplaced_selectors=("dataset_id",)),
            ],
            [ProjectConfig(file="f"), IntegrationEntry(id="i")],
        ],
    ),
    "launch plan": (
        lambda given, more: plan_launch(ProjectConfig(file="f"), IntegrationEntry(id="i"), given, **more),
        [
            [{"dataset": "d"}, {}],
            [{"tenant": 1, "dataset": 7}, {"models": ["gpt"]}],
            [{}, {"reference": "a", "artifact_id": "b"}],
            [{}, {"artifact_id": "b"}],
            [{"optimization_config": {"optimization_models": []}, "dataset": "d"}, {"models": ["openai:gpt"]}],
        ],
    ),
    "model names": (
        lambda name: [models.optimization_model(name), models.runtime_model(name), models.scorer_model(name)],
        first(vectors("models")["names"], 1) + each(LONG),
    ),
    "models to compare": (models.optimization_models, first(vectors("models")["lists"], 1)),
    "judge": (
        lambda given, required: [
            models.choose_judge(given, required=required),
            models.choose_judge(given, required=required, where="there"),
        ],
        first(vectors("models")["judges"], 2),
    ),
    "judge among settings": (
        lambda keys: models.judges_in_settings(keys, code="BK403"),
        each(list(models.SCORER_MODEL_KEYS)),
    ),
    "settings with models": (
        lambda config, names, integration: models.with_models(
            config, models.optimization_models(names).unwrap(), integration_id=integration
        ),
        [
            [{}, ["a:b"], None],
            [{"optimizationConfig": {}}, [], None],
            [{"optimizationConfig": {}}, ["a:b"], None],
            [{"x": 1}, [], "i"],
            [{"optimizationConfig": {}, "optimization_config": {}}, ["a:b"], "i"],
            [{"optimization_config": 7}, ["a:b"], "i"],
            [{"optimization_config": {"optimization_models": []}}, ["a:b"], "i"],
            [{"optimizationConfig": {"optimizationModels": []}}, ["a:b"], "i"],
            [{"optimizationConfig": {"seed": 1}, "x": 1}, ["a:b"], "i"],
        ],
    ),
    "inference target": (choose_inference_target, first(vectors("models")["rollout_targets"], 2)),
    "scoring target": (choose_scoring_target, first(vectors("models")["scoring_targets"], 1)),
    "pip requirement": (image_packages.pip_requirement_fault, first(vectors("project_layout")["pip"], 1)),
    "apt package": (image_packages.apt_package_fault, first(vectors("project_layout")["apt"], 1)),
    "config path": (normalize_beaker_config_path, first(vectors("project_layout")["config_path"], 1)),
    "directory": (normalize_repository_directory, first(vectors("project_layout")["directory"], 1)),
    "entrypoint": (parse_entrypoint, first(vectors("project_layout")["entrypoint"], 1)),
    "python": (
        lambda row: hosted_python(row["base"], [[one["pyproject"], one["setup_cfg"]] for one in row["projects"]]),
        each(*vectors("python_version")["choice"]),
    ),
    "base python": (
        base_python,
        each("debian_slim:3.12", "debian_slim:3.9", "python:3.12", "debian_slim", "x:1", "", "debian_slim:3.12.1"),
    ),
    "specifiers": (
        parse_specifiers,
        [*first(vectors("version_specifiers")["accepts"], 1), ["=> 3", "there"], ["~=3", "there"]],
    ),
    "required env": (
        parse_required_env,
        [*first(vectors("environment")["required_env"], 1), [["path", 7, "A", "A"], "there"], ["A", "there"]],
    ),
    "required env faults": (required_env_faults, each(["A", "A", "a b", "PATH", "BEAKER_RUN_ID", 7, ""])),
    "reserved variable": (
        reserved_environment_reason,
        each("PATH", "BEAKER_X", "LD_PRELOAD", "PYTHONPATH", "GIT_DIR", "A", "HTTP_PROXY", "DYLD_X"),
    ),
    "readiness": (
        lambda declared_names, available: check_readiness(declared_names, read_available(*available)),
        [
            [row["declared"], [{"env_vars": [{"name": n} for n in row.get("agent", ())]}, {}]]
            for row in vectors("readiness")["table"]
        ]
        + [[wrong, [None, None]] for wrong in (None, "A", ["PATH"], [7])],
    ),
    "run outcome": (outcome, each(*(row[0] for row in vectors("runs")["exit_codes"]))),
    "run status": (lambda status: [next_status(status, event) for event in get_args(RunEvent)], each(*RUN_STATUSES)),
    "requests": (
        request_of,
        [
            ["no_such_call", {}],
            ["get_optimization_run", {}],
            ["get_optimization_run", {"run_id": ".."}],
            ["get_optimization_run", {"run_id": "."}],
            ["get_optimization_run", {"run_id": 7}],
            ["get_optimization_run", {"run_id": "a/b c"}],
            ["get_optimization_run", {"run_id": "r", "color": "red", "b": 1}],
            ["list_optimization_runs", {"limit": "many"}],
            ["resolve_dataset", {}],
            ["get_dataset_download_urls", {}],
            ["get_dataset_download_urls", {"reference": "a", "artifact_id": "b"}],
            ["get_dataset_download_urls", {"reference": "a", "agent_key": "k"}],
            ["create_optimization_run", {"config": {"seed": float("nan")}, "agent_key": "k"}],
            ["create_optimization_run", {"config": {"seed": 1}, "agent_key": "k"}],
            ["get_current_agent", {"agent_key": "  "}],
            ["get_current_agent", {}],
        ],
    ),
    "request with a key": (
        lambda call: request_of(call, {"agent_key": "k"}, idempotency_key="key"),
        each("get_current_agent", "create_optimization_run"),
    ),
    "routes": (
        api.match_request,
        [
            ["GET", "/v1/nothing"],
            ["GET", "/v1/optimization-runs/"],
            ["DELETE", "/v1/optimization-runs"],
            ["GET", "/v1/datasets/uploads"],
            ["PATCH", "/v1/datasets"],
            ["GET", "/v1/agents/current"],
        ],
    ),
    "arguments": (
        arguments_of,
        [
            ["GET", "/v1/datasets/resolve", [["limit", "5"], ["b", "1"], ["agent_key", " "], ["agent_key", "x"]]],
            ["GET", "/v1/datasets", [["limit", "ten"], ["agent_key", ""]]],
            ["GET", "/v1/datasets/download-urls", [["agent_key", "k"]]],
            ["GET", "/v1/datasets/download-urls", [["agent_key", "k"], ["reference", "x"], ["artifact_id", "x"]]],
            ["GET", "/v1/datasets/download-urls", [["agent_key", "k"], ["reference", "x"]]],
            ["POST", "/v1/optimization-runs", [], b"{"],
            ["POST", "/v1/optimization-runs", [], b"[]"],
            ["POST", "/v1/optimization-runs", [], b"\xff"],
            ["POST", "/v1/optimization-runs", [], b""],
            ["POST", "/v1/optimization-runs", [["x", "y"]], b'{"agent_key": 7, "zz": 1, "config": []}'],
            ["POST", "/v1/optimization-runs", [["agent_key", "k"]], b'{"config": {}}'],
        ],
    ),
    "responses": (
        response_of,
        [
            *(
                ["list_agents", status, body]
                for status in (200, 299, 300)
                for body in ("[]", "<html>", '{"agents": {}}', "{}", '{"agents": []}')
            ),
            *(
                ["list_agents", status, body]
                for status in (199, 301, 400, 401, 403, 404, 405, 409, 422, 429, 499, 500, 503)
                for body in ("", '{"detail": "no"}', '{"detail": [{"msg": "a"}, {"loc": ["b"]}]}', "text", LONG * 9)
            ),
            ["list_agents", 422, '{"detail": {"code": "BK455", "message": "unknown", "hint": "upload"}}'],
            ["list_agents", 409, '{"detail": {"code": "OTHER", "n": 1}}'],
        ],
    ),
    "login": (
        polled,
        [
            *([row[0]] for row in vectors("login")["polls"]),
            [{"status": "pending"}, {"status": "expired"}],
            [{"status": "denied"}],
        ],
    ),
    "challenge": (login.read_challenge, first(vectors("login")["challenges"], 1)),
    "upload": (
        transferred,
        [
            [
                {"artifact": ARTIFACT, "files": [TARGET]},
                {"sent": "test.jsonl"},
                {"complete": {"artifact": {**ARTIFACT, "status": "COMPLETE"}}},
            ],
            [{"artifact": ARTIFACT, "files": [TARGET]}, {"sent": "other"}],
            [{"artifact": ARTIFACT, "files": []}, {"complete": {}}],
            [{"artifact": ARTIFACT, "files": []}, {"complete": {"artifact": ARTIFACT}}],
            [
                {"artifact": ARTIFACT, "files": []},
                {"complete": {"artifact": {**ARTIFACT, "status": "COMPLETE", "manifest_digest": "x"}}},
            ],
            [{"artifact": {**ARTIFACT, "manifest_digest": None}, "files": []}],
            [{"artifact": None}],
            [{"artifact": {**ARTIFACT, "artifact_id": 7}, "files": []}],
            [{"artifact": ARTIFACT, "files": None}],
            [{"artifact": ARTIFACT, "files": ["x"]}],
            [{"artifact": ARTIFACT, "files": [{**TARGET, "path": "other"}]}],
            [{"artifact": ARTIFACT, "files": [TARGET, TARGET]}],
            [{"artifact": ARTIFACT, "files": [{**TARGET, "upload_url": None}]}],
            [{"artifact": ARTIFACT, "files": [{**TARGET, "headers": []}]}],
            [{"artifact": {**ARTIFACT, "status": "COMPLETE"}, "reused": True}],
        ],
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
        lambda bad: [
            answer(rule, [bad, "it"])
            for rule in (
                text.text,
                text.optional_text,
                text.relative_path,
                text.name,
                text.sha256_hex,
                text.optional_sha256_hex,
                text.canonical_model,
            )
        ],
        each(None, "", " ", 7, "a", "a b", "../a", "/a", "a\nb", "C:x", LONG, "0" * 64, "openai:x", "OpenAI:x", b"x"),
    ),
    "visible": (
        lambda given: [text.visible(given), text.one_line(given)],
        each("a\x1b[0m\r\nb\u202e", "\x7f\x85", "é"),
    ),
    "fields": (
        lambda bad: [answer(rule, [bad, "it"]) for rule in (score_value, count, truth, optional_str)],
        each(None, True, 0, 1, -1, 2, 0.5, float("nan"), "x", ""),
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
    "kinds of nodes": (lambda data: kind_of(tree_from_json(data)), each(None, True, 1, 1.5, "x", [], {})),
    "plain json": (
        lambda data: plain_json(tree_from_json(data), file="f", path="p"),
        each({"a": [1, None, "x", {"b": 1.5}]}),
    ),
    "reserved part": (reserved_part, each("a/.git/b", "a/.GIT", ".beaker/x", "a/b", "GIT~1", ".git ")),
    "options": (
        lambda given, rules, more: options.read_options(given, rules, **more),
        [
            [7, {"a_b": options.truth}, {"where": "w", "code": "BK1"}],
            [{"aB": True, "a_b": False}, {"a_b": options.truth}, {"where": "w", "code": "BK1"}],
            [{"a_c": True, "zz": 1, "a_b": 7}, {"a_b": options.truth}, {"where": "w", "code": "BK1"}],
        ],
    ),
    "option rules": (
        lambda bad: [
            answer(rule, [bad])
            for rule in (
                options.truth,
                options.some_text,
                options.whole_number(1, 5),
                options.whole_number(0),
                options.whole_number(-3),
                options.number("a half", lambda found: found == 0.5),
                options.nested({"a": options.truth}, dict, code="BK1"),
                options.shown,
            )
        ],
        each(
            None,
            True,
            False,
            0,
            1,
            5,
            6,
            -3,
            -4,
            0.5,
            float("nan"),
            float("inf"),
            "x",
            "",
            " ",
            LONG,
            [],
            {},
            {"a": True},
            {"a": 1},
            {"b": 1},
            10**30,
            "x" * 57,
            "x" * 58,
            "x" * 59,
        ),
    ),
    "near names": (
        options.did_you_mean,
        [["max_rollout", ["max_rollouts", "seed"]], ["x", ["max_rollouts"]], ["MAX", ["max"]]],
    ),
    "frozen": (
        lambda change: change(values.read_only({"a": 1})),
        each(lambda d: d.update(b=1), lambda d: d.__setitem__("a", 2), lambda d: d.pop("a"), lambda d: d.clear()),
    ),
    "tables": (built_anew, [["beaker.core.endpoints", "ENDPOINTS"]]),
}


def written(record: dict[str, list[list[str]]]) -> str:
    """The record as JSON, a line for each row."""
    tables = []
    for name, rows in record.items():
        listed = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        tables.append(f" {json.dumps(name)}: [\n  {listed}\n ]")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def test_record__tables__have_their_answers() -> None:
    """No answer is on record for a table that is gone."""
    if os.environ.get("BEAKER_RECORD"):
        made = {name: [answer(decide, row) for row in rows] for name in TABLES for decide, rows in [TABLES[name]]}
        RECORD.write_text(written(made), encoding="utf-8")
    assert list(json.loads(RECORD.read_text(encoding="utf-8"))) == list(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    decide, rows = TABLES[name]
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[name]
    assert [answer(decide, row) for row in rows] == recorded
