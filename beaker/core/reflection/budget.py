"""How much text fits: an estimate of tokens that needs no tokenizer, and cutting text to it."""

from itertools import accumulate, takewhile

from beaker.core.values import value

PER_TOKEN = 3
"""ASCII characters that one token is taken to hold. English prose has about four, code and JSON about three."""

CUT = "\n[... {left} characters left out ...]\n"


def tokens(text: str) -> int:
    """About how many tokens `text` has, rather too many than too few: every character beyond ASCII counts as one."""
    plain = sum(character < "\x80" for character in text)
    return -(-plain // PER_TOKEN) + len(text) - plain


def cut(text: str, limit: int) -> str:
    """`text` in at most about `limit` tokens: when it has more, its beginning and its end, saying what is left out."""
    if tokens(text) <= limit:
        return text
    kept = max(limit - tokens(CUT) - 2, 0)
    head, tail = _prefix(text, kept * 2 // 3), _prefix(text[::-1], kept - kept * 2 // 3)[::-1]
    return head + CUT.format(left=len(text) - len(head) - len(tail)) + tail


def _prefix(text: str, limit: int) -> str:
    """As much of the beginning of `text` as `limit` tokens hold."""
    # A character beyond ASCII takes the place of as many others as make a token.
    taken = accumulate(1 if character < "\x80" else PER_TOKEN for character in text)
    return text[: sum(1 for _ in takewhile(lambda characters: characters <= limit * PER_TOKEN, taken))]


@value
class Window:
    """What a model's context holds: `prompt` tokens for what it reads, `answer` tokens for what it writes."""

    prompt: int
    answer: int


SMALLEST_PROMPT = 256
"""Tokens of a prompt below which nothing can be said."""

MARGIN = 64
"""Tokens left free for what a server puts around messages."""


def window(context_tokens: int, max_output_tokens: int) -> Window:
    """Divide a context: the answer gets what was asked for, at most half of it."""
    answer = min(max_output_tokens, context_tokens // 2)
    return Window(max(context_tokens - answer - MARGIN, SMALLEST_PROMPT), answer)
