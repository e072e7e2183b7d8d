"""What a place answered about a project's way to a first run, as far as it was asked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import attrs
from returns.pipeline import is_successful

from beaker.core.agent_matching import HostedAgent, match_agent, read_agents
from beaker.core.onboarding import Finding
from beaker.core.onboarding_local import ProjectFacts
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem
from beaker.core.values import ReadOnlyDict, value

MAX_PAGES = 10
"""Pages of datasets that are looked through for one by its id."""

Who: TypeAlias = Literal["session", "key", "local"]
"""Who asks: somebody who is logged in, an organization by its key, or nobody, on this machine."""

Reply: TypeAlias = Mapping[str, Any] | Problem


@value(kw_only=True)
class Replies:
    """What was answered so far. `who` is `None` when there is no credential, for the reason `denied`. `push` is what
    Git said. On this machine `environ` and `dotenv` count for variables."""

    who: Who | None = None
    denied: Problem | None = None
    answers: Mapping[str, Reply] = attrs.field(factory=ReadOnlyDict)
    push: Finding | None = None
    environ: frozenset[str] = frozenset()
    dotenv: Mapping[str, str] = attrs.field(factory=ReadOnlyDict, repr=False)

    def with_reply(self, name: str, reply: Reply) -> "Replies":
        """These and one more."""
        return replace(self, answers=ReadOnlyDict({**self.answers, name: reply}))

    def with_push(self, finding: Finding) -> "Replies":
        """These, and what Git said."""
        return replace(self, push=finding)

    def get(self, name: str) -> Reply | None:
        """The reply to a question, `None` while it was not asked."""
        return self.answers.get(name)

    def body(self, name: str) -> Mapping[str, Any] | None:
        """The answer to a question, `None` when there is none."""
        found = self.answers.get(name)
        return None if isinstance(found, Problem) else found


def chosen_agent(facts: ProjectFacts, replies: Replies) -> HostedAgent | None:
    """The agent of the project, as the place describes it."""
    body = replies.body("agents")
    if body is None or facts.agent is None:
        return None
    matched = match_agent(read_agents(body).value_or(()), facts.agent)
    return matched.unwrap() if is_successful(matched) else None


def nothing_kept(name: str) -> Reply:
    """What a machine that keeps nothing for the project yet replies to the question `name`."""
    if name == "dataset":
        return ApiProblem("BK453", "no dataset was uploaded here", status=404)
    return {"agents": [], "credentials": [], "datasets": [], "runs": []}


def refused(who: Who | None, reply: Reply) -> bool:
    """Whether a reply says that the credential is no good. A key may be kept out of one thing and have another."""
    return isinstance(reply, ApiProblem) and (reply.status == 401 or (reply.status == 403 and who == "session"))


def silent(reply: Reply) -> bool:
    """Whether there was no answer at all. One that breaks the contract (BK804) is an answer."""
    return isinstance(reply, Problem) and reply.code != "BK804" and getattr(reply, "status", 0) == 0


def page_name(number: int) -> str:
    """What the question for one page of datasets is called."""
    return f"datasets {number}"


def items(body: Mapping[str, Any] | None, key: str) -> list[Mapping[str, Any]]:
    """The objects in a list of an answer; what has another shape holds none."""
    found = None if body is None else body.get(key)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list | tuple) else []
