"""What can be told of a launch elsewhere before it is sent: its dataset, models and variables, and what it may take.

The questions go to the service one by one; here their answers are judged. A question that finds no answer stops
nothing: the service asks again when it launches.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from returns.pipeline import is_successful

from beaker.core.convert import to_json
from beaker.core.launch import DatasetChoice
from beaker.core.models import ModelName
from beaker.core.optimizer import OptimizerSettings
from beaker.core.options import camel, closest
from beaker.core.problems import Problem, Problems
from beaker.core.readiness import check_readiness, read_available
from beaker.core.responses import ApiProblem
from beaker.core.search.budget import default_max_rollouts
from beaker.core.strict_json import JsonObject
from beaker.core.values import value

NO_SUCH_DATASET = frozenset({400, 404, 422})
"""What a service answers (HTTP status) when it knows no dataset by a reference."""


NOT_LISTED = "BK812"
"""The code with which the client says that a listing lacks an id."""

DEFAULT_PROPOSALS = OptimizerSettings(proposer="").max_proposals
"""Proposals of a run on this machine whose settings do not say."""


AGENT_VARIABLES, KEYS, CATALOGUE = "list_agent_env_vars", "list_llm_credentials", "list_models"
"""Endpoints that are asked ahead of a launch."""

SUBJECTS: Mapping[str, str] = {CATALOGUE: "the models", AGENT_VARIABLES: "required_env", KEYS: "required_env"}
"""Endpoint -> what it is asked about."""

Answers: TypeAlias = Mapping[str, Mapping[str, Any] | None]
"""Endpoint -> what it answered; `None` for one that gave no answer."""


def next_question(
    config: Mapping[str, Any], required_env: Iterable[str], agent: Mapping[str, Any], answers: Answers
) -> str | None:
    """The endpoint to ask next about a launch with this `config`; `None` when nothing is left to ask.

    The catalogue where the launch names models; the variables of the agent, if the service says its id, and then the
    keys of its organization where variables are required.
    """
    if launched_models(config) and CATALOGUE not in answers:
        return CATALOGUE
    if not tuple(required_env) or not isinstance(agent.get("id"), str):
        return None
    if AGENT_VARIABLES not in answers:
        return AGENT_VARIABLES
    return KEYS if answers[AGENT_VARIABLES] is not None and KEYS not in answers else None


def answers_judged(config: Mapping[str, Any], required_env: Iterable[str], answers: Answers) -> Problems:
    """What the `answers` say against a launch; one that was not given says nothing."""
    catalogue, held, keys = (answers.get(name) for name in (CATALOGUE, AGENT_VARIABLES, KEYS))
    problems = () if catalogue is None else model_problems(launched_models(config), catalogue)
    if held is None or keys is None:
        return problems
    judged = check_readiness(tuple(required_env), read_available(held, keys))
    return (*problems, *(judged.unwrap().problems() if is_successful(judged) else judged.failure()))


def unknown_dataset(choice: DatasetChoice) -> Problem:
    """That the dataset does not exist (BK411)."""
    named = f"the name {choice.reference!r}" if choice.reference is not None else f"the id {choice.artifact_id!r}"
    where = "--dataset" if choice.reference is not None else "--dataset-id"
    return Problem(
        "BK411", f"the service has no dataset with {named}", where, "`beaker dataset list` shows what it has"
    )


def finds_no_dataset(problem: Problem) -> bool:
    """Whether the failure of looking for a dataset means that there is none, and not that nobody answered."""
    return problem.code == NOT_LISTED or (isinstance(problem, ApiProblem) and problem.status in NO_SUCH_DATASET)


def dataset_problems(record: Mapping[str, Any]) -> Problems:
    """What makes a dataset unfit for a run (BK412): it is not complete, or a split is said to hold no row."""
    name = record.get("name") or record.get("artifact_id")
    status = record.get("status")
    problems = []
    if isinstance(status, str) and status.upper() != "COMPLETE":
        problems.append(Problem("BK412", f"the dataset {name} is {status}, not COMPLETE", "", "finish its upload"))
    for split, count in split_rows(record).items():
        if count == 0:
            problems.append(Problem("BK412", f"the dataset {name} has no rows in {split}", "", "upload another one"))
    return tuple(problems)


def split_rows(record: Mapping[str, Any]) -> dict[str, int | None]:
    """The rows of `train` and `test`, `None` where the service does not say."""
    counts = record.get("sample_counts")
    found = counts if isinstance(counts, Mapping) else {}
    return {split: found[split] if type(found.get(split)) is int else None for split in ("train", "test")}


def launched_models(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that a launch names, as `provider:model`: those to compare, and the one of the production system."""
    named = []
    for key in ("optimization_config", "optimizationConfig"):
        compared = config.get(key)
        listed = compared.get("optimization_models") if isinstance(compared, Mapping) else None
        for one in listed if isinstance(listed, list | tuple) else ():
            if isinstance(one, Mapping):
                named.append(str(ModelName(str(one.get("provider")), str(one.get("model")))))
    model = config.get("model")
    return (*named, model) if isinstance(model, str) and ":" in model else tuple(named)


def model_problems(models: tuple[str, ...], catalogue: Mapping[str, Any]) -> Problems:
    """BK413 for each of `models` that the catalogue does not hold, or whose provider's key the organization lacks."""
    known = {
        str(item["canonical_model_id"]): item
        for item in catalogue["models"]
        if isinstance(item, Mapping) and item.get("canonical_model_id")
    }
    folded = {name.casefold(): name for name in known}
    problems = []
    for model in models:
        name = folded.get(model.casefold())
        if name is None:
            meant = closest(model, sorted(known))
            hint = "`beaker model list` shows what it has" + (f"; did you mean {meant}?" if meant else "")
            problems.append(Problem("BK413", f"the service has no model {model}", "", hint))
        elif known[name].get("credential_configured") is False:
            hint = "add that key in the web application"
            problems.append(Problem("BK413", f"the organization has no key for the provider of {name}", "", hint))
    return tuple(problems)


def unchecked(what: str, problem: Problem) -> str:
    """What to say when a question found no answer."""
    return f"not checked here: {what} ({problem.message})"


@value(kw_only=True)
class Preview:
    """What a run may take. Rows, rollouts and proposals are counts, `spend_budget_usd` is in US dollars; `None` where
    nobody says: then the service decides, and nothing limits what models may cost."""

    train: int | None = None
    test: int | None = None
    max_rollouts: int | None = None
    max_proposals: int | None = None
    spend_budget_usd: float | None = None

    def json(self) -> JsonObject:
        """As `--dry-run --json` gives it."""
        found: JsonObject = to_json(self)
        return found

    def text(self) -> str:
        """In one line, for people."""
        rows = "" if self.train is None or self.test is None else f"{self.train} TRAIN and {self.test} TEST rows, "
        rollouts = "as many rollouts as the service decides"
        if self.max_rollouts is not None:
            rollouts = f"at most {self.max_rollouts} rollouts"
        if self.max_proposals is not None:
            rollouts += f" and {self.max_proposals} proposals"
        cost = "nothing limits what models may cost (spend_budget_usd would)"
        if self.spend_budget_usd is not None:
            cost = f"models may cost ${self.spend_budget_usd:g} at most"
        return f"{rows}{rollouts}; {cost}"


def preview(config: Mapping[str, Any], rows: Mapping[str, int | None], *, local: bool) -> Preview:
    """What a run with this `config` on so many `rows` may take; on this machine (`local`) the defaults are known, for
    one case per row."""
    optimizer = _either(config, "harness_optimization")
    settings = optimizer if isinstance(optimizer, Mapping) else {}
    train, test = rows.get("train"), rows.get("test")
    rollouts, proposals = (_count(_either(settings, key)) for key in ("max_rollouts", "max_proposals"))
    if local:
        proposals = DEFAULT_PROPOSALS if proposals is None else proposals
        if rollouts is None and train is not None and test is not None:
            rollouts = default_max_rollouts(train, test)
    budget = _either(config, "spend_budget_usd")
    return Preview(
        train=train,
        test=test,
        max_rollouts=rollouts,
        max_proposals=proposals,
        spend_budget_usd=float(budget) if type(budget) in (int, float) else None,
    )


def _either(config: Mapping[str, Any], name: str) -> Any:
    return config.get(name, config.get(camel(name)))


def _count(given: object) -> int | None:
    return given if type(given) is int else None
