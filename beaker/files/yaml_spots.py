"""Where the parts of a YAML text stand, as offsets: for changing one of them and leaving every other character alone.

The text must have been read by `parse_yaml` before: nothing is refused here, and nothing resolved. An alias is a spot
of its own, and so is a `<<` that merges.
"""

from typing import Any, Literal

import yaml

from beaker.core.values import value


@value(kw_only=True)
class Spot:
    """One node of the text: `text[start:end]`, without the anchor and tag in front of it.

    `style` is how it is written: `plain`, `empty` (nothing at all), `'`, `"`, `|`, `>`, `alias`, `block` or `flow`.
    `pairs` are those of a mapping, in order; a list has none. `word` is what a scalar says. A collection in block style
    ends where its last part ends, and a block scalar with its last line, blank ones behind it included.
    """

    kind: Literal["word", "list", "map"]
    style: str
    start: int
    end: int
    word: str = ""
    pairs: "tuple[tuple[Spot, Spot], ...]" = ()

    def find(self, key: str) -> "tuple[Spot, Spot] | None":
        """The pair of a mapping whose key says `key`; `None` for one that is only merged."""
        words = (pair for pair in self.pairs if pair[0].kind == "word" and pair[0].style != "alias")
        return next((pair for pair in words if pair[0].word == key), None)


def locate(text: str) -> Spot:
    """The spots of a YAML text that `parse_yaml` accepts (without its byte order mark); of one without content an
    `empty` one."""
    stack: list[tuple[Any, list[Spot]]] = [(None, [])]
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.ScalarEvent):
            stack[-1][1].append(_word(text, event))
        elif isinstance(event, yaml.AliasEvent):
            stack[-1][1].append(_alias(event))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            stack.append((event, []))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            opened, children = stack.pop()
            stack[-1][1].append(_collection(text, opened, event, children))
    (_, roots) = stack[0]
    return roots[0] if roots else Spot(kind="word", style="empty", start=len(text), end=len(text))


def _alias(event: Any) -> Spot:
    return Spot(kind="word", style="alias", start=event.start_mark.index, end=event.end_mark.index)


def _word(text: str, event: Any) -> Spot:
    start, end = _past_properties(text, event), event.end_mark.index
    written = text[start:end]
    style = event.style or ("plain" if written else "empty")
    return Spot(kind="word", style=style, start=start, end=end, word=event.value)


def _collection(text: str, opened: Any, closed: Any, children: list[Spot]) -> Spot:
    start = _past_properties(text, opened)
    is_map = isinstance(opened, yaml.MappingStartEvent)
    flow = bool(opened.flow_style)
    end = closed.end_mark.index if flow or not children else children[-1].end
    return Spot(
        kind="map" if is_map else "list",
        style="flow" if flow else "block",
        start=start if flow or not children else children[0].start,
        end=end,
        pairs=tuple(zip(children[::2], children[1::2], strict=True)) if is_map else (),
    )


def _past_properties(text: str, event: Any) -> int:
    """Where a node begins once its anchor and tag are passed, and the blanks and comments behind these."""
    at: int = event.start_mark.index
    for _ in filter(None, (event.anchor, event.tag)):
        while at < event.end_mark.index and text[at] not in _BLANKS:
            at += 1
        # What stands behind the properties of an empty node is not its own.
        behind = _past_blanks(text, at)
        at = behind if behind < event.end_mark.index else at
    return at


_BLANKS = " \t\r\n\x85\u2028\u2029"


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS + "#":
        if text[at] == "#":
            while at < len(text) and text[at] not in _BLANKS[2:]:
                at += 1
        else:
            at += 1
    return at
