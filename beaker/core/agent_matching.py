"""Which agent a text names, and what setting an integration up for it takes."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.github_access import parse_repository
from beaker.core.problems import Problem, Problems
from beaker.core.project_layout import BEAKER_CONFIG_PATH, normalize_beaker_config_path
from beaker.core.responses import ApiProblem, stated_problems
from beaker.core.values import value


@value(kw_only=True)
class HostedAgent:
    """An agent as a service describes it. `repository` is the `owner/name` it is bound to, `None` when it is to none;
    `config_path` counts from the root of that repository."""

    id: str
    key: str
    name: str
    repository: str | None = None
    config_path: str = BEAKER_CONFIG_PATH


@value
class Adopt:
    """The agent is as it should be; `repository` is one whose access is to be verified, `None` when there is none."""

    agent: HostedAgent
    repository: str | None


@value
class Associate:
    """The agent is to be bound to a repository."""

    agent: HostedAgent
    repository: str


@value
class Create:
    """A new agent is to be made."""

    name: str
    repository: str


AgentPlan: TypeAlias = Adopt | Associate | Create


def read_agents(answer: Mapping[str, Any]) -> Result[tuple[HostedAgent, ...], Problem]:
    """The agents in an answer of `list_agents` or `list_user_agents`; BK804 when one has no key or no name in text, so
    that nobody is told of fewer than there are."""
    listed = answer.get("agents")
    if not isinstance(listed, list | tuple):
        return Failure(Problem("BK804", "the answer has no list of agents"))
    agents = [read_agent(item) for item in listed]
    known = tuple(agent for agent in agents if agent is not None)
    if len(known) < len(agents):
        return Failure(Problem("BK804", f"agent {agents.index(None) + 1} of the answer has no key or no name"))
    return Success(known)


def read_agent(item: object) -> HostedAgent | None:
    """One agent as a service describes it; `None` without a key and a name in text."""
    if not isinstance(item, Mapping) or not _text(item, "key") or not _text(item, "name"):
        return None
    return HostedAgent(
        id=_text(item, "id"),
        key=_text(item, "key"),
        name=_text(item, "name"),
        repository=_text(item, "github_repository").strip() or None,
        config_path=_text(item, "beaker_config_path").strip() or BEAKER_CONFIG_PATH,
    )


def named_agent(given: str) -> Result[str, Problem]:
    """The name of a new agent, without blanks around it; BK905 for a blank one."""
    name = given.strip()
    return Success(name) if name else Failure(Problem("BK905", "the agent needs a name", "NAME"))


def created_agent(name: str, answer: Mapping[str, Any]) -> Result[HostedAgent, Problem]:
    """The agent in the answer to its creation, called `name` unless it says otherwise; BK804 when it has no key."""
    agent = read_agent({"name": name, **answer})
    if agent is None:
        return Failure(Problem("BK804", "the answer does not say the key of the new agent"))
    return Success(agent)


def creation_refused(problem: Problem, repository: str) -> Problems:
    """Why an agent was not made, with what to do where its `repository` may not be readable yet (409, 422)."""
    if isinstance(problem, ApiProblem) and problem.status in (409, 422):
        hint = f"if the Beaker App cannot read it yet: `beaker github connect --repo {repository}`"
        return (Problem(problem.code, problem.message, problem.where, problem.hint or hint),)
    return stated_problems(problem)


def match_agent(agents: Iterable[HostedAgent], text: str) -> Result[HostedAgent | None, Problem]:
    """The agent whose key is `text`, else the one of that name (case does not count); `None` when there is neither.

    BK151 when several have the name, with their keys.
    """
    known, wanted = tuple(agents), text.strip()
    for agent in known:
        if agent.key == wanted:
            return Success(agent)
    named = [agent for agent in known if agent.name.casefold() == wanted.casefold()]
    if len(named) > 1:
        keys = ", ".join(sorted(agent.key for agent in named))
        return Failure(Problem("BK151", f"several agents are named {wanted!r}", hint=f"name one by its key: {keys}"))
    return Success(named[0] if named else None)


def the_agent(agents: Iterable[HostedAgent], text: str) -> Result[HostedAgent, Problem]:
    """The agent that `text` names; BK151 when several do, BK152 when none does."""
    found = match_agent(agents, text)
    if not is_successful(found):
        return Failure(found.failure())
    agent = found.unwrap()
    if agent is None:
        hint = "`beaker agent list` shows the agents there are"
        return Failure(Problem("BK152", f"there is no agent {text.strip()!r}", hint=hint))
    return Success(agent)


def plan_setup(
    agents: Iterable[HostedAgent], text: str, *, repository: str | None, config_path: str, checkout: str | None = None
) -> Result[AgentPlan, Problem]:
    """What setting up the agent that `text` names takes, for the configuration `config_path` of `repository`.

    | agent | `repository` | plan |
    |---|---|---|
    | bound to R | none, or R | `Adopt`, after R was verified |
    | bound to R | another | refused (BK153) |
    | bound, its configuration is another | any | refused (BK153) |
    | not bound | given | `Associate` |
    | not bound | none | `Adopt` |
    | none of that name | given | `Create` |
    | none of that name | none | refused (BK154) |

    `checkout` is the repository of this checkout, which a refusal may propose.
    """
    matched = match_agent(agents, text)
    if not is_successful(matched):
        return Failure(matched.failure())
    agent = matched.unwrap()
    if repository is not None:
        parsed = parse_repository(repository)
        if not is_successful(parsed):
            return Failure(parsed.failure())
        repository = parsed.unwrap()
    if agent is None:
        if not text.strip():
            return Failure(Problem("BK152", "the agent needs a name"))
        if repository is None:
            hint = f"a new one needs its GitHub repository: --repo {checkout or 'OWNER/NAME'}"
            return Failure(Problem("BK154", f"there is no agent {text.strip()!r}", hint=hint))
        return Success(Create(text.strip(), repository))
    if agent.repository is None:
        return Success(Adopt(agent, None) if repository is None else Associate(agent, repository))
    if agent.config_path != config_path:
        message = f"the agent {agent.key} is for the configuration {agent.config_path}, not {config_path}"
        moved = f"if the file was moved, run `beaker agent edit {agent.key} --config-path {config_path}`"
        return Failure(Problem("BK153", message, hint=f"give this one an agent of its own, with a new name; {moved}"))
    if repository is not None and repository.casefold() != agent.repository.casefold():
        message = f"the agent {agent.key} is bound to {agent.repository}, not to {repository}"
        return Failure(Problem("BK153", message, hint="leave --repo out, or take an agent with a new name"))
    return Success(Adopt(agent, agent.repository))


def plan_edit(name: str | None, config_path: str | None) -> Result[dict[str, str], Problem]:
    """The changes of an agent as they are sent: those of `name` and `beaker_config_path` that are given, the path
    normalised. BK905 when there is none, the name is blank, or the path leaves its repository."""
    changes: dict[str, str] = {}
    if name is not None:
        changes["name"] = name.strip()
        if not changes["name"]:
            return Failure(Problem("BK905", "an agent needs a name", "--name"))
    if config_path is not None:
        try:
            changes["beaker_config_path"] = normalize_beaker_config_path(config_path)
        except ValueError as error:
            return Failure(Problem("BK905", f"the path {error}", "--config-path"))
    if not changes:
        return Failure(Problem("BK905", "nothing is to be changed", hint="give --name or --config-path"))
    return Success(changes)


def _text(item: Mapping[str, Any], key: str) -> str:
    found = item.get(key)
    return found if isinstance(found, str) else ""
