"""Evidence and artifacts: what is accepted, up to which size, and how content is kept."""

from hashlib import sha256
from types import MappingProxyType
from typing import Any

import pytest

from beaker.tracing.shelf import (
    INLINE_BYTES,
    ITEM_BYTES,
    NAME_CHARACTERS,
    REASON_CHARACTERS,
    TOTAL_BYTES,
    EvidenceRefused,
    artifact_of,
    evidence_content,
    evidence_name,
    refusal,
)


@pytest.mark.parametrize(
    "content, kept",
    [
        ("text", "text"),
        (None, None),
        (True, True),
        (1.5, 1.5),
        ([1, ["a"]], [1, ["a"]]),
        (MappingProxyType({"a": MappingProxyType({"b": [MappingProxyType({})]})}), {"a": {"b": [{}]}}),
    ],
)
def test_evidence__text_and_json__are_accepted(content: Any, kept: Any) -> None:
    """Text, JSON scalars, lists and mappings with string keys."""
    assert evidence_content(content, left=TOTAL_BYTES)[0] == kept


def cycle() -> Any:
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    "content",
    [b"x", bytearray(b"x"), (1,), {1}, object(), {1: 2}, [float("nan")], float("inf"), "\ud800", {"a": (1,)}, cycle()],
)
def test_evidence__anything_else__is_refused(content: Any) -> None:
    """What is no strict JSON is refused with the place of the fault."""
    with pytest.raises(EvidenceRefused, match="the content"):
        evidence_content(content, left=TOTAL_BYTES)


def test_evidence__limits__are_inclusive() -> None:
    """A piece may have exactly the limit, and take exactly what is left."""
    assert evidence_content("x" * ITEM_BYTES, left=ITEM_BYTES)[1] == ITEM_BYTES
    assert evidence_content("é", left=2)[1] == 2
    assert evidence_content(["ab"], left=6)[1] == 6
    with pytest.raises(EvidenceRefused, match="at most 1048576 are kept of one piece"):
        evidence_content("x" * (ITEM_BYTES + 1), left=TOTAL_BYTES)
    with pytest.raises(EvidenceRefused, match="it has 6 bytes, and 5 are left of the 5242880 of one case"):
        evidence_content(["ab"], left=5)


def test_evidence_name__is_stripped_and_judged() -> None:
    """A name is text, bounded, and used once."""
    assert evidence_name("  why ", {"other"}) == "why"
    assert evidence_name("n" * NAME_CHARACTERS, set()) == "n" * NAME_CHARACTERS
    for name, taken in ((" ", set()), (None, set()), ("n" * (NAME_CHARACTERS + 1), set()), ("why ", {"why"})):
        with pytest.raises(EvidenceRefused, match="its name"):
            evidence_name(name, taken)


def test_refusal__names_and_reasons__are_cut() -> None:
    """A warning stays readable whatever was refused."""
    told = refusal("n" * 300, "r" * 2_000)
    assert told.count("...[truncated]") == 2
    assert len(told) == NAME_CHARACTERS + REASON_CHARACTERS + len("evidence '' was not kept: ")


@pytest.mark.parametrize(
    "content, media_type, data, kept",
    [
        ("é", "text/plain", "é".encode(), "é"),
        ("é", "application/json", b'"\\u00e9"', "é"),
        (b"\xc3\xa9", "text/plain", b"\xc3\xa9", {"encoding": "utf-8", "content": "é"}),
        (bytearray(b"\xff"), "a/b", b"\xff", {"encoding": "base64", "content": "/w=="}),
        (memoryview(b"x"), "a/b", b"x", {"encoding": "utf-8", "content": "x"}),
        ({"a": (1,)}, "application/json", b'{"a":[1]}', {"a": [1]}),
    ],
)
def test_artifact__content__is_kept_with_its_digest(content: Any, media_type: str, data: bytes, kept: Any) -> None:
    """Bytes that are text are kept as text, so that a secret in them can be found; size and digest are of the bytes."""
    reference, plain = artifact_of("n", content, media_type=media_type, filename=None, required=False)
    assert plain == kept
    assert (reference.size, reference.sha256, reference.inline) == (len(data), sha256(data).hexdigest(), True)


@pytest.mark.parametrize("more, inline", [(0, True), (1, False)])
def test_artifact__limit__is_inclusive(more: int, inline: bool) -> None:
    """Content beyond the limit is not kept, only described."""
    reference, plain = artifact_of("n", b"x" * (INLINE_BYTES + more), media_type="a/b", filename="f", required=True)
    assert (reference.inline, plain is not None) == (inline, inline)
    assert (reference.size, reference.filename, reference.required) == (INLINE_BYTES + more, "f", True)
