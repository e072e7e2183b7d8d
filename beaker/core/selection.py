"""Which entry a command means: the named one, else the default, else the only one; Specs before Integrations."""

from collections.abc import Iterable

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Problem, Problems
from beaker.core.values import value


@value
class InvalidEntry(Problem):
    """The selected entry has several problems; the message lists them all, `problems` holds them."""

    problems: Problems = ()


def select(
    config: ProjectConfig | None, explicit_id: str | None, spec_id: str | None = None
) -> Result[IntegrationEntry | None, Problem]:
    """The entry a command works on; `None` when there is nothing to select and nothing was asked for.

    `config` is `None` when there is no file; `explicit_id` names an Integration, `spec_id` a Spec. BK110 an unknown
    id, BK111 a default that names no entry, BK112 several entries and no choice, BK114 both ids at once. The chosen
    entry's own problems are a failure too: that problem itself, or an `InvalidEntry` of several.
    """
    return choose(config, explicit_id, spec_id).bind(_usable)


def choose(
    config: ProjectConfig | None, explicit_id: str | None, spec_id: str | None = None
) -> Result[IntegrationEntry | None, Problem]:
    """As `select`, whatever is wrong inside the entry: for commands that only want its agent key.

    In a file with Specs these come first: `default_spec`, else the only one below `specs`, else `spec`. Integrations
    count where there is none, and where one is named.
    """
    where = "" if config is None else config.file
    if explicit_id is not None and spec_id is not None:
        message = f"the integration {explicit_id!r} and the Spec {spec_id!r} are two, and a command works on one"
        return Failure(Problem("BK114", message, where, "pass --integration-id or --spec-id"))
    if spec_id is not None:
        return _named_spec(config, spec_id, where)
    if explicit_id is not None:
        return _named_integration(config, explicit_id, where)
    if config is None:
        return Success(None)
    if config.specs or config.spec is not None or config.default_spec is not None:
        return _usual_spec(config)
    return _usual_integration(config)


def overshadowed(config: ProjectConfig, added: str) -> Problem | None:
    """What whoever added the integration `added` has to know (BK158): that a command without an id does not mean it,
    but another one, or none that could be told. `None` when it is the one that is meant."""
    found = choose(config, None)
    if not is_successful(found):
        problem = found.failure()
        message = f"from now on commands need --integration-id: {problem.message}"
        return Problem("BK158", message, problem.where, problem.hint)
    usual = found.unwrap()
    if usual is None or (usual.kind, usual.id) == ("integration", added):
        return None
    what = "integration" if usual.kind == "integration" else "Spec"
    message = f"commands without --integration-id mean the {what} {usual.id!r}, not {added!r}"
    better = f"pass --integration-id {added}"
    hint = f"{better}, or change default_integration" if usual.kind == "integration" else better
    return Problem("BK158", message, config.file, hint)


def _named_spec(config: ProjectConfig | None, spec_id: str, where: str) -> Result[IntegrationEntry | None, Problem]:
    known = {} if config is None else dict(config.specs)
    if config is not None and config.spec is not None:
        known.setdefault(config.spec.id, config.spec)
    if spec_id in known:
        return Success(known[spec_id])
    if config is not None and spec_id in config.integrations:
        hint = f"{spec_id} is an integration: pass --integration-id {spec_id}"
    else:
        hint = "pass one of these with --spec-id" if known else "add it below specs"
    listed = _listed(known) if known else "there are none"
    return Failure(Problem("BK110", f"no Spec is named {spec_id!r}; {listed}", where, hint))


def _named_integration(
    config: ProjectConfig | None, explicit_id: str, where: str
) -> Result[IntegrationEntry | None, Problem]:
    entries = {} if config is None else config.integrations
    if explicit_id in entries:
        return Success(entries[explicit_id])
    if config is not None and explicit_id in config.specs:
        hint = f"{explicit_id} is a Spec: pass --spec-id {explicit_id}"
    else:
        hint = "pass one of these with --integration-id" if entries else "add it below integrations"
    known = _listed(entries) if entries else "there are none"
    return Failure(Problem("BK110", f"no integration is named {explicit_id!r}; {known}", where, hint))


def _usual_spec(config: ProjectConfig) -> Result[IntegrationEntry | None, Problem]:
    default = config.default_spec
    if default is not None:
        if default in config.specs:
            return Success(config.specs[default])
        known = _listed(config.specs) if config.specs else "there are none below specs"
        message = f"default_spec is {default!r}, which names no Spec; {known}"
        return Failure(Problem("BK111", message, config.file, "correct default_spec, or pass --spec-id"))
    if len(config.specs) == 1:
        return Success(next(iter(config.specs.values())))
    if config.spec is not None:
        return Success(config.spec)
    message = f"which Spec is meant is open; {_listed(config.specs)}"
    return Failure(Problem("BK112", message, config.file, "pass --spec-id, or set default_spec"))


def _usual_integration(config: ProjectConfig) -> Result[IntegrationEntry | None, Problem]:
    entries, default = config.integrations, config.default_integration
    if not entries:
        return Success(None)
    if default is not None:
        if default in entries:
            return Success(entries[default])
        message = f"default_integration is {default!r}, which names no integration; {_listed(entries)}"
        return Failure(Problem("BK111", message, config.file, "correct default_integration, or pass --integration-id"))
    if len(entries) == 1:
        return Success(next(iter(entries.values())))
    hint = "pass --integration-id, or set default_integration"
    return Failure(Problem("BK112", f"which integration is meant is open; {_listed(entries)}", config.file, hint))


def _usable(entry: IntegrationEntry | None) -> Result[IntegrationEntry | None, Problem]:
    if entry is None or not entry.problems:
        return Success(entry)
    if len(entry.problems) == 1:
        return Failure(entry.problems[0])
    listed = "".join(f"\n  {problem}" for problem in entry.problems)
    what = "integration" if entry.kind == "integration" else "Spec"
    message = f"the {what} {entry.id!r} has {len(entry.problems)} problems:{listed}"
    return Failure(InvalidEntry("BK113", message, problems=entry.problems))


def _listed(entries: Iterable[str]) -> str:
    return f"known are {', '.join(sorted(entries))}"
