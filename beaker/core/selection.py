"""Which integration a command means: the explicit one, else the default, else the only one."""

from collections.abc import Iterable

from returns.result import Failure, Result, Success

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Problem, Problems
from beaker.core.values import value


@value
class InvalidEntry(Problem):
    """The selected entry has several problems; the message lists them all, `problems` holds them."""

    problems: Problems = ()


def select(config: ProjectConfig | None, explicit_id: str | None) -> Result[IntegrationEntry | None, Problem]:
    """The entry a command works on; `None` when there is nothing to select and nothing was asked for.

    `config` is `None` when there is no file. BK110 an unknown id, BK111 a default that names no entry, BK112 several
    entries and no choice. The chosen entry's own problems are a failure too: that problem itself, or an
    `InvalidEntry` of several.
    """
    found = choose(config, explicit_id)
    return found.bind(_usable)


def choose(config: ProjectConfig | None, explicit_id: str | None) -> Result[IntegrationEntry | None, Problem]:
    """As `select`, whatever is wrong inside the entry: for commands that only want its agent key."""
    entries = {} if config is None else config.integrations
    where = "" if config is None else config.file
    if explicit_id is not None:
        if explicit_id in entries:
            return Success(entries[explicit_id])
        known = _listed(entries) if entries else "there are none"
        hint = "pass one of these with --integration-id" if entries else "add it below integrations"
        return Failure(Problem("BK110", f"no integration is named {explicit_id!r}; {known}", where, hint))
    if config is None or not entries:
        return Success(None)
    default = config.default_integration
    if default is not None:
        if default in entries:
            return Success(entries[default])
        message = f"default_integration is {default!r}, which names no integration; {_listed(entries)}"
        return Failure(Problem("BK111", message, where, "correct default_integration, or pass --integration-id"))
    if len(entries) == 1:
        return Success(next(iter(entries.values())))
    hint = "pass --integration-id, or set default_integration"
    return Failure(Problem("BK112", f"which integration is meant is open; {_listed(entries)}", where, hint))


def _usable(entry: IntegrationEntry | None) -> Result[IntegrationEntry | None, Problem]:
    if entry is None or not entry.problems:
        return Success(entry)
    if len(entry.problems) == 1:
        return Failure(entry.problems[0])
    listed = "".join(f"\n  {problem}" for problem in entry.problems)
    message = f"the integration {entry.id!r} has {len(entry.problems)} problems:{listed}"
    return Failure(InvalidEntry("BK113", message, problems=entry.problems))


def _listed(entries: Iterable[str]) -> str:
    return f"known are {', '.join(sorted(entries))}"
