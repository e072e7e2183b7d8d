"""What can be set for an optimization: the launch settings and their defaults, read from a launch's `config`.

Every key has one rule. Keys that a later version opens are refused with the reason, so that nobody pays for a run that
ignored what they asked for.
"""

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_entry import Kind
from beaker.core.convert import to_json
from beaker.core.environment import AGENT_KEY_VARIABLE, ENVIRONMENT_NAME_PATTERN
from beaker.core.launch_options import REASONS_HERE
from beaker.core.limits import LIMIT_RULES, Limits, limits_of
from beaker.core.models import SCORER_MODEL_KEYS, judges_in_settings
from beaker.core.options import (
    LARGEST,
    OptionsRefused,
    Rule,
    nested,
    number,
    read_options,
    shown,
    some_text,
    truth,
    whole_number,
)
from beaker.core.prices import PRICES_HINT, Price, prices_rule
from beaker.core.problems import Problem, Problems
from beaker.core.proposer_settings import PARETO, PROPOSER_HINT, NoProposer, choose_proposer, options
from beaker.core.reflection.settings import REFLECTION_KEYS, Reflection, reflection_rule
from beaker.core.strict_json import JsonObject, json_object
from beaker.core.values import ReadOnlyDict, value

CODE = "BK410"
"""The code of a launch setting that is refused."""

EXTRA_ADVICE = "values of your own belong into `extra`, a dataset beside the settings (--dataset)"


@value
class LaterSetting(Problem):
    """A setting that is sound and not available for runs on this machine, or not yet."""


@value
class Timeouts:
    """How long each stage of running customer code may take, in seconds; `import_` is the key `import`."""

    import_: float = 60.0
    prepare_run: float = 300.0
    load_cases: float = 300.0
    open_candidate: float = 300.0
    run_case: float = 300.0
    score_case: float = 120.0
    proposal: float = 1800.0
    teardown: float = 30.0


@value(kw_only=True)
class OptimizerSettings:
    """How candidates are made, and how much may be spent on it.

    `proposer` is `command`, `reflection` (each with the field of its name) or a registered one, which gets
    `proposer_options`; `engine` is `pareto` or a registered one, which gets `engine_options`.

    `max_rollouts` counts distinct evaluations (candidate, case); `None` means the default, ten per TRAIN and two per
    TEST case, which only a run that knows its cases can work out. `selection_fraction` is the share of TRAIN that
    selects; the rest feeds evidence. Every result is scored `score_repeats` times, and the mean counts.
    """

    proposer: str
    command: tuple[str, ...] = ()
    reflection: Reflection | None = None
    proposer_env: tuple[str, ...] = ()
    proposer_options: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    engine: str = PARETO
    engine_options: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    max_rollouts: int | None = None
    max_proposals: int = 50
    max_proposals_in_flight: int = 1
    cases_per_process: int = 1
    minibatch_size: int = 3
    selection_fraction: float = 0.5
    score_repeats: int = 1
    seed: int = 0
    prices: Mapping[str, Price] = attrs.field(factory=ReadOnlyDict)
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()


@value(kw_only=True)
class LaunchSettings:
    """The settings of one run. `extra` reaches the integration's setup as its `config["extra"]`.

    `spend_budget_usd` bounds what models may cost, in US dollars; it comes with `optimizer.prices`.
    """

    optimizer: OptimizerSettings
    max_concurrency: int = 4
    case_retry_limit: int = 2
    spend_budget_usd: float | None = None
    test_baseline: bool = True
    extra: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)


def parse_launch_settings(config: JsonObject, *, kind: Kind = "integration") -> Result[LaunchSettings, Problems]:
    """Read the `config` of a launch on this machine. Every fault is a BK410 with its place.

    Keys may be spelled in snake_case or camelCase, not both; a null is as good as no key. An integration's own values
    belong into `extra`. With the `kind` of a Spec, settings of that generation are known too; those that a run here
    cannot do are refused with the reason.
    """
    rules = _LAUNCH_RULES | (_SPEC_RULES if kind == "spec" else {})
    judge = () if kind == "spec" else judges_in_settings(config, code=CODE)
    plain = {key: item for key, item in config.items() if kind == "spec" or key not in SCORER_MODEL_KEYS}
    values, found = read_options(plain, rules, where="config", code=CODE, advice=EXTRA_ADVICE, homes=_homes)
    values = {key: item for key, item in values.items() if key in _LAUNCH_RULES}
    problems = judge + found
    hidden = any(problem.where.startswith(_OPTIMIZER_PLACES) for problem in problems)
    if "harness_optimization" not in values and not hidden:
        message = "names no proposer, so no candidate could be made"
        problems = (*problems, NoProposer(CODE, message, "config.harness_optimization", PROPOSER_HINT))
    if "spend_budget_usd" in values and not hidden and not _has_prices(values):
        spelled = next(key for key in ("spend_budget_usd", "spendBudgetUsd") if config.get(key) is not None)
        message = "a budget in dollars needs the prices of models (harness_optimization.prices)"
        problems = (*problems, LaterSetting(CODE, message, f"config.{spelled}", PRICES_HINT))
    if problems:
        return Failure(problems)
    optimizer = values.pop("harness_optimization")
    return Success(LaunchSettings(optimizer=optimizer, **values))


def parse_evaluation_settings(
    config: Mapping[str, Any], *, kind: Kind = "integration"
) -> Result[LaunchSettings, Problems]:
    """Read the settings for evaluating one candidate: as for a launch, but nothing is proposed, so that nothing has to
    say what makes candidates. Every other fault is a BK410."""
    parsed = parse_launch_settings(dict(config), kind=kind)
    if is_successful(parsed) or not all(isinstance(problem, NoProposer) for problem in parsed.failure()):
        return parsed
    key = "harnessOptimization" if "harnessOptimization" in config else "harness_optimization"
    complete = {**config, key: {**(config.get(key) or {}), "command": ["true"]}}
    return parse_launch_settings(complete, kind=kind)


def settings_to_json(settings: LaunchSettings) -> JsonObject:
    """`settings`, all of them, as a launch's `config`: `parse_launch_settings` reads it back to an equal value."""
    made = to_json(settings)
    optimizer = made.pop("optimizer")
    if not settings.optimizer.command:
        del optimizer["command"]  # none is no command that could be read back
    optimizer["timeouts"]["import"] = optimizer["timeouts"].pop("import_")
    return {"harness_optimization": optimizer, **made}


def _has_prices(values: Mapping[str, Any]) -> bool:
    return "harness_optimization" in values and bool(values["harness_optimization"].prices)


def _later(reason: str, hint: str, rule: Rule) -> Rule:
    def refuse(given: object) -> NoReturn:
        rule(given)  # a value that no place could take is a fault of its own
        raise OptionsRefused(LaterSetting(CODE, reason, hint=hint))

    return refuse


def _only(wanted: bool, reason: str, hint: str) -> Rule:
    """A switch that is there for one of its two positions only."""
    refuse = _later(reason, hint, truth)

    def read(given: object) -> object:
        return given if given is wanted else refuse(given)

    return read


def _extra(given: object) -> ReadOnlyDict[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"must be an object, not {shown(given)}")
    try:
        return json_object(given, "extra")
    except TypeError as error:
        raise ValueError(str(error)) from error


def _any_of(says: str, *kinds: type) -> Rule:
    def read(given: object) -> object:
        if not isinstance(given, kinds):
            raise ValueError(f"must be {says}, not {shown(given)}")
        return given

    return read


_object = _any_of("an object", Mapping)


def _command(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ValueError(f"must be a list of arguments, not one text; write {_yaml_list(given.split())}")
    if not isinstance(given, list | tuple):
        raise ValueError(f"must be a list that starts with a program, not {shown(given)}")
    if not given:
        raise OptionsRefused(Problem(CODE, "is empty, so there is no program to run", hint=PROPOSER_HINT))
    for index, argument in enumerate(given):
        if not isinstance(argument, str) or "\0" in argument:
            raise OptionsRefused(Problem(CODE, f"must be text, not {shown(argument)}", f"[{index}]"))
    if not given[0].strip():
        raise OptionsRefused(Problem(CODE, "must name a program", "[0]"))
    return tuple(given)


def _yaml_list(words: list[str]) -> str:
    """Words as a list that YAML and people read: quoted only where YAML would take them for something else."""
    plain = [word if re.fullmatch(r"[A-Za-z./_][A-Za-z0-9./_-]*", word) else f'"{word}"' for word in words]
    return f"[{', '.join(plain)}]"


def _proposer_env(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise ValueError(f"must be a list of environment variable names, not {shown(given)}")
    faults = []
    for index, name in enumerate(given):
        if not isinstance(name, str) or not ENVIRONMENT_NAME_PATTERN.match(name.upper()):
            faults.append(Problem(CODE, f"must be an environment variable name, not {shown(name)}", f"[{index}]"))
        elif name.startswith("BEAKER_") and name != AGENT_KEY_VARIABLE:
            faults.append(Problem(CODE, f"may not be {name}: Beaker sets its own variables", f"[{index}]"))
        elif name in given[:index]:
            faults.append(Problem(CODE, f"lists {name} twice", f"[{index}]"))
    if faults:
        raise OptionsRefused(*faults)
    return tuple(given)


def _optimizer(values: dict[str, Any]) -> OptimizerSettings:
    return OptimizerSettings(**{**values, "proposer": choose_proposer(values, code=CODE)})


_OPTIMIZER_PLACES = ("config.harness_optimization", "config.harnessOptimization")

_seconds = number("a number of seconds above 0", lambda found: found > 0)

_STAGES = ("import", "prepare_run", "load_cases", "open_candidate", "run_case", "score_case", "proposal", "teardown")


def _timeouts(values: dict[str, Any]) -> Timeouts:
    return Timeouts(**{("import_" if name == "import" else name): seconds for name, seconds in values.items()})


def _homes() -> Mapping[str, str]:
    return SETTING_HOMES


_OPTIMIZER_RULES: dict[str, Rule] = {
    "proposer": some_text,
    "command": _command,
    "reflection": reflection_rule(CODE, homes=_homes),
    "proposer_env": _proposer_env,
    "proposer_options": options,
    "engine": some_text,
    "engine_options": options,
    "max_rollouts": whole_number(1),
    "max_proposals": whole_number(1),
    "max_proposals_in_flight": whole_number(1, 1000),
    "cases_per_process": whole_number(1),
    "minibatch_size": whole_number(1),
    "selection_fraction": number("a number between 0 and 1, both excluded", lambda found: 0 < found < 1),
    "score_repeats": whole_number(1, 1000),
    "seed": whole_number(-LARGEST, LARGEST),
    "prices": prices_rule(CODE),
    "timeouts": nested(dict.fromkeys(_STAGES, _seconds), _timeouts, code=CODE, homes=_homes),
    "limits": nested(LIMIT_RULES, limits_of, code=CODE, homes=_homes),
}

_LAUNCH_RULES: dict[str, Rule] = {
    "model": _later(
        "the model of a run on this machine is chosen by the integration",
        "leave it out",
        _any_of("text or an object", str, Mapping),
    ),
    "case_retry_limit": whole_number(0, 1000),
    "spend_budget_usd": number("an amount of at least 0", lambda found: found >= 0),
    "test_baseline": truth,
    "max_concurrency": whole_number(1, 1000),
    "optimization_config": _later(*REASONS_HERE["--optimization-model"], _object),
    "harness_optimization": nested(_OPTIMIZER_RULES, _optimizer, code=CODE, homes=_homes),
    "repository_destinations": _later(
        "nothing is pushed from a run on this machine",
        "leave it out",
        _any_of("a list or an object", list, tuple, Mapping),
    ),
    "extra": _extra,
}

_SPEC_RULES: dict[str, Rule] = {
    "use_harness_optimization": _only(
        True, "a run on this machine does nothing else than optimizing the system", "leave it out"
    ),
    "test_all_candidates": _only(False, *REASONS_HERE["--test-all-candidates"]),
    "top_k_test_eval": _later(*REASONS_HERE["--test-all-candidates"], whole_number(0)),
    "prompts_to_update": _later(
        "a run on this machine may change every prompt of the Spec",
        "leave it out; a prompt that is to stay as it is need not be one of the Spec's",
        _any_of("a list of names", list, tuple),
    ),
    "scorer_model": _later(
        "the judge of a run on this machine is the one that the Spec names",
        "leave it out, and name the judge as Spec(llm_scorer_model=...)",
        some_text,
    ),
}
"""Settings that only the launch of a Spec has (`core.launch_options.SPEC_LAUNCH_KEYS`)."""

SETTING_HOMES: Mapping[str, str] = {
    **dict.fromkeys(_LAUNCH_RULES, "beside `harness_optimization`, at the top of the settings"),
    **dict.fromkeys(REFLECTION_KEYS, "into `harness_optimization.reflection`"),
    **dict.fromkeys(_STAGES, "into `harness_optimization.timeouts`"),
    **dict.fromkeys(LIMIT_RULES, "into `harness_optimization.limits`"),
    **dict.fromkeys(_OPTIMIZER_RULES, "into `harness_optimization`"),
}
"""Where each setting belongs, as the end of "it belongs ...": for whoever wrote it a level too high or too low."""
