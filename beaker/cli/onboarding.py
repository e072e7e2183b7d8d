"""`beaker onboarding status`: how far a project is on its way to a first run, and what comes next."""

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_agent_option, add_entry_options, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.cli.onboarding_facts import Gathered
    from beaker.cli.place import Place, Surroundings
    from beaker.core.onboarding import Finding, Onboarding, OnboardingStep
    from beaker.core.onboarding_questions import Question
    from beaker.core.onboarding_replies import Replies, Reply

NO_CREDENTIAL = ("BK133", "BK150")
"""The codes of a refusal because nobody is logged in and there is no key: an answer here."""

MARKS = {"complete": ("PASS", "ok"), "todo": ("TODO", "warn"), "unknown": ("UNKNOWN", "muted")}


def add_parser(subparsers: Any) -> None:
    """Add `onboarding` with its action."""
    group = subparsers.add_parser("onboarding", help=HELP["onboarding"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    status = add_leaf(
        actions,
        "status",
        help="tell how far the project is, and what comes next",
        description="Looks at the project, asks the API, with a login or a key, and Git, and tells for every step to a "
        "first run whether it is done. Nothing is changed. The exit code is 0 however much is left to do.",
    )
    add_agent_option(status)
    add_entry_options(status)
    said = "exit code 1 when something is left that a run needs"
    status.add_argument("--fail-on-todo", action="store_true", help=said)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Report; exit code 2 only when what lies in the project cannot be read."""
    from beaker.cli.onboarding_facts import gather, overriding_key
    from beaker.cli.place import look_around
    from beaker.core.onboarding import onboarding, unreadable
    from beaker.core.onboarding_hosted import errors, findings
    from beaker.core.problems import Refused

    try:
        around = look_around(arguments, io)
        gathered = gather(arguments, io, around)
    except Refused as refused:
        report = unreadable(str(problem) for problem in refused.problems)
        _show(report, io)
        return io.fail(refused.problems)
    replies = _ask(arguments, io, around, gathered)
    report = onboarding(findings(gathered.facts, replies), errors(gathered.facts, replies))
    if (warning := overriding_key(arguments, io, around)) is not None:
        io.warn(warning)
    _show(report, io)
    return NEGATIVE if arguments.fail_on_todo and report.unfinished else DONE


def _ask(arguments: argparse.Namespace, io: Io, around: "Surroundings", gathered: "Gathered") -> "Replies":
    """Ask the place and Git as long as there is a question whose answer would help."""
    from beaker.cli.place import opened, refuse_needless
    from beaker.core.onboarding_questions import PUSH, next_question
    from beaker.core.onboarding_replies import Replies
    from beaker.core.problems import Refused

    facts = gathered.facts
    if gathered.local:
        refuse_needless(arguments)
    if not facts.ready:
        return Replies()
    with ExitStack() as stack:
        place: Place | None = None
        replies = Replies(who="local", environ=frozenset(io.environ), dotenv=gathered.dotenv)
        if not gathered.local or _has_state(io, around):
            try:
                place = stack.enter_context(opened(arguments, io, around=around, resume=False, needs_agent=False))
            except Refused as refused:
                if refused.problems[0].code not in NO_CREDENTIAL:
                    raise
                return Replies(denied=refused.problems[0])
            if place.credential is not None:
                replies = Replies(who="session" if place.credential.names_a_person else "key")
        while (question := next_question(facts, replies)) is not None:
            if question.name == PUSH:
                replies = replies.with_push(_push(io, gathered, replies))
            else:
                replies = replies.with_reply(question.name, _reply(place, question))
        return replies


def _has_state(io: Io, around: "Surroundings") -> bool:
    """Whether this machine keeps anything for the project: to look at it must not make a store."""
    from beaker.service.place import DATABASE, state_folder

    return around.project is not None and (state_folder(around.project.root.resolve(), io.environ) / DATABASE).is_file()


def _reply(place: "Place | None", question: "Question") -> "Reply":
    from returns.pipeline import is_successful

    from beaker.core.onboarding_replies import nothing_kept

    if place is None:
        return nothing_kept(question.name)
    answer = place.api.call(question.endpoint, **question.arguments)
    return answer.unwrap() if is_successful(answer) else answer.failure()


def _push(io: Io, gathered: "Gathered", replies: "Replies") -> "Finding":
    """Whether what a run would execute is committed and, for a run elsewhere, pushed."""
    from datetime import datetime

    from beaker.core.onboarding import Finding
    from beaker.core.onboarding_replies import chosen_agent
    from beaker.core.push_state import committed, pushed, suggest_branch
    from beaker.files.git_push import git_facts

    if gathered.git_root is None:
        return Finding("todo", "the project is in no Git repository", "make it one: git init, and a first commit")
    agent = chosen_agent(gathered.facts, replies)
    repository = None if agent is None or replies.who == "local" else agent.repository
    if repository is not None and repository.startswith("local/"):
        repository = None  # a server of one's own takes its code from the checkout that it serves
    facts = git_facts(gathered.git_root, source_dir=gathered.source_dir, files=gathered.watched, repository=repository)
    if agent is None or repository is None:
        return committed(facts)
    suggested = suggest_branch(agent.name, datetime.fromtimestamp(io.now()), facts.branch)
    return pushed(facts, repository=repository, suggested=suggested)


def _show(report: "Onboarding", io: Io) -> None:
    from dataclasses import replace

    from beaker.core.onboarding import onboarding_json

    steps = tuple(replace(step, next_action=_here(step.next_action, io)) for step in report.steps)
    report = replace(report, steps=steps, next=replace(report.next, action=_here(report.next.action, io)))
    if io.json:
        io.json_line(onboarding_json(report))
        return
    io.out(Styled("The way to a first run", "heading"))
    for step in report.steps:
        _show_step(step, io)
    blocked = report.blocked_on_developer
    if blocked:
        io.out(Styled("Waiting for the developer:", "heading"))
        for step in blocked:
            io.out(f"  {step.id}: ", one_line(step.next_action))
    ahead = report.next
    name = "" if ahead.id is None else f"{ahead.id} ({ahead.owner}): "
    io.out(Styled("Next: ", "heading"), name, one_line(ahead.action))
    for error in report.errors:
        io.tell(Styled("error:", "error"), f" {one_line(error)}")


def _show_step(step: "OnboardingStep", io: Io) -> None:
    mark, role = MARKS[step.state]
    if step.state == "todo" and not step.blocking:
        mark, role = "ADVISORY", "key"
    reason = "" if step.reason is None else f"  {one_line(step.reason)}"
    io.out("  ", Styled(f"{mark:<8}", role), f" {step.id:<26} {step.owner:<9}{reason}".rstrip())


def _here(action: str, io: Io) -> str:
    """An action with its commands as they would have to be typed here."""
    from beaker.cli.words import advised
    from beaker.core.problems import Problem

    return advised(Problem("", "", hint=action), io).hint
