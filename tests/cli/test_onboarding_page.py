"""The page about onboarding shows the decisions that the tests go by."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def tables() -> ModuleType:
    spec = spec_from_file_location("onboarding_tables", DOCS / "onboarding_tables.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_page__between_its_markers__is_what_the_vectors_say(tables: ModuleType) -> None:
    """`python docs/onboarding_tables.py` would change nothing."""
    page = (DOCS / "onboarding.md").read_text(encoding="utf-8")
    assert tables.replaced(page) == page


def test_replaced__page_without_a_place__is_refused(tables: ModuleType) -> None:
    """Drawing never guesses where."""
    with pytest.raises(ValueError, match="the page needs"):
        tables.replaced("no markers")
