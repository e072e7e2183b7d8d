"""Names customer code may ask for, what a dotenv file supplies, what a process gets, what output hides."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.environment import (
    BASE_ENVIRONMENT,
    MAX_REQUIRED_ENV,
    PROXY_VARIABLES,
    RESERVED_ENVIRONMENT_NAMES,
    base_environment,
    dotenv_supplies,
    dotenv_warnings,
    granted_environment,
    parse_dotenv,
    parse_required_env,
    redact,
    reserved_environment_reason,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "environment.json").read_text("utf-8"))
NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,5}", fullmatch=True)


@pytest.mark.parametrize("text, expected", VECTORS["dotenv"])
def test_parse_dotenv__vector__as_listed(text: str, expected: dict[str, str]) -> None:
    """Each line gives the listed value or is ignored."""
    assert parse_dotenv(text) == expected


@given(st.dictionaries(NAMES, st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))))
def test_parse_dotenv__quoted_values__come_back_exactly(values: dict[str, str]) -> None:
    """What stands between one pair of quotes is the value."""
    text = "".join(f'export {name}="{written}"\n' for name, written in values.items())
    assert parse_dotenv(text) == values


@given(st.text())
def test_parse_dotenv__any_text__gives_settable_variables(text: str) -> None:
    """The parser is total, and what it gives can be put into an environment."""
    for name, written in parse_dotenv(text).items():
        assert name.isascii()
        assert "\0" not in written


@pytest.mark.parametrize("listed, expected", VECTORS["required_env"])
def test_parse_required_env__vector__as_listed(listed: object, expected: list[str] | None) -> None:
    """A declaration gives its names in order, or is refused."""
    found = parse_required_env(listed)
    assert (list(found.unwrap()) if is_successful(found) else None) == expected


def test_parse_required_env__several_faults__are_reported_together() -> None:
    """Each bad item is named with its place, and too many names are one fault."""
    problems = parse_required_env(["A", 7, "PATH", "A"], "integrations.x.required_env").failure()
    assert [problem.where[-3:] for problem in problems] == ["[1]", "[2]", "[3]"]
    assert all(problem.code == "BK120" for problem in problems)
    many = [f"A{index}" for index in range(MAX_REQUIRED_ENV + 2)]
    assert is_successful(parse_required_env(many[:MAX_REQUIRED_ENV]))
    (problem,) = parse_required_env(many).failure()
    assert str(MAX_REQUIRED_ENV) in problem.message


@given(st.text() | NAMES | st.sampled_from(sorted(RESERVED_ENVIRONMENT_NAMES)))
def test_reserved_environment_reason__any_name__agrees_with_the_declaration(name: str) -> None:
    """A name has a reason exactly when a declaration of it alone is refused."""
    assert (reserved_environment_reason(name) is None) == is_successful(parse_required_env([name]))


@pytest.mark.parametrize("assignments, required, names", VECTORS["dotenv_supplies"])
def test_dotenv_supplies__vector__as_listed(assignments: dict[str, str], required: list[str], names: list[str]) -> None:
    """The agent key and granted names count, nothing that steers this machine ever does."""
    assert sorted(dotenv_supplies(assignments, required)) == sorted(names)


@pytest.mark.parametrize("assignments, required, names", VECTORS["dotenv_supplies"])
def test_dotenv_warnings__names_without_effect__are_told(
    assignments: dict[str, str], required: list[str], names: list[str]
) -> None:
    """Each name that supplies nothing is warned about, and none that does."""
    told = dotenv_warnings(assignments, required, "f")
    assert [warning.message.split()[0] for warning in told] == [name for name in assignments if name not in names]
    assert {(warning.code, warning.where) for warning in told} <= {("BK134", "f")}


def test_dotenv_warnings__reason__says_what_to_do() -> None:
    """What steers the machine belongs elsewhere; what nobody asks for can be declared."""
    steers, unasked = dotenv_warnings(["BEAKER_API_KEY", "OTHER", "BEAKER_AGENT_KEY", "A"], ["A"], "f")
    assert (steers.message.split(": ")[1], steers.hint) == (
        "a file of a repository does not steer this machine",
        "set it in your own environment",
    )
    assert (unasked.message, unasked.hint) == (
        "OTHER counts for nothing here: no required_env lists it",
        "list it in required_env, or take it out",
    )


def test_base_environment__only_the_list_and_grants__pass() -> None:
    """Nothing of the caller's environment passes but the base list, proxies and granted names."""
    environ = {name: name.lower() for name in (*BASE_ENVIRONMENT, *PROXY_VARIABLES)}
    everything = environ | {"AWS_SECRET_ACCESS_KEY": "s", "GRANTED": "g", "PYTHONPATH": "p"}
    assert base_environment(everything) == environ
    assert base_environment(everything, ["GRANTED", "UNSET"]) == environ | {"GRANTED": "g"}


@given(st.lists(NAMES, unique=True), *[st.dictionaries(NAMES, st.text())] * 3)
def test_granted_environment__every_name__is_found_once_or_missing(
    required: list[str], secrets: dict[str, str], caller: dict[str, str], dotenv: dict[str, str]
) -> None:
    """Secrets come before the environment before the dotenv file; values and missing names part the declaration."""
    granted = granted_environment(required, secrets=secrets, caller=caller, dotenv=dotenv)
    assert sorted([*granted.values, *granted.missing]) == sorted(required)
    assert granted.sources.keys() == granted.values.keys()
    for name, found in granted.values.items():
        place = {"secrets": secrets, "environment": caller, "dotenv": dotenv}[granted.sources[name]]
        assert place[name] == found
        assert name not in secrets or granted.sources[name] == "secrets"
    assert not set(granted.missing) & (secrets.keys() | caller.keys())


@given(st.text(), st.lists(st.text(min_size=6).filter(lambda text: len(text.strip()) >= 6), min_size=1), st.text())
def test_redact__any_text__holds_no_secret(before: str, secrets: list[str], after: str) -> None:
    """No secret survives in a text that held it between others."""
    hidden = redact(f"{before}\0{secrets[0]}\0{after}", secrets)
    assert f"\0{secrets[0]}\0" not in hidden or secrets[0] in "[redacted]"


def test_redact__escaped_and_multi_line_forms__are_hidden() -> None:
    """A secret is found inside JSON and a repr too; one inside another is hidden whole; short values stay."""
    secret = 'pass"wörd\nsecond-line-of-it'
    quoted = json.dumps({"refused": json.dumps({"a": secret})})
    for text in (secret, json.dumps({"a": secret}), quoted, repr([secret]), "second-line-of-it"):
        assert "second-line" not in redact(text, [secret])
        assert "rd" not in redact(text, [secret]).replace("[redacted]", "")
    assert redact("abcdef-abcdefgh", ["abcdef", "abcdefgh"]) == "[redacted]-[redacted]"
    assert redact("true 8080", ["true", "8080", ""]) == "true 8080"


def test_granted__missing_names__are_a_problem_each() -> None:
    """In declared order; nothing is said of those that are set."""
    found = granted_environment(["A", "B", "C"], secrets={}, caller={"B": ""}, dotenv={})
    assert [(problem.code, problem.where) for problem in found.problems()] == [("BK121", "A"), ("BK121", "C")]
    assert {problem.message for problem in found.problems()} == {"is not set here, and the integration declares it"}
    assert granted_environment(["B"], secrets={}, caller={"B": ""}, dotenv={}).problems() == ()
