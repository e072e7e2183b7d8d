"""What is known of every step of a project's way to a first run, from its files and from what a place answered."""

from returns.pipeline import is_successful

from beaker.core.agent_matching import HostedAgent, match_agent, read_agents
from beaker.core.onboarding import COMPLETE, LOCAL_FINDINGS, UNKNOWN, Finding, Findings
from beaker.core.onboarding_local import ProjectFacts, configuration, dependency, integration, local_dataset, tracing
from beaker.core.onboarding_replies import MAX_PAGES, Replies, chosen_agent, items, page_name, refused
from beaker.core.problems import Problem
from beaker.core.readiness import check_readiness, read_available, with_this_machine
from beaker.core.responses import ApiProblem


def findings(facts: ProjectFacts, replies: Replies) -> Findings:
    """What is known of every step."""
    found = {
        "beaker_dependency_declared": dependency(facts),
        "config_present": configuration(facts),
        "integration_configured": integration(facts),
        "tracing_wired": tracing(facts),
    }
    if not facts.ready:
        return found
    return found | {
        "logged_in": _logged_in(replies),
        "github_connected": _connected(replies),
        "agent_selected": selected(facts, replies),
        "dataset_available": dataset(facts, replies),
        "required_env_configured": environment(facts, replies),
        "integration_pushed": replies.push or UNKNOWN,
        "experiment_launched": _launched(facts, replies),
    }


def errors(facts: ProjectFacts, replies: Replies) -> tuple[str, ...]:
    """What could not be found out, and what no integration can be selected for."""
    said = [] if facts.selection is None else [str(facts.selection)]
    failed = ((name, reply) for name, reply in replies.answers.items() if isinstance(reply, Problem))
    said += [str(reply) for name, reply in failed if not (name == "dataset" and _not_there(reply))]
    return tuple(dict.fromkeys(said))


def _not_there(reply: Problem) -> bool:
    return isinstance(reply, ApiProblem) and reply.status in (400, 404)


def _failed(problem: Problem) -> Finding:
    return Finding("unknown", str(problem), retry=True)


def _logged_in(replies: Replies) -> Finding:
    if replies.who == "local":
        return LOCAL_FINDINGS["logged_in"]
    if replies.who is None:
        problem = replies.denied
        return Finding("todo", None if problem is None else str(problem))
    for reply in replies.answers.values():
        if isinstance(reply, Problem) and refused(replies.who, reply):
            return Finding("todo", f"the credential is refused: {reply}")
    asked = replies.get("me" if replies.who == "session" else "agents")
    if isinstance(asked, Problem):
        return _failed(asked)
    if asked is None:
        return UNKNOWN
    return COMPLETE if replies.who == "session" else Finding("complete", "with an API key")


def _connected(replies: Replies) -> Finding:
    if replies.who == "local":
        return LOCAL_FINDINGS["github_connected"]
    if replies.who == "key":
        return Finding("unknown", "only a login can tell, an API key cannot")
    reply = replies.get("connection")
    if isinstance(reply, Problem):
        return _failed(reply)
    if reply is None:
        return UNKNOWN
    return COMPLETE if is_connected(replies) else Finding("todo", "the GitHub App is not installed")


def is_connected(replies: Replies) -> bool:
    body = replies.body("connection")
    return body is not None and body.get("connected") is True


def selected(facts: ProjectFacts, replies: Replies) -> Finding:
    if replies.who is None:
        return UNKNOWN
    if facts.agent is None:
        return Finding("todo", "no agent is named")
    if replies.who == "local":
        return Finding("complete", f"{facts.agent}, on this machine")
    reply = replies.get("agents")
    if reply is None:
        return UNKNOWN
    if isinstance(reply, Problem):
        return _failed(reply)
    agents = read_agents(reply)
    if not is_successful(agents):
        return _failed(agents.failure())
    matched = match_agent(agents.unwrap(), facts.agent)
    if not is_successful(matched):
        problem = matched.failure()
        return Finding("todo", problem.message, problem.hint)
    agent = matched.unwrap()
    if agent is None:
        return Finding("todo", f"there is no agent {facts.agent!r}")
    return _bound(facts, agent) or _readable(agent, replies)


def _bound(facts: ProjectFacts, agent: HostedAgent) -> Finding | None:
    """What keeps the agent from being the one of this checkout; `None` when it is."""
    another = "give this checkout an agent of its own: `beaker agent setup NEW_NAME`; leave the other one as it is"
    if facts.config_path is None:
        return Finding("todo", "the configuration is in no Git repository", "make the project a Git repository")
    if agent.repository is None:
        return Finding("todo", f"the agent {agent.key} has no repository")
    if agent.config_path != facts.config_path:
        what = f"the agent {agent.key} is for {agent.config_path}, not for {facts.config_path}"
        return Finding("todo", what, another, first=True)
    if facts.repository is not None and facts.repository.casefold() != agent.repository.casefold():
        what = f"the agent {agent.key} is for {agent.repository}, and this is a checkout of {facts.repository}"
        return Finding("todo", what, another, first=True)
    return None


def _readable(agent: HostedAgent, replies: Replies) -> Finding:
    """Whether the GitHub App can read the agent's repository."""
    if replies.who == "key":
        return Finding("complete", f"whether {agent.repository} can be read, only a login can tell")
    connection = _connected(replies)
    if connection.state != "complete":
        return Finding(connection.state, connection.reason, retry=connection.retry)
    reply = replies.get("repositories")
    if reply is None:
        return UNKNOWN
    if isinstance(reply, Problem):
        return _failed(reply)
    listed = reply.get("repositories")
    names = [name.casefold() for name in listed if isinstance(name, str)] if isinstance(listed, list | tuple) else []
    assert agent.repository is not None
    if agent.repository.casefold() in names:
        return COMPLETE
    action = f"let the GitHub App read it: `beaker github connect --repo {agent.repository}`"
    return Finding("todo", f"the GitHub App cannot read {agent.repository}", action)


def dataset(facts: ProjectFacts, replies: Replies) -> Finding:
    known = local_dataset(facts)
    if known is not None:
        return known
    if replies.who is None or replies.body("agents") is None:
        return UNKNOWN
    if chosen_agent(facts, replies) is None and replies.who != "local":
        return Finding("todo", "it cannot be looked for without an agent") if facts.dataset else UNKNOWN
    choice = facts.dataset
    if choice is None or isinstance(choice, Problem):
        return _any_dataset(replies)
    if choice.reference is not None:
        reply = replies.get("dataset")
        if isinstance(reply, Problem) and _not_there(reply):
            return Finding("todo", f"there is no dataset {choice.reference}: {reply.message}")
        if isinstance(reply, Problem):
            return _failed(reply)
        return UNKNOWN if reply is None else Finding("complete", choice.reference)
    if found_dataset(replies, choice.artifact_id):
        return Finding("complete", choice.artifact_id)
    pages = [replies.get(page_name(page)) for page in range(MAX_PAGES)]
    for reply in pages:
        if isinstance(reply, Problem):
            return _failed(reply)
    return UNKNOWN if pages[0] is None else Finding("todo", f"no complete dataset has the id {choice.artifact_id}")


def _any_dataset(replies: Replies) -> Finding:
    reply = replies.get("datasets")
    if isinstance(reply, Problem):
        return _failed(reply)
    if reply is None:
        return UNKNOWN
    if items(reply, "datasets"):
        return Finding("complete", "one was uploaded; name it in config_defaults.dataset_ref")
    return Finding("todo", "nothing was uploaded")


def found_dataset(replies: Replies, artifact_id: str | None) -> bool:
    """Whether a listed dataset has this id and is complete."""
    return any(
        item.get("artifact_id") == artifact_id and item.get("status") == "COMPLETE"
        for page in range(MAX_PAGES)
        for item in items(replies.body(page_name(page)), "datasets")
    )


def environment(facts: ProjectFacts, replies: Replies) -> Finding:
    if facts.entry_problems or facts.selection is not None:
        return Finding("unknown", "the integration's entry cannot be read")
    agent = chosen_agent(facts, replies)
    if agent is None and replies.who != "local":
        return UNKNOWN
    if not facts.required_env:
        return Finding("complete", "no variable is needed")
    answers = [replies.get("credentials")]
    answers += [] if agent is None else [replies.get("env_vars")]
    for reply in answers:
        if reply is None:
            return UNKNOWN
        if isinstance(reply, Problem):
            return _failed(reply)
    available = read_available(replies.body("env_vars"), replies.body("credentials"))
    if replies.who == "local":
        available = with_this_machine(available, replies.environ, replies.dotenv)
    readiness = check_readiness(facts.required_env, available).unwrap()
    if not readiness.ready:
        return Finding("todo", f"not set: {', '.join(readiness.missing)}", readiness.problems()[0].hint)
    routed = [name for name, source in readiness.sources.items() if source == "provider_routing"]
    return Finding("complete", f"routed by the platform: {', '.join(routed)}") if routed else COMPLETE


def can_launch(facts: ProjectFacts, replies: Replies) -> bool:
    needed = (dataset(facts, replies), environment(facts, replies), replies.push or UNKNOWN)
    return all(finding.state == "complete" for finding in needed)


def _launched(facts: ProjectFacts, replies: Replies) -> Finding:
    reply = replies.get("runs")
    if reply is None:
        return UNKNOWN
    if isinstance(reply, Problem):
        return _failed(reply)
    return COMPLETE if items(reply, "runs") else Finding("todo", "no run was started yet")
