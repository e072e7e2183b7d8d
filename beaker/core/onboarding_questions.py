"""What a place is asked about a project's way to a first run, and in which order.

Sans-I/O: `next_question` gives the question that comes next; whoever asks it keeps the reply with
`Replies.with_reply`. A question that fails takes down the steps that need its answer and no others, unless nobody
answers at all, or the credential is refused: then nothing more is asked.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from beaker.core.onboarding_hosted import can_launch, found_dataset, is_connected, selected
from beaker.core.onboarding_local import ProjectFacts, local_dataset
from beaker.core.onboarding_replies import MAX_PAGES, Replies, chosen_agent, items, page_name, refused, silent
from beaker.core.problems import Problem
from beaker.core.values import ReadOnlyDict, value

PAGE = 100

PUSH = "push"
"""The question that is for Git and not for the place: whether what is checked out is in the agent's repository."""


@value
class Question:
    """A question by its name here, the endpoint that answers it (empty for `PUSH`), and the arguments."""

    name: str
    endpoint: str
    arguments: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)


def next_question(facts: ProjectFacts, replies: Replies) -> Question | None:
    """What to ask next; `None` when nothing more would help."""
    for question in _questions(facts, replies):
        if _hopeless(replies):
            return None
        answered = replies.push if question.name == PUSH else replies.get(question.name)
        if answered is None:
            return question
    return None


def _questions(facts: ProjectFacts, replies: Replies) -> Iterator[Question]:
    """Every question that the replies so far lead to, in order."""
    if not facts.ready or replies.who is None:
        return
    if replies.who == "session":
        yield Question("me", "get_user_me")
        yield Question("agents", "list_user_agents")
        yield Question("connection", "get_user_github_connection")
        if is_connected(replies):
            yield Question("repositories", "list_user_github_repositories")
    else:
        yield Question("agents", "list_agents")
    agent = chosen_agent(facts, replies)
    if agent is None and replies.who != "local":
        return
    if selected(facts, replies).state == "complete":
        yield Question(PUSH, "")
    if facts.required_env and not facts.entry_problems:
        yield Question("credentials", "list_llm_credentials")
        if agent is not None:
            yield Question("env_vars", "list_agent_env_vars", ReadOnlyDict({"agent_id": agent.id}))
    key = facts.agent if agent is None else agent.key
    yield from _dataset_questions(facts, replies, {"agent_key": key})
    if can_launch(facts, replies):
        yield Question("runs", "list_optimization_runs", ReadOnlyDict({"agent_key": key, "limit": 1, "offset": 0}))


def _dataset_questions(facts: ProjectFacts, replies: Replies, about: Mapping[str, Any]) -> Iterator[Question]:
    if local_dataset(facts) is not None:
        return
    choice = facts.dataset
    if choice is None or isinstance(choice, Problem):
        yield Question("datasets", "list_datasets", ReadOnlyDict({**about, "limit": 1, "offset": 0}))
    elif choice.reference is not None:
        yield Question("dataset", "resolve_dataset", ReadOnlyDict({**about, "reference": choice.reference}))
    else:
        for page in range(MAX_PAGES):
            name = page_name(page)
            yield Question(name, "list_datasets", ReadOnlyDict({**about, "limit": PAGE, "offset": page * PAGE}))
            if len(items(replies.body(name), "datasets")) < PAGE or found_dataset(replies, choice.artifact_id):
                return


def _hopeless(replies: Replies) -> bool:
    """Whether nothing more need be asked: nobody answers, or the credential is refused."""
    return any(refused(replies.who, reply) or silent(reply) for reply in replies.answers.values())
