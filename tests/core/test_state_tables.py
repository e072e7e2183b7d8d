"""The architecture page draws the state machines as they are."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the pages are not here")


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = spec_from_file_location("state_tables", DOCS / "state_tables.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_page__between_its_markers__is_what_the_tables_draw(tables: ModuleType) -> None:
    """`python docs/state_tables.py` would change nothing."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert tables.replaced(page) == page


def test_drawn__every_machine__names_every_state_and_move(tables: ModuleType) -> None:
    """Each state has its row or its place among the ends, each move its row."""
    text = tables.drawn()
    for title, _, table in tables.MACHINES:
        drawing = text.split(f"### {title}\n")[1].split("\n### ")[0]
        for state, moves in table.items():
            assert f"`{state}`" in drawing
            if isinstance(moves, dict):
                assert all(f"`{happening}` | `{after}` |" in drawing for happening, after in moves.items())
            else:
                assert all(f"`{after}`" in drawing for after in moves)


@pytest.mark.parametrize("page", ["", "begin", "{end}{begin}", "{begin}{begin}{end}", "{begin}{end}{end}", "{begin}"])
def test_replaced__page_without_one_place__is_refused(tables: ModuleType, page: str) -> None:
    """Drawing never guesses where."""
    with pytest.raises(ValueError, match="once each"):
        tables.replaced(page.format(begin=tables.BEGIN, end=tables.END))
