"""The `reflection` setting: what may be written, and what is said of the rest."""

from typing import Any

import pytest

from beaker.core.options import OptionsRefused
from beaker.core.reflection.settings import Reflection, is_loopback, reflection_rule

GOOD = {"base_url": "http://127.0.0.1:8080/v1", "model": "m"}


def test_rule__the_two_needed__leave_the_documented_defaults() -> None:
    """No key, no temperature, 4,096 tokens of answer in a context of 16,384."""
    assert reflection_rule("X")(GOOD) == Reflection(base_url="http://127.0.0.1:8080/v1", model="m")
    made = Reflection(base_url="u", model="m")
    assert (made.api_key_env, made.temperature, made.max_output_tokens, made.context_tokens) == (
        None, None, 4_096, 16_384,
    )  # fmt: skip
    assert made.counted_as == "openai:m"


def test_rule__everything_given__is_kept() -> None:
    """Either spelling of a key; a URL may be pasted with the path of the call."""
    given = {
        "baseUrl": " https://models.example/v1/chat/completions/ ",
        "model": "big",
        "api_key_env": "MODEL_KEY",
        "temperature": 0,
        "maxOutputTokens": 16,
        "contextTokens": 512,
        "provider": "local",
    }
    made = reflection_rule("X")(given)
    assert made == Reflection(
        base_url="https://models.example/v1",
        model="big",
        api_key_env="MODEL_KEY",
        temperature=0.0,
        max_output_tokens=16,
        context_tokens=512,
        provider="local",
    )
    assert made.counted_as == "local:big"


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"base_url": None}, ".base_url", "is missing"),
        ({"model": None}, ".model", "is missing"),
        ({"model": " "}, ".model", "non-empty"),
        ({"base_url": "models.example/v1"}, ".base_url", "http or https URL"),
        ({"base_url": "ftp://models.example"}, ".base_url", "http or https URL"),
        ({"base_url": "http://"}, ".base_url", "http or https URL"),
        ({"base_url": "http://[::1"}, ".base_url", "http or https URL"),
        ({"base_url": "http://host:port"}, ".base_url", "http or https URL"),
        ({"base_url": "http://me:secret@host/v1"}, ".base_url", "api_key_env"),
        ({"base_url": "http://:secret@host/v1"}, ".base_url", "api_key_env"),
        ({"base_url": "https://host/v1?key=1"}, ".base_url", "query"),
        ({"base_url": "https://host/v1#x"}, ".base_url", "query"),
        ({"api_key_env": "a key"}, ".api_key_env", "environment variable"),
        ({"api_key_env": 7}, ".api_key_env", "environment variable"),
        ({"api_key_env": "BEAKER_API_KEY"}, ".api_key_env", "Beaker's own"),
        ({"temperature": -0.1}, ".temperature", "at least 0"),
        ({"max_output_tokens": 15}, ".max_output_tokens", "16"),
        ({"max_output_tokens": 1_000_001}, ".max_output_tokens", "1000000"),
        ({"context_tokens": 511}, ".context_tokens", "512"),
        ({"context_tokens": 100_000_001}, ".context_tokens", "100000000"),
        ({"provider": "a:b"}, ".provider", "before the colon"),
        ({"provider": ""}, ".provider", "non-empty"),
        ({"modle": "m"}, ".modle", "not a known option"),
    ],
)
def test_rule__a_fault__is_named_with_its_place(changes: dict[str, Any], place: str, words: str) -> None:
    """Each with the code that the caller gives; no secret is repeated."""
    with pytest.raises(OptionsRefused) as refused:
        reflection_rule("X")({**GOOD, **changes})
    (problem,) = refused.value.problems
    assert (problem.code, problem.where) == ("X", place)
    assert words in problem.message
    assert "secret" not in problem.message


def test_rule__both_missing__are_named_together_with_what_to_write() -> None:
    """Every fault at once."""
    with pytest.raises(OptionsRefused) as refused:
        reflection_rule("X")({})
    assert [problem.where for problem in refused.value.problems] == [".base_url", ".model"]
    assert "https://api.openai.com/v1" in refused.value.problems[0].hint
    assert "name" in refused.value.problems[1].hint


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://127.8.8.8/", True),
        ("http://[::1]:80/v1", True),
        ("http://localhost/v1", True),
        ("http://models.localhost/v1", True),
        ("http://localhost.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("https://api.openai.com/v1", False),
        ("nonsense", False),
    ],
)
def test_is_loopback__by_host__tells_this_machine(url: str, here: bool) -> None:
    """By address or by the names that are reserved for it."""
    assert is_loopback(url) == here
