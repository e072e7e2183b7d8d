"""What `run trigger` asks a service before it sends a launch: whether its dataset, models and variables are there."""

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
    from beaker.core.preflight import answers_judged, dataset_problems, next_question, preview, split_rows
    from beaker.core.problems import Problem, Refused

    problems: list[Problem] = []
    record = _dataset(io, place, plan, problems) if check or place.local else None
    if check and not place.local:
        problems.extend(() if record is None else dataset_problems(record))
        required = () if entry is None else entry.required_env
        answers: dict[str, Answer | None] = {}
        while (question := next_question(plan.config, required, agent, answers)) is not None:
            answers[question] = _asked(io, place, question, agent)
        problems.extend(answers_judged(plan.config, required, answers))
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


def _asked(io: Io, place: "Place", question: str, agent: "Answer") -> "Answer | None":
    """What an endpoint answers; `None` when it gives no answer, which is said."""
    from beaker.core.preflight import AGENT_VARIABLES, SUBJECTS, unchecked
    from beaker.core.problems import Refused

    about = {"agent_id": agent["id"]} if question == AGENT_VARIABLES else {}
    try:
        return place.call(question, **about)
    except Refused as refused:
        io.note(unchecked(SUBJECTS[question], refused.problems[0]))
        return None
