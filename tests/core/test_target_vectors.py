"""The decision table of target declarations, from its vector file."""

import json
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.targets import compare_targets, declaration_json, parse_declaration

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "targets.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("declaration", "canonical"), VECTORS["declarations"])
def test_parse_declaration__decision_table__as_listed(declaration: Any, canonical: Any) -> None:
    """A declaration is its canonical form, or it is refused with one problem."""
    parsed = parse_declaration(declaration)
    if canonical is None:
        assert not is_successful(parsed)
        assert parsed.failure().message
    else:
        assert declaration_json(parsed.unwrap()) == canonical


@pytest.mark.parametrize(("declared", "other", "agree"), VECTORS["pairs"])
def test_compare_targets__decision_table__as_listed(declared: Any, other: Any, agree: bool) -> None:
    """Whether two declarations agree does not depend on which of them is the imported one."""
    for left, right in ((declared, other), (other, declared)):
        assert is_successful(compare_targets(left, parse_declaration(right).unwrap())) == agree
