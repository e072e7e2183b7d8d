"""Edits of a module's text by the places that its syntax tree tells."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.source_edits import SourceEdit, edited, source_text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_source_text__any_line_ends__finds_what_the_tree_points_at(end: str) -> None:
    """Characters of several bytes, and form feeds inside lines, move nothing."""
    source = f"é = 'ü'{end}x\x0c= y{end}{end}def f(): return wörld{end}"
    text = source_text(source)
    found = {
        node.id: text.text(text.start(node), text.end(node))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name)
    }
    assert found == {name: name for name in ("é", "x", "y", "wörld")}


def test_edited__edits_in_any_order__change_only_their_characters() -> None:
    """What is inserted at one offset stands in the order given; what lies between stays."""
    edits = [
        SourceEdit(6, 9, "W", 1, ""),
        SourceEdit(0, 0, "(", 1, ""),
        SourceEdit(0, 3, "é", 1, ""),
        SourceEdit(5, 5, ")", 1, ""),
    ]
    assert edited("añ bc ñ", edits) == "(é b)cW"
    assert edited("añ", []) == "añ"


@given(st.text(), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5), st.text(max_size=3)), max_size=4))
def test_edited__any_text__is_spliced_as_characters_are(text: str, splices: list[tuple[int, int, str]]) -> None:
    """Byte offsets of whole characters give what splicing the characters gives."""
    text = text.encode("utf-8", "ignore").decode()
    at, edits, wanted = 0, [], ""
    for gap, length, new in splices:
        new = new.encode("utf-8", "ignore").decode()
        start = min(at + gap, len(text))
        end = min(start + length, len(text))
        offsets = (len(text[:start].encode()), len(text[:end].encode()))
        if edits and offsets[0] == edits[-1].end and offsets[0] == edits[-1].start:
            continue
        edits.append(SourceEdit(*offsets, new, 1, ""))
        wanted += text[at:start] + new
        at = end
    assert edited(text, edits) == wanted + text[at:]
