"""What the options of a launch add to its `config`: models to compare, and the options that only a Spec has.

A Spec is what the generation 0.4 called what an Integration is now. Its runs compared models and benchmarked them
first, and its launches said things that an Integration's do not:

| option | in the `config` of a Spec | of an Integration |
|---|---|---|
| `--optimization-model` | `optimization_config`: `optimization_models`, `execution_mode` | the first of the two |
| `--benchmark-split`, `--benchmark-max-cases` | `optimization_config.initial_benchmark` | refused |
| `--final-eval-split` | `optimization_config.final_eval_splits` | refused |
| `--test-all-candidates` | `test_all_candidates: true` | refused |
| no model | `use_harness_optimization: true`, unless the settings say otherwise | nothing |
"""

from collections.abc import Iterator, Mapping
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_entry import Kind
from beaker.core.models import ModelName, optimization_models, with_models
from beaker.core.options import camel
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject
from beaker.core.values import value

EVALUATION_SPLITS = ("TRAIN", "TEST")
"""The splits that `--benchmark-split` and `--final-eval-split` name."""

MAX_BENCHMARK_CASES = 1000

SPEC_CODE = "BK409"
"""The code of an option or a setting of the Spec generation that does not fit the launch."""

SPEC_LAUNCH_KEYS = (
    "scorer_model", "prompts_to_update", "test_all_candidates", "top_k_test_eval", "use_harness_optimization",
)  # fmt: skip
"""What the `config` of a Spec's launch may hold besides the keys of an Integration's, each also in camelCase."""

_MODELS_KEY = "optimization_config"
_HARNESS_KEY = "use_harness_optimization"
_ALL_KEY = "test_all_candidates"

_NEAREST = {
    "--benchmark-split": "leave it out: an Integration's baseline is scored by every run",
    "--benchmark-max-cases": "leave it out: an Integration's baseline is scored by every run",
    "--final-eval-split": "leave it out: the winner and the baseline are scored on TEST; `test_baseline: false` leaves "
    "the baseline out",
    "--test-all-candidates": "leave it out: the winner and the baseline are scored on TEST",
}
"""What an Integration has in place of an option."""

REASONS_HERE: Mapping[str, tuple[str, str]] = {
    "--optimization-model": (
        "models are compared through a gateway with the keys of their providers, which this machine does not have",
        "leave it out: a run here optimizes the system with the model that it uses itself",
    ),
    "--benchmark-split": (
        "the models to compare are benchmarked, and none are compared on this machine",
        "leave it out",
    ),
    "--benchmark-max-cases": (
        "the models to compare are benchmarked, and none are compared on this machine",
        "leave it out",
    ),
    "--final-eval-split": (
        "every run on this machine scores the winner and the baseline on TEST",
        "leave it out; `beaker run eval --candidate RUN.N --split train` scores a candidate on TRAIN",
    ),
    "--test-all-candidates": (
        "a run on this machine opens TEST for the winner and the baseline only",
        "leave it out; `beaker run eval --candidate RUN.N --split test` scores another candidate on TEST",
    ),
}
"""Why runs on one's own machine refuse an option, and what to do instead."""


@value(kw_only=True)
class LaunchOptions:
    """The options as they were given. `models` are texts, the splits are of `EVALUATION_SPLITS`."""

    models: tuple[str, ...] = ()
    benchmark_split: str | None = None
    benchmark_max_cases: int | None = None
    final_eval_splits: tuple[str, ...] = ()
    test_all_candidates: bool = False


NO_OPTIONS = LaunchOptions()


def refused_here(options: LaunchOptions) -> Problems:
    """Why runs on one's own machine refuse the options that were given (BK409); empty when they can be run."""
    given = (*(("--optimization-model",) if options.models else ()), *_spec_options(options))
    return tuple(Problem(SPEC_CODE, REASONS_HERE[name][0], name, REASONS_HERE[name][1]) for name in given)


def with_options(
    config: Mapping[str, Any], options: LaunchOptions, *, kind: Kind | None
) -> Result[JsonObject, Problems]:
    """`config`, as it was merged from the file and `--config`, with the options in it.

    `kind` is that of the launched entry, `None` when no entry is selected. BK406 for models, BK409 for the
    options of a Spec, all at once.
    """
    if kind == "spec":
        return _of_spec(config, options)
    refused = [_not_of(name, kind) for name in _spec_options(options)]
    found = optimization_models(options.models).bind(
        lambda models: with_models(config, models, selected=kind is not None)
    )
    if not is_successful(found):
        refused.append(found.failure())
    return Failure(tuple(refused)) if refused else Success(found.unwrap())


def _of_spec(config: Mapping[str, Any], options: LaunchOptions) -> Result[JsonObject, Problems]:
    parsed = optimization_models(options.models)
    problems = [*_spec_faults(config, options)]
    if not is_successful(parsed):
        problems.append(parsed.failure())
    if problems:
        return Failure(tuple(problems))
    made = dict(config)
    if options.models:
        made[_MODELS_KEY] = _comparison(options, parsed.unwrap())
    elif not _spelled(config, _MODELS_KEY) and not _spelled(config, _HARNESS_KEY):
        made[_HARNESS_KEY] = True
    if options.test_all_candidates:
        for key in _spelled(config, _ALL_KEY):
            del made[key]
        made[_ALL_KEY] = True
    return Success(made)


def _comparison(options: LaunchOptions, models: tuple[ModelName, ...]) -> JsonObject:
    """The `optimization_config` of a launch that compares models."""
    made: JsonObject = {
        "optimization_models": [{"provider": one.provider, "model": one.model} for one in models],
        "execution_mode": "benchmark_and_optimize",
    }
    if options.benchmark_split is not None or options.benchmark_max_cases is not None:
        benchmark: JsonObject = {
            "enabled": True,
            "split": options.benchmark_split,
            "max_cases": options.benchmark_max_cases,
        }
        made["initial_benchmark"] = {key: item for key, item in benchmark.items() if item is not None}
    if options.final_eval_splits:
        made["final_eval_splits"] = [*options.final_eval_splits]
    return made


def _spec_faults(config: Mapping[str, Any], options: LaunchOptions) -> Iterator[Problem]:
    if not options.models:
        for name in _spec_options(options):
            if name != "--test-all-candidates":
                hint = "name the models with --optimization-model"
                yield Problem(SPEC_CODE, "is about models to compare, and none is named", name, hint)
    if len(set(options.final_eval_splits)) < len(options.final_eval_splits):
        yield Problem(SPEC_CODE, "names a split twice", "--final-eval-split", "name each split once")
    if not options.models:
        return
    for key in _spelled(config, _MODELS_KEY):
        message = "stands beside --optimization-model, which makes it"
        yield Problem(SPEC_CODE, message, f"config.{key}", "keep one of them")
    for key in _spelled(config, _HARNESS_KEY):
        if config[key]:
            message = "optimizes the system as it is, and --optimization-model compares models"
            yield Problem(SPEC_CODE, message, f"config.{key}", "keep one of them")


def _spec_options(options: LaunchOptions) -> Iterator[str]:
    """The options that were given and that only a Spec has."""
    if options.benchmark_split is not None:
        yield "--benchmark-split"
    if options.benchmark_max_cases is not None:
        yield "--benchmark-max-cases"
    if options.final_eval_splits:
        yield "--final-eval-split"
    if options.test_all_candidates:
        yield "--test-all-candidates"


def _not_of(name: str, kind: Kind | None) -> Problem:
    if kind is None:
        return Problem(SPEC_CODE, "needs a Spec, and none is selected", name, "select one with --spec-id")
    return Problem(
        SPEC_CODE, "is an option of the Spec generation, and an Integration is selected", name, _NEAREST[name]
    )


def _spelled(config: Mapping[str, Any], name: str) -> list[str]:
    """The spellings of a key that `config` has."""
    return [key for key in (name, camel(name)) if key in config]
