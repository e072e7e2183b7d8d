"""Where declared names are set: the decision table, the Google rule, and answers of any shape."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.environment import parse_required_env
from beaker.core.readiness import (
    GOOGLE_ENV_VAR_NAMES,
    PROVIDER_ENV_VAR_NAMES,
    SOURCE_TEXTS,
    Available,
    ReadinessSource,
    check_readiness,
    provider_env_var_name,
    read_available,
    with_this_machine,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "readiness.json").read_text("utf-8"))
KEYS = (*PROVIDER_ENV_VAR_NAMES.values(), "GEMINI_API_KEY")
NAMES = st.sampled_from([*KEYS, "DB_URL", "TOKEN"])
DECLARED = st.lists(NAMES, unique=True)
PROVIDERS = st.sampled_from([*PROVIDER_ENV_VAR_NAMES, "mistral"])


def answers(agent: Any, organization: Any, routing: Any) -> Available:
    """What a place with these agent variables, organization keys and routed providers can supply."""
    credentials = [{"provider": provider, "configured": True} for provider in organization]
    return read_available(
        {"env_vars": [{"name": name} for name in agent]},
        {"credentials": credentials, "platform_routing_providers": list(routing)},
    )


AVAILABLE = st.builds(answers, st.lists(NAMES), st.lists(PROVIDERS), st.lists(PROVIDERS))


@pytest.mark.parametrize("row", VECTORS["table"])
def test_check_readiness__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed source of each name, in declared order, and the listed missing ones."""
    available = answers(row.get("agent", ()), row.get("organization", ()), row.get("routing", ()))
    found = check_readiness(row["declared"], available).unwrap()
    assert list(found.sources.items()) == list(row["sources"].items())
    assert list(found.missing) == row["missing"]
    assert found.ready == (not row["missing"])


@pytest.mark.parametrize("env_vars, credentials, agent, organization, routed", VECTORS["answers"])
def test_read_available__vector__as_listed(
    env_vars: Any, credentials: Any, agent: list[str], organization: list[str], routed: list[str]
) -> None:
    """Odd shapes and unknown providers add nothing; everything else counts."""
    found = read_available(env_vars, credentials)
    assert found == Available(frozenset(agent), frozenset(organization), frozenset(routed))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["env_vars", "credentials", "name", "provider", "configured", "platform_routing_providers"]
            ),
            inner,
        )
    ),
)


@given(JSON, JSON, JSON)
def test_check_readiness__any_json__gives_one_answer(declared: Any, env_vars: Any, credentials: Any) -> None:
    """Reading answers is total, and a declaration is refused exactly when the declaration's own rule refuses it."""
    found = check_readiness(declared, read_available(env_vars, credentials))
    assert is_successful(found) == is_successful(parse_required_env(declared))
    if not is_successful(found):
        assert {problem.code for problem in found.failure()} == {"BK120"}


@given(DECLARED, AVAILABLE)
def test_check_readiness__every_name__is_set_or_missing(declared: list[str], available: Available) -> None:
    """Each declared name is in exactly one of the two, in declared order, and has a problem when missing."""
    found = check_readiness(declared, available).unwrap()
    assert sorted([*found.sources, *found.missing]) == sorted(declared)
    assert list(found.sources) == [name for name in declared if name not in found.missing]
    assert [problem.where for problem in found.problems()] == list(found.missing)


@given(DECLARED, AVAILABLE)
def test_check_readiness__source__is_a_place_that_has_the_name(declared: list[str], available: Available) -> None:
    """The agent comes first, then the organization; routing never stands in where a value exists."""
    for name, source in check_readiness(declared, available).unwrap().sources.items():
        if source == "provider_routing":
            assert name in available.routed - available.agent - available.organization
        else:
            assert name in getattr(available, source)
        assert (source == "agent") == (name in available.agent)


@given(DECLARED, AVAILABLE)
def test_check_readiness__own_google_key__turns_routing_off_for_both_names(
    declared: list[str], available: Available
) -> None:
    """With a Google key of the customer's in the run, neither Google name is routed; without one both are."""
    sources = check_readiness(declared, available).unwrap().sources
    own = available.agent | (available.organization & set(declared))
    for name in set(declared) & set(GOOGLE_ENV_VAR_NAMES) - own:
        routed = "GOOGLE_API_KEY" in available.routed and not own & set(GOOGLE_ENV_VAR_NAMES)
        assert (sources.get(name) == "provider_routing") == routed


@given(DECLARED, AVAILABLE, NAMES)
def test_check_readiness__one_more_agent_variable__never_unsets_another_provider(
    declared: list[str], available: Available, name: str
) -> None:
    """Setting a variable only ever helps, but for the two Google names."""
    more = Available(available.agent | {name}, available.organization, available.routed)
    before, after = (check_readiness(declared, one).unwrap().missing for one in (available, more))
    assert set(after) - set(before) <= set(GOOGLE_ENV_VAR_NAMES)
    assert name not in after


def test_problems__missing_name__says_both_remedies_for_a_provider_key() -> None:
    """A provider's key may come from the organization too; any other name only from the agent."""
    key, other = check_readiness(["OPENAI_API_KEY", "DB_URL"], Available()).unwrap().problems()
    assert (key.code, key.where) == ("BK121", "OPENAI_API_KEY")
    assert "agent env set OPENAI_API_KEY" in key.hint
    assert "organization's openai key" in key.hint
    assert "organization" not in other.hint


@given(st.text() | PROVIDERS)
def test_provider_env_var_name__unknown__is_not_guessed(provider: str) -> None:
    """Exactly the listed providers, in this spelling, have a variable."""
    assert provider_env_var_name(provider) == dict(PROVIDER_ENV_VAR_NAMES).get(provider)


@pytest.mark.parametrize(
    ("agent", "organization", "environ", "dotenv", "source"),
    [
        (["N"], [], ["N"], {"N": ""}, "agent"),
        ([], [], ["N"], {"N": ""}, "environment"),
        ([], [], [], {"N": ""}, "dotenv"),
        ([], [], ["M"], {"M": ""}, None),
    ],
)
def test_check_readiness__this_machine__comes_after_what_the_place_keeps(
    agent: Any, organization: Any, environ: Any, dotenv: Any, source: str | None
) -> None:
    """Each name has the first source that a run on this machine would take it from."""
    available = with_this_machine(answers(agent, organization, []), environ, dotenv)
    assert check_readiness(["N"], available).unwrap().sources.get("N") == source


def test_with_this_machine__providers_key__comes_before_the_environment() -> None:
    """An organization's key is kept by the place, routing needs none at all."""
    available = with_this_machine(answers([], ["openai"], ["google"]), KEYS, {})
    found = check_readiness(["OPENAI_API_KEY", "GOOGLE_API_KEY"], available).unwrap().sources
    assert found == {"OPENAI_API_KEY": "organization", "GOOGLE_API_KEY": "environment"}


def test_with_this_machine__dotenv__never_steers_the_machine() -> None:
    """A name that a repository's file may not set is not set by it."""
    assert with_this_machine(Available(), [], {"PATH": "x", "N": "y"}).dotenv == {"N"}


def test_source_texts__every_source__is_in_words() -> None:
    """Nothing is shown by its bare name."""
    assert set(SOURCE_TEXTS) == set(get_args(ReadinessSource))
