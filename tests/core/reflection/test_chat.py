"""The wire of a chat endpoint."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.reflection.chat import POLICY, Message, chat_body, read_chat, read_refusal, smaller
from beaker.core.reflection.settings import Reflection
from beaker.core.usage import ModelUsage

PLAIN = Reflection(base_url="http://localhost/v1", model="m")


def test_chat_body__of_settings__sends_what_was_set_and_no_more() -> None:
    """A temperature that was not set is the endpoint's own."""
    messages = [Message("system", "s"), Message("user", "u"), Message("assistant", "a")]
    sent = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
    assert chat_body(PLAIN, messages, answer_tokens=7, limit_name="max_tokens") == {
        "model": "m", "messages": sent, "max_tokens": 7,
    }  # fmt: skip
    warm = Reflection(base_url="u", model="m", temperature=0.0)
    assert chat_body(warm, [], answer_tokens=7, limit_name="max_completion_tokens") == {
        "model": "m", "messages": [], "max_completion_tokens": 7, "temperature": 0.0,
    }  # fmt: skip


def answer(**changes: Any) -> dict[str, Any]:
    """An answer of the usual shape."""
    choice = {"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4}, **changes}


def read(data: Any) -> Any:
    """The answer, or the problem."""
    found = read_chat(json.dumps(data).encode(), PLAIN)
    return found.unwrap() if is_successful(found) else found.failure()


def test_read_chat__usual_answer__gives_text_and_counts() -> None:
    """Counts are the endpoint's, under the name that prices have."""
    found = read(answer())
    assert (found.text, found.cut_off, found.usage) == ("hello", False, ModelUsage("openai:m", 3, 4))
    priced = read(answer(usage={"prompt_tokens": 3, "completion_tokens": 4, "cost": 0.5}))
    assert priced.usage == ModelUsage("openai:m", 3, 4, reported_usd=0.5)


def test_read_chat__no_counts__is_a_call_that_was_not_counted() -> None:
    """Nothing is made up."""
    assert read(answer(usage=None)).usage == ModelUsage("openai:m", 0, 0, uncounted=1)


@pytest.mark.parametrize(
    ("choice", "text", "cut_off"),
    [
        ({"message": {"content": "a"}, "finish_reason": "length"}, "a", True),
        ({"message": {"content": "a"}, "finish_reason": "max_tokens"}, "a", True),
        ({"message": {"content": [{"type": "text", "text": "a"}, 7, {"text": "b"}, {"image": 1}]}}, "ab", False),
        ({"message": {"content": None}}, "", False),
        ({"message": None, "text": "old"}, "old", False),
        ({}, "", False),
    ],
)
def test_read_chat__other_shapes__are_read(choice: dict[str, Any], text: str, cut_off: bool) -> None:
    """Parts, nothing at all, and the shape of plain completions."""
    found = read(answer(choices=[choice]))
    assert (found.text, found.cut_off) == (text, cut_off)


@pytest.mark.parametrize("data", [{}, [], {"choices": []}, {"choices": [7]}, {"choices": {}}, "text"])
def test_read_chat__anything_else__is_a_problem(data: Any) -> None:
    """With what to look at."""
    problem = read(data)
    assert (problem.code, problem.message) == ("BK561", "the endpoint's answer has no `choices`")
    assert "base_url" in problem.hint
    assert read_chat(b"<html>", PLAIN).failure().message.endswith("no JSON")
    assert read_chat(b"[" * 100_000, PLAIN).failure().message.endswith("no JSON")


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "request (6031 tokens) exceeds the available context size (4096 tokens)", "context"),
        (400, "This model's maximum context length is 8192 tokens", "context"),
        (413, "Request too large for gpt", "context"),
        (422, "prompt is too long", "context"),
        (400, "inputs must have less than the maximum number of tokens", "context"),
        (400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "limit name"),
        (400, "temperature must be below 2", "other"),
        (401, "context", "other"),
        (500, "too long", "other"),
    ],
)
def test_read_refusal__by_what_is_said__tells_what_can_be_done(status: int, said: str, kind: str) -> None:
    """A prompt can be shortened, a bound renamed; the rest is for people."""
    assert read_refusal(status, json.dumps({"error": {"message": said}}).encode()) == (kind, said)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": "no  key\\n"}', "no key"),
        (b'{"detail": "no model"}', "no model"),
        (b'{"error": {"code": 7}}', '{"code": 7}'),
        (b'["a"]', '["a"]'),
        (b"Bad \xff gateway", "Bad � gateway"),
        (b"x" * 500, "x" * 300),
        (b"[" * 100_000, "[" * 300),
    ],
)
def test_read_refusal__in_any_form__is_one_line(body: bytes, said: str) -> None:
    """What the endpoint says, at most 300 characters of it."""
    assert read_refusal(401, body) == ("other", said)


def test_smaller__with_the_endpoint_s_numbers__follows_them() -> None:
    """Else it is half."""
    body = json.dumps({"error": {"n_prompt_tokens": 6000, "n_ctx": 4000}}).encode()
    assert smaller(900, body) == 400
    for other in (
        {"error": {"n_prompt_tokens": 6000}},
        {"error": {"n_prompt_tokens": 6000, "n_ctx": 6000}},
        {"error": {"n_prompt_tokens": 6000, "n_ctx": 0}},
        {"error": {"n_prompt_tokens": True, "n_ctx": 1}},
        {"error": {"n_prompt_tokens": 6000, "n_ctx": 1.5}},
        {"error": "text"},
        [],
        7,
    ):
        assert smaller(900, json.dumps(other).encode()) == 450
    assert smaller(900, b"<html>") == smaller(900, b"[" * 100_000) == 450


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.integers(200, 599))
def test_reading__any_body__never_fails(body: bytes, status: int) -> None:
    """An endpoint may say what it likes."""
    read_chat(body, PLAIN)
    kind, said = read_refusal(status, body)
    assert kind in ("context", "limit name", "other")
    assert len(said) <= 300
    assert 0 <= smaller(1000, body) < 1000


def test_policy__passing_troubles__are_those_that_go_away() -> None:
    """What is wrong with a request stays wrong."""
    assert {429, 500, 502, 503, 504, 529, 408} == POLICY.passing
