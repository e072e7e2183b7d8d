"""Options that have no use where a command works: refused, since whoever gives one expects something of it (BK904)."""

from collections.abc import Iterable, Mapping

from beaker.core.problems import Problem
from beaker.core.values import value

CODE = "BK904"


NO_AGENTS_HERE = Problem(
    CODE,
    "agents need no setting up on this machine: one is there from its first use on",
    hint="name one with --agent, or in the configuration; or name none",
)
"""Why agents are not made or changed on this machine."""

NO_BRANCHES_HERE = Problem(
    CODE,
    "GitHub is not needed on this machine: a run takes its code from this checkout",
    hint="`git branch --list` shows the branches of this checkout",
)
"""Why the branches of a repository are not listed on this machine."""


SERVER_REASONS: Mapping[str, str] = {
    "--base-url": "--base-url names an API to use, and this command is one",
    "--api-key": "--api-key is for those who ask; the token of a server stands in its --token-file",
    "--local": "--local is what this command does anyway",
    "--no-resume": "--no-resume is about commands that look; a server goes on with every run",
}
"""Why a server takes no option about the place to ask."""


@value(kw_only=True)
class GivenOptions:
    """Which of the global options about a place were given."""

    api_key: bool
    insecure_http: bool
    no_resume: bool


def needless(given: GivenOptions, *, local: bool) -> Problem | None:
    """The option that has no use at this place: on this machine, when it is `local`, else elsewhere."""
    if local and given.api_key:
        return Problem(CODE, "--api-key has no use on this machine: there is nobody to log in to")
    if local and given.insecure_http:
        return Problem(CODE, "--insecure-http has no use on this machine: nothing is sent")
    if given.no_resume and not local:
        return Problem(CODE, "--no-resume is about runs on this machine; it needs --local")
    return None


def needless_to_a_person(given: GivenOptions, *, command: str) -> Problem | None:
    """The option that has no use to a `command` about somebody's login, wherever that is."""
    if not given.api_key:
        return None
    message = f"--api-key has no use here: `beaker {command}` is about somebody's login, a key names an organization"
    return Problem(CODE, message, hint="leave it out; `beaker login` logs you in")


def needless_to_a_launch(*, local: bool, app_base_url: bool, python: bool) -> Problem | None:
    """The option of a launch that has no use at this place."""
    if local and app_base_url:
        return Problem(CODE, "--app-base-url has no use on this machine: there is no page to point at")
    if python and not local:
        return Problem(CODE, "--python has no use elsewhere: the place makes an environment of its own")
    return None


def needless_to_a_server(given: Iterable[str]) -> Problem | None:
    """The first of the `given` options that has no use to a server."""
    return next((Problem(CODE, SERVER_REASONS[option]) for option in given if option in SERVER_REASONS), None)
