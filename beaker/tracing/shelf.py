"""Evidence and artifacts: what the application sets aside beside its steps, judged and made storable."""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from beaker.core.strict_json import MAX_DEPTH, dumps, json_value
from beaker.core.text import FOREIGN, class_name
from beaker.sdk.json_safe import to_json_safe, to_json_within
from beaker.sdk.trace import ArtifactRef

ITEM_BYTES = 1_048_576
"""Bytes that one piece of evidence may have."""

TOTAL_BYTES = 5_242_880
"""Bytes that the evidence of one case may have."""

INLINE_BYTES = 16_384
"""Bytes up to which an artifact's content is kept in the trace."""

ARTIFACT_CHARACTERS = 4 * 1_048_576
"""Characters of JSON, of a long text only its beginning, up to which an artifact is looked at."""

NAME_CHARACTERS = 256
REASON_CHARACTERS = 1_024
_CUT = "...[truncated]"


class EvidenceRefused(ValueError):
    """Why something cannot be kept as evidence."""


def evidence_content(content: Any, *, left: int) -> tuple[Any, int]:
    """`content` as it is kept, and its bytes; `EvidenceRefused` for what is not text or strict JSON, or too large.

    `left` is how many bytes the case's evidence may still have.
    """
    try:
        mappings = _plain_mappings(content, 0, [ITEM_BYTES])
    except FOREIGN as fault:
        raise EvidenceRefused(f"its content cannot be read: {class_name(fault)}") from None
    if mappings is _TOO_LARGE:
        raise EvidenceRefused(f"it has too many parts; at most {ITEM_BYTES} bytes are kept of one piece")
    try:
        plain = json_value(mappings, "the content")
    except (TypeError, ValueError) as fault:
        raise EvidenceRefused(str(fault)) from None
    size = len(plain.encode()) if isinstance(plain, str) else len(_encoded(plain))
    if size > ITEM_BYTES:
        raise EvidenceRefused(f"it has {size} bytes; at most {ITEM_BYTES} are kept of one piece")
    if size > left:
        raise EvidenceRefused(f"it has {size} bytes, and {left} are left of the {TOTAL_BYTES} of one case")
    return plain, size


def evidence_name(name: Any, taken: "Mapping[str, object] | set[str]") -> str:
    """The name without surrounding blanks; `EvidenceRefused` when it is none, too long or `taken`."""
    if not issubclass(type(name), str) or not (stripped := str.strip(name)):
        raise EvidenceRefused("its name must be a non-empty text")
    if len(stripped) > NAME_CHARACTERS:
        raise EvidenceRefused(f"its name has {len(stripped)} characters; at most {NAME_CHARACTERS} are allowed")
    if stripped in taken:
        raise EvidenceRefused("its name was used before in this case")
    return stripped


def refusal(name: Any, reason: str) -> str:
    """The warning about evidence that was refused."""
    shown = str.__str__(name) if issubclass(type(name), str) else repr(class_name(name))
    return f"evidence {_shortened(shown, NAME_CHARACTERS)!r} was not kept: {_shortened(reason, REASON_CHARACTERS)}"


def artifact_of(
    name: str, content: Any, *, media_type: str, filename: str | None, required: bool
) -> tuple[ArtifactRef, Any]:
    """The reference of an artifact, and its content as it stands in a trace (`None` when it is too large for that).

    Text of a `text/*` type is kept as text, bytes as text where they are UTF-8, anything else as JSON.
    `EvidenceRefused` for JSON of more than about a million parts.
    """
    plain: Any = None
    if isinstance(content, bytes | bytearray | memoryview):
        data = bytes(content)
        plain = _bytes_content(data)
    elif isinstance(content, str) and media_type.startswith("text/"):
        plain = to_json_safe(content)
        data = plain.encode()
    else:
        plain, whole = to_json_within(content, ARTIFACT_CHARACTERS)
        if not whole:
            raise EvidenceRefused("it has too many parts to be read as JSON")
        data = _encoded(plain)
    inline = len(data) <= INLINE_BYTES
    reference = ArtifactRef(
        name=name,
        sha256=sha256(data).hexdigest(),
        media_type=media_type,
        size=len(data),
        filename=filename,
        required=required,
        inline=inline,
    )
    return reference, plain if inline else None


def _bytes_content(data: bytes) -> Any:
    # As text where they are text, so that a secret in them can be found and taken out.
    try:
        return {"encoding": "utf-8", "content": data.decode()}
    except UnicodeDecodeError:
        return {"encoding": "base64", "content": b64encode(data).decode("ascii")}


def _encoded(plain: Any) -> bytes:
    return dumps(plain).encode("ascii")


_TOO_LARGE = object()


def _plain_mappings(content: Any, depth: int, left: list[int]) -> Any:
    """Other mappings as dicts; what else is no JSON is left for the check to refuse.

    `_TOO_LARGE` when there are more parts than `left[0]` bytes could hold.
    """
    left[0] -= 2  # what stands between two parts, and one character of each
    if left[0] < 0:
        return _TOO_LARGE
    if depth <= MAX_DEPTH:
        if isinstance(content, Mapping):
            made = {}
            for key, item in content.items():
                made[key] = plain = _plain_mappings(item, depth + 1, left)
                if plain is _TOO_LARGE:
                    return _TOO_LARGE
            return made
        if isinstance(content, list):
            items = []
            for item in content:
                items.append(_plain_mappings(item, depth + 1, left))
                if items[-1] is _TOO_LARGE:
                    return _TOO_LARGE
            return items
    return content


def _shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - len(_CUT)]}{_CUT}"
