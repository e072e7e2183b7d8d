"""Answers on record of decisions about configuration, settings, datasets, models and environments."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure

from beaker.core import datasets, image_packages, models, options
from beaker.core.config import ProjectConfig, parse_config
from beaker.core.config_entry import IntegrationEntry
from beaker.core.config_origin import Around, ConfigFile, effective_values
from beaker.core.config_tree import kind_of, plain_json, tree_from_json
from beaker.core.credentials import AgentKey, BaseUrl, choose_agent_key
from beaker.core.environment import (
    GrantedEnvironment,
    dotenv_warnings,
    names_credential,
    parse_required_env,
    redactor,
    required_env_faults,
    reserved_environment_reason,
)
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
from beaker.core.launch_options import SPEC_LAUNCH_KEYS, LaunchOptions, refused_here, with_options
from beaker.core.migration_code import migrate_module
from beaker.core.migration_config import plan_config
from beaker.core.optimizer import parse_launch_settings
from beaker.core.prices import prices_rule
from beaker.core.project_layout import (
    normalize_beaker_config_path,
    normalize_repository_directory,
    parse_entrypoint,
    parse_spec_target,
)
from beaker.core.python_version import ProjectMetadata, base_python, choose_hosted_python, project_requirement
from beaker.core.selection import choose, select
from beaker.core.version_specifiers import parse_specifiers

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


def settings_of(config: Any) -> object:
    """What is wrong with settings; what they set is the subject of their own tests."""
    found = parse_launch_settings(config)
    return found if isinstance(found, Failure) else "accepted"


def config_of(data: Any) -> object:
    found = parse_config(tree_from_json(data), "f")
    if isinstance(found, Failure):
        return found
    config = found.unwrap()
    return [*config.warnings, *(problem for entry in config.entries for problem in entry.problems)]


def origins(data: Any, around: Mapping[str, Any]) -> object:
    tree = tree_from_json(data)
    file = ConfigFile(config=parse_config(tree, "f").unwrap(), tree=tree)
    return effective_values(file, choose(file.config, None).unwrap(), Around(**around))


def spec_selected(told: Mapping[str, Any] | None, explicit: str | None, spec: str | None) -> object:
    """What is chosen among entries of both generations, as its place; the ids of each kind are given."""
    if told is None:
        return choose(None, explicit, spec)
    made: dict[str, Any] = {
        section: {name: IntegrationEntry(id=name, section=section) for name in told.get(section, ())}
        for section in ("integrations", "specs")
    }
    unnamed = IntegrationEntry(id="spec", section="spec") if told.get("spec") else None
    config = ProjectConfig(file="f", **made, spec=unnamed, default_spec=told.get("default_spec"))
    return choose(config, explicit, spec).map(lambda entry: None if entry is None else entry.place)


def selected(entries: list[str], default: str | None, explicit: str | None) -> object:
    made = {name: IntegrationEntry(id=name, entrypoint="a:b") for name in entries}
    return select(ProjectConfig(file="f", integrations=made, default_integration=default), explicit)


def hosted_python(base: Any, projects: list[Any]) -> object:
    made = [ProjectMetadata(f"p{n}/pyproject.toml", *project) for n, project in enumerate(projects)]
    return [choose_hosted_python(base, made), *map(project_requirement, made)]


def declared(name: object, files: list[str], splits: dict[str, object], metadata: Any = None) -> object:
    made = [datasets.DatasetFile(file, 1, "0" * 64) for file in files]
    return datasets.declare_dataset(name, made, splits=splits, metadata=metadata)


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
    {"agent_key": "k", "project_key": "p"},
    {"spec": {"target": "m:f"}},
    {"specs": {"a": {"target": "m"}, "b": None}, "default_spec": "a", "project_key": "p"},
    {"specs": {"a": {"entrypoint": "m:f", "target": "m:f", "unknown": 1}}},
    {"integrationz": {}, "x-own": 1, "dataset": "d"},
    ["x"],
    "x",
    7,
]


def prices_told(given: object) -> object:
    """The rule is made anew for each row, so that its maker answers too; a refusal is told problem by problem."""
    try:
        return prices_rule("BK1")(given)
    except options.OptionsRefused as refused:
        return refused.problems


def option_rules() -> list[Callable[[object], object]]:
    """Made anew for each row, so that the makers of rules answer too."""
    return [
        options.truth,
        options.some_text,
        options.whole_number(1, 5),
        options.whole_number(0),
        options.whole_number(-3),
        options.number("a half", lambda found: found == 0.5),
        options.nested({"a": options.truth}, dict, code="BK1"),
        options.shown,
    ]


TABLES: dict[str, Table] = {
    "agent key": (
        lambda row: choose_agent_key(row["flag"], row["environ"], row["configured"], dotenv=row["dotenv"]),
        each(*vectors("credentials")["agent_key"]),
    ),
    "spec selection": (spec_selected, first(vectors("specs")["selection"], 3)),
    "spec target": (parse_spec_target, first(vectors("specs")["targets"], 1)),
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
    "origins": (
        origins,
        [
            [{"api": "local"}, {"base_url": BaseUrl("local", "config")}],
            [
                {
                    "integrations": {"a": {"entrypoint": "m:x", "agent_key": "k", "targets": {"kind": "repository"}}},
                    "config_defaults": {"dataset": "d", "harness_optimization": {"command": ["x"], "seed": 3}},
                    "default_integration": "a",
                },
                {"base_url": BaseUrl("local", "flag"), "agent": AgentKey("k", "config")},
            ],
            [
                {"specs": {"s": {"target": "m:x", "required_env": ["A", "B"], "image_base": "x"}}},
                {
                    "base_url": BaseUrl("https://h", "environment"),
                    "agent": AgentKey("k", "dotenv"),
                    "credential": "session",
                    "granted": GrantedEnvironment({"A": "v"}, {"A": "dotenv"}, ("B",)),
                    "option": "--spec-id",
                },
            ],
        ],
    ),
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
                    "limits",
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
        lambda given, more: plan_launch(
            ProjectConfig(file="f"),
            IntegrationEntry(id="i"),
            given,
            **{key: LaunchOptions(models=tuple(item)) if key == "options" else item for key, item in more.items()},
        ),
        [
            [{"dataset": "d"}, {}],
            [{"tenant": 1, "dataset": 7}, {"options": ["gpt"]}],
            [{}, {"reference": "a", "artifact_id": "b"}],
            [{}, {"artifact_id": "b"}],
            [{"optimization_config": {"optimization_models": []}, "dataset": "d"}, {"options": ["openai:gpt"]}],
        ],
    ),
    "launch options": (
        lambda config, given, kind: [
            with_options(config, LaunchOptions(**given), kind=kind),
            refused_here(LaunchOptions(**given)),
        ],
        [
            [config, given, kind]
            for config, given in (
                ({}, {}),
                ({"x": 1}, {"models": ("a:b", "c:d")}),
                ({}, {"models": ("a",)}),
                ({"optimizationConfig": {"seed": 1}}, {"models": ("a:b",)}),
                ({"optimization_config": {}}, {}),
                ({"useHarnessOptimization": True}, {"models": ("a:b",)}),
                ({"use_harness_optimization": False}, {}),
                ({"testAllCandidates": False}, {"test_all_candidates": True}),
                ({}, {"benchmark_split": "TEST", "benchmark_max_cases": 5, "final_eval_splits": ("TEST", "TEST")}),
                ({}, {"models": ("a:b",), "benchmark_max_cases": 5, "final_eval_splits": ("TRAIN", "TEST")}),
                ({}, {"models": ("a:b",), "benchmark_split": "TRAIN"}),
            )
            for kind in ("spec", "integration", None)
        ],
    ),
    "settings of a Spec": (
        lambda config: parse_launch_settings({"harness_optimization": {"command": ["x"]}, **config}, kind="spec"),
        each(*({key: item} for key in SPEC_LAUNCH_KEYS for item in (None, True, False, 3, "openai:gpt", ["tone"]))),
    ),
    "configuration of an earlier generation": (
        lambda data: plan_config(tree_from_json(data), "f", spec_id="mine", unfit={"m:bad": "it is not decorated"}),
        each(
            {"specs": {"a": {"target": "m:f", "image_base": "i"}}, "default_spec": "a", "agent_key": "k"},
            {
                "spec": {"target": "m:f", "config_defaults": {"use_harness_optimization": True, "extra": {}}},
                "config_defaults": {"testAllCandidates": False},
            },
            {"integrations": {"i": {"project_key": "p"}}, "project_key": 7},
            {"integrations": {}, "spec": {"target": "m:bad"}, "default_integration": "x"},
            {"specs": {"a": {}, "b": {"target": "m:f", "config_defaults": {"top_k_test_eval": 1}}}},
            {"integrations": {"i": {}}, "agent_key": "", "project_key": "k"},
        ),
    ),
    "module of an earlier generation": (
        lambda source: migrate_module(source, "m.py", spec_names=("Spec",)),
        each(
            "from beaker import RepositoryRunSetup, DocumentRunSetup, ChangeSet\n"
            "class A(RepositoryRunSetup[R]): ...\nclass B(DocumentRunSetup[R, C]): ...\nx: ChangeSet\n",
            "from beaker import ChangeSet\nx = 'ChangeSet'\n",
            "from beaker import ChangeSet\nChangeSet = 1\n",
            "from beaker import RepositoryRunSetup\nx = RepositoryRunSetup\n",
            "from beaker import DocumentRunSetup\nclass S(DocumentRunSetup[R, C]):\n"
            "    def f(self): return super().prepare_run()\n",
            "from beaker import DocumentRunSetupResult, RolloutRuntime\nasync def prepare_run(runtime):\n"
            "    yield DocumentRunSetupResult()\nRolloutRuntime(candidate_runtime=r.candidate_runtime)\n",
            "from beaker import RunSetup, Integration\nclass S(RunSetup[R]):\n    x = 1\n"
            "    def open_candidate(self, *, targets_dir, scratch_dir): return 1\n"
            "Integration(run_setup=S)\n",
            "from beaker import RunSetup\nclass S(RunSetup[R]):\n    x = 1\n"
            "    def open_candidate(self, *, targets_dir, scratch_dir): return self.x\n",
            "from beaker import (RunSetup,  # c\n    RepositoryRunSetup)\n",
        ),
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
            config, models.optimization_models(names).unwrap(), selected=integration is not None
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
    "kinds of nodes": (lambda data: kind_of(tree_from_json(data)), each(None, True, 1, 1.5, "x", [], {})),
    "plain json": (
        lambda data: plain_json(tree_from_json(data), file="f", path="p"),
        each({"a": [1, None, "x", {"b": 1.5}]}),
    ),
    "options": (
        lambda given, rules, more: options.read_options(given, rules, **more),
        [
            [7, {"a_b": options.truth}, {"where": "w", "code": "BK1"}],
            [{"aB": True, "a_b": False}, {"a_b": options.truth}, {"where": "w", "code": "BK1"}],
            [{"a_c": True, "zz": 1, "a_b": 7}, {"a_b": options.truth}, {"where": "w", "code": "BK1"}],
        ],
    ),
    "option rules": (
        lambda rule, given: option_rules()[rule](given),
        [
            [rule, given]
            for rule in range(8)
            for given in (
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
            )
        ],
    ),
    "prices": (
        prices_told,
        each(
            None,
            [],
            {},
            {"openai:gpt": {"input": 0, "output": 1_000_000}, "a:b": {"input": 0.4, "output": 1.6}},
            {"openai:gpt": {"input": 1}, "a:b": {}, "c:d": {"output": 1}},
            {"openai:gpt": {"input": -0.1, "output": 1_000_000.1}},
            {"gpt": {"input": 1, "output": 1}, ":m": {"input": 1, "output": 1}, "p: ": {"input": "x", "output": None}},
            {"openai:gpt": 7},
            {"openai:gpt": {"input": 1, "output": 1, "cached": 1}},
        ),
    ),
    "name of a credential": (
        names_credential,
        each(
            "OPENAI_API_KEY",
            "gh_token",
            "DB_PASSWORD",
            "CLIENT_SECRET",
            "AWS_CREDENTIALS",
            "BASIC_AUTH",
            "AWS_REGION",
            "MODEL",
            "LAB",
            "",
        ),
    ),
    "variables without effect": (
        dotenv_warnings,
        [[["BEAKER_AGENT_KEY", "BEAKER_API_KEY", "PATH", "http_proxy", "A", "B"], ["A", "PATH"], "f"]],
    ),
    "redaction": (
        lambda secrets, said: redactor(secrets)(said),
        [
            [["s3cr3t-é"], 'a s3cr3t-é b "s3cr3t-\\u00e9" c s3cr3t'],
            [["line one is long\nline two is long\nshort"], "line one is long and line two is long and short"],
            [['a\\b"c-long'], repr('a\\b"c-long') + json.dumps('a\\b"c-long')],
            [[" padded-secret "], "padded-secret"],
            [["abc", "", "x"], "abc x"],
        ],
    ),
    "near names": (
        options.did_you_mean,
        [["max_rollout", ["max_rollouts", "seed"]], ["x", ["max_rollouts"]], ["MAX", ["max"]]],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str, on_record: Callable[..., None]) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    on_record(name, *TABLES[name])
