"""Whether everything an Integration's `required_env` names is there for a run, and where each value comes from.

What an agent's own variables do not hold, the organization's provider keys may, and what neither holds, the platform
may stand in for by routing calls to the provider. Values on this machine count for runs on this machine alone: a run
elsewhere cannot see them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.environment import dotenv_supplies, parse_required_env
from beaker.core.problems import Problem, Problems
from beaker.core.values import ReadOnlyDict, value

PROVIDER_ENV_VAR_NAMES: Mapping[str, str] = ReadOnlyDict(
    {
        "openai": "OPENAI_API_KEY",
        "anthropic": "ANTHROPIC_API_KEY",
        "google": "GOOGLE_API_KEY",
        "openrouter": "OPENROUTER_API_KEY",
    }
)
"""The variable that holds the key of each known provider."""

GOOGLE_ENV_VAR_NAMES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""Both names under which a key of Google's is looked for; one of a customer turns routing off for both."""

ReadinessSource: TypeAlias = Literal["agent", "organization", "environment", "dotenv", "provider_routing"]
"""Where a name is set: a variable of the agent, a key of the organization, the environment or the `.beaker/.env` of a
run on this machine, the platform's routing."""

SOURCE_TEXTS: Mapping[ReadinessSource, str] = ReadOnlyDict(
    {
        "agent": "a variable of the agent",
        "organization": "a key of the organization",
        "environment": "the environment of this command",
        "dotenv": ".beaker/.env",
        "provider_routing": "calls are routed by the platform",
    }
)
"""A source in words."""


@value
class Available:
    """The names that a place can supply: `agent` and `organization` hold values, `routed` needs none; `environment` and
    `dotenv` are those of this machine, empty for a place elsewhere."""

    agent: frozenset[str] = frozenset()
    organization: frozenset[str] = frozenset()
    routed: frozenset[str] = frozenset()
    environment: frozenset[str] = frozenset()
    dotenv: frozenset[str] = frozenset()


@value
class Readiness:
    """The declared names in declared order: the source of each that is set, and those that are `missing`."""

    sources: Mapping[str, ReadinessSource]
    missing: tuple[str, ...]

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    def problems(self) -> Problems:
        """One BK121 per missing name, with what would set it; none when ready."""
        return tuple(Problem("BK121", "is not set", name, _remedy(name)) for name in self.missing)


def provider_env_var_name(provider: str) -> str | None:
    """The variable of a provider's key, `None` for a provider we do not know: skip that one, do not guess."""
    return PROVIDER_ENV_VAR_NAMES.get(provider)


def check_readiness(required_env: object, available: Available) -> Result[Readiness, Problems]:
    """Where each name of a `required_env` declaration is set.

    A malformed declaration is refused (BK120, every fault); a missing name is an answer, not a refusal.
    """
    declared = parse_required_env(required_env)
    if not is_successful(declared):
        return Failure(declared.failure())
    names = declared.unwrap()
    routed = available.routed - _unrouted(names, available)
    sources: dict[str, ReadinessSource] = {}
    for name in names:
        if name in available.agent:
            sources[name] = "agent"
        elif name in available.organization:
            sources[name] = "organization"
        elif name in available.environment:
            sources[name] = "environment"
        elif name in available.dotenv:
            sources[name] = "dotenv"
        elif name in routed:
            sources[name] = "provider_routing"
    return Success(Readiness(ReadOnlyDict(sources), tuple(name for name in names if name not in sources)))


def read_available(env_vars: object, credentials: object) -> Available:
    """What a place can supply, from its answers: `{"env_vars": [...]}` and `{"credentials": [...], ...}`, decoded JSON.

    A variable of the agent counts by its name, also when its value is empty; a credential when `configured` is `true`.
    Total: unknown providers and whatever has another shape add nothing.
    """
    agent = {name for item in _listed(env_vars, "env_vars") if (name := _text(item, "name"))}
    configured = (item for item in _listed(credentials, "credentials") if item.get("configured") is True)
    organization = _key_names(_text(item, "provider") for item in configured)
    providers = credentials.get("platform_routing_providers") if isinstance(credentials, Mapping) else None
    routing = [name for name in providers if isinstance(name, str)] if isinstance(providers, list | tuple) else []
    routed = {*_key_names(routing), *(GOOGLE_ENV_VAR_NAMES if "google" in routing else ())}
    return Available(frozenset(agent), frozenset(organization), frozenset(routed))


def with_this_machine(available: Available, environ: Iterable[str], dotenv: Mapping[str, str]) -> Available:
    """What a run on this machine may get beside what the place keeps: names of the environment, and those of the
    project's dotenv file that it may supply."""
    declared = tuple(dotenv)
    return Available(
        available.agent,
        available.organization,
        available.routed,
        frozenset(environ),
        frozenset(dotenv_supplies(dotenv, declared)),
    )


def _unrouted(declared: Iterable[str], available: Available) -> frozenset[str]:
    """The names that routing does not cover because the customer's own Google key would be used instead.

    An agent's key counts whether or not it is declared; an organization's only where the name it has is declared,
    since only then a run gets it.
    """
    google = frozenset(GOOGLE_ENV_VAR_NAMES)
    own = available.agent | (available.organization & frozenset(declared))
    return google if own & google else frozenset()


def _key_names(providers: Iterable[str]) -> Iterable[str]:
    return {name for provider in providers if (name := provider_env_var_name(provider)) is not None}


def _listed(answer: object, key: str) -> list[Mapping[str, Any]]:
    items = answer.get(key) if isinstance(answer, Mapping) else None
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list | tuple) else []


def _text(item: Mapping[str, Any], key: str) -> str:
    found = item.get(key)
    return found if isinstance(found, str) else ""


def _remedy(name: str) -> str:
    """What sets a missing name: a variable of the agent always, a key of the organization where it is a provider's."""
    own = f"set it for the agent: beaker agent env set {name} --value-stdin"
    provider = next((known for known, variable in PROVIDER_ENV_VAR_NAMES.items() if variable == name), None)
    return own if provider is None else f"{own}; or add the organization's {provider} key"
