"""What `run trigger` asks a service before it sends a launch: whether its dataset, models and variables are there."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from beaker.cli.shell import Io

if TYPE_CHECKING:
    from beaker.cli.place import Answer, Place
    from beaker.core.config_entry import IntegrationEntry
    from beaker.core.launch import LaunchPlan
    from beaker.core.preflight import Preview
    from beaker.core.problems import Problem


def look_ahead(
    io: Io, place: "Place", plan: "LaunchPlan", entry: "IntegrationEntry | None", agent: "Answer", *, check: bool
) -> "Preview":
    """What the run may take. With `check`, `Refused` with everything that the service would refuse or that would fail
    there; what could not be asked is said, and stops nothing. This machine checks its own launches itself."""
    from beaker.core.preflight import dataset_problems, launched_models, model_problems, preview, split_rows
    from beaker.core.problems import Problem, Refused
    from beaker.core.readiness import check_readiness, read_available

    problems: list[Problem] = []
    record = _dataset(io, place, plan, problems) if check or place.local else None
    if check and not place.local:
        problems.extend(() if record is None else dataset_problems(record))
        models = launched_models(plan.config)
        catalogue = _asked(io, "the models", lambda: place.call("list_models")) if models else None
        problems.extend(() if catalogue is None else model_problems(models, catalogue))
        required = () if entry is None else entry.required_env
        agent_id = agent.get("id")
        if required and isinstance(agent_id, str):
            held = _asked(io, "required_env", lambda: place.call("list_agent_env_vars", agent_id=agent_id))
            keys = None if held is None else _asked(io, "required_env", lambda: place.call("list_llm_credentials"))
            if held is not None and keys is not None:
                problems.extend(check_readiness(required, read_available(held, keys)).unwrap().problems())
        if problems:
            raise Refused(problems)
    return preview(plan.config, {} if record is None else split_rows(record), local=place.local)


def _dataset(io: Io, place: "Place", plan: "LaunchPlan", problems: "list[Problem]") -> "Answer | None":
    """The record of the dataset; `None` without one, which is a problem where the service says that there is none."""
    from returns.pipeline import is_successful

    from beaker.client.dataset_downloads import describe_dataset
    from beaker.core.preflight import finds_no_dataset, unchecked, unknown_dataset

    found = describe_dataset(place.api, plan.dataset)
    if is_successful(found):
        record: Answer = found.unwrap()
        return record
    problem = found.failure()
    if finds_no_dataset(problem):
        problems.append(unknown_dataset(plan.dataset))
    elif not place.local:
        io.note(unchecked("the dataset", problem))
    return None


def _asked(io: Io, what: str, ask: "Callable[[], Answer]") -> "Answer | None":
    from beaker.core.preflight import unchecked
    from beaker.core.problems import Refused

    try:
        return ask()
    except Refused as refused:
        io.note(unchecked(what, refused.problems[0]))
        return None
