"""The way from an empty project to a first run: eleven steps, what is known of each, and which comes next.

What is found out about a step is a `Finding`; how it is found out is not decided here (`onboarding_local`,
`onboarding_hosted`, `push_state`). The order of the steps is that of the way, not that in which they can be done.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from beaker.core.values import ReadOnlyDict, value

State: TypeAlias = Literal["complete", "todo", "unknown"]
Owner: TypeAlias = Literal["agent", "developer"]
"""Who does a step: a coding agent may, or only the developer can."""

FIRST = ("beaker_dependency_declared", "config_present")
"""Without these nothing is asked of a service."""


@value
class StepKind:
    """One step: who does it, what to do when nothing better is known, and whether a run can do without it."""

    id: str
    owner: Owner
    action: str
    blocking: bool = True


STEPS: tuple[StepKind, ...] = (
    StepKind(
        "beaker_dependency_declared",
        "agent",
        "declare beaker-sdk as a development dependency of the project in its pyproject.toml",
    ),
    StepKind("config_present", "agent", "run `beaker init` in the project"),
    StepKind("logged_in", "agent", "run `beaker login`, or set BEAKER_API_KEY"),
    StepKind("github_connected", "developer", "install the GitHub App: `beaker github connect`"),
    StepKind("agent_selected", "developer", "choose or approve an agent, then run `beaker agent setup NAME`"),
    StepKind("integration_configured", "agent", "replace what the module marks with TODO(beaker)"),
    StepKind("tracing_wired", "agent", "record what the code asks its models: `trace.model_call`", False),
    StepKind(
        "dataset_available",
        "developer",
        "upload a dataset: `beaker dataset upload DIR --name NAME`, and name it in config_defaults.dataset_ref",
    ),
    StepKind("required_env_configured", "developer", "set what is missing: `beaker agent env set NAME --value-stdin`"),
    StepKind("integration_pushed", "agent", "commit the integration and push its branch"),
    StepKind("experiment_launched", "developer", "authorise a run: `beaker run trigger`"),
)

DONE_ACTION = "everything is set up; `beaker run list` shows the runs"
RETRY_ACTION = "ask again: `beaker onboarding status`"


@value
class Finding:
    """What is known of a step. `action` replaces the usual one. `retry` tells of an unknown one that asking again may
    settle, `first` of one that comes before everything else."""

    state: State
    reason: str | None = None
    action: str | None = None
    retry: bool = False
    first: bool = False


UNKNOWN = Finding("unknown")
COMPLETE = Finding("complete")

Findings: TypeAlias = Mapping[str, Finding]
"""By the id of the step; one that is not there is unknown."""


@value(kw_only=True)
class OnboardingStep:
    """A step as it is reported."""

    id: str
    state: State
    owner: Owner
    next_action: str
    blocking: bool
    reason: str | None


@value(kw_only=True)
class NextStep:
    """What to do next; `id` is `None` when everything is done."""

    id: str | None
    owner: Owner
    action: str


@value(kw_only=True)
class Onboarding:
    """How far a project is: every step, the next one, and what could not be found out."""

    steps: tuple[OnboardingStep, ...]
    next: NextStep
    errors: tuple[str, ...] = ()

    @property
    def blocked_on_developer(self) -> tuple[OnboardingStep, ...]:
        """The steps that only the developer can do, and which are to be done."""
        return tuple(step for step in self.steps if step.owner == "developer" and step.state == "todo")

    @property
    def unfinished(self) -> bool:
        """Whether something that a run needs is left to do, or could not be found out."""
        return any(step.id == self.next.id and step.blocking for step in self.steps)


def onboarding(findings: Findings, errors: Iterable[str] = ()) -> Onboarding:
    """The report of what was found."""
    found = {kind.id: findings.get(kind.id, UNKNOWN) for kind in STEPS}
    steps = tuple(_step(kind, found[kind.id]) for kind in STEPS)
    return Onboarding(steps=steps, next=_next(steps, found), errors=tuple(dict.fromkeys(errors)))


def unreadable(errors: Iterable[str]) -> Onboarding:
    """The report where what lies in the project cannot be read: nothing is known, and that comes first."""
    steps = tuple(_step(kind, UNKNOWN) for kind in STEPS)
    action = "correct what cannot be read, then ask again: `beaker onboarding status`"
    return Onboarding(
        steps=steps, next=NextStep(id="config_present", owner="agent", action=action), errors=tuple(errors)
    )


def onboarding_json(report: Onboarding) -> dict[str, Any]:
    """The report as it is answered."""
    return {
        "steps": [
            {
                "id": step.id,
                "state": step.state,
                "owner": step.owner,
                "next_action": step.next_action,
                "blocking": step.blocking,
                "reason": step.reason,
            }
            for step in report.steps
        ],
        "next": {"id": report.next.id, "owner": report.next.owner, "action": report.next.action},
        "blocked_on_developer": [{"id": step.id, "action": step.next_action} for step in report.blocked_on_developer],
        "errors": list(report.errors),
    }


def _step(kind: StepKind, finding: Finding) -> OnboardingStep:
    return OnboardingStep(
        id=kind.id,
        state=finding.state,
        owner=kind.owner,
        next_action=finding.action or kind.action,
        blocking=kind.blocking,
        reason=finding.reason,
    )


def _next(steps: Iterable[OnboardingStep], found: Findings) -> NextStep:
    """The next step; a table of rules, the first that finds one decides.

    | rule | next |
    |---|---|
    | agent and checkout do not belong together | that step: nothing else would help |
    | something a coding agent does is to be done | the first of it; pushing waits for the dataset and the variables |
    | a service could not be asked | the first step that is unknown for it: ask again |
    | whether the branch is pushed could not be told | the dataset or the variables, else ask again |
    | something is to be done | the first of it, what a run can do without after the rest |
    """
    by_id = {step.id: step for step in steps}
    todo = [step for step in by_id.values() if step.state == "todo"]
    waits = [step for step in todo if step.id in ("dataset_available", "required_env_configured")]
    again = [step for step in by_id.values() if step.state == "unknown" and found[step.id].retry]
    for step in todo:
        if found[step.id].first:
            return _to_do(step)
    for step in todo:
        if step.owner == "agent" and step.blocking:
            return _to_do(waits[0] if waits and step.id == "integration_pushed" else step)
    for step in again:
        if step.id != "integration_pushed":
            return NextStep(id=step.id, owner=step.owner, action=RETRY_ACTION)
    if again:
        return _to_do(waits[0]) if waits else NextStep(id=again[0].id, owner=again[0].owner, action=RETRY_ACTION)
    for step in sorted(todo, key=lambda one: not one.blocking):
        return _to_do(step)
    return NextStep(id=None, owner="agent", action=DONE_ACTION)


def _to_do(step: OnboardingStep) -> NextStep:
    return NextStep(id=step.id, owner=step.owner, action=step.next_action)


LOCAL_FINDINGS: Findings = ReadOnlyDict(
    {
        "logged_in": Finding("complete", "no login is needed on this machine"),
        "github_connected": Finding("complete", "runs on this machine take their code from the checkout"),
    }
)
"""What holds for every project that runs on this machine."""
