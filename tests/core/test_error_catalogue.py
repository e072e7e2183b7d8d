"""The catalogue of codes: how one is found, and that each says why and what next."""

import re

import pytest

from beaker.core.error_catalogue import SUBJECTS, Explanation, explain, explained, explanations
from beaker.core.problems import Refused


@pytest.mark.parametrize("written", ["BK112", "bk112", "112", " BK112 "])
def test_explain__a_code_however_written__is_found(written: str) -> None:
    """Whoever types a code need not mind its case, nor its letters."""
    found = explain(written)
    assert found is not None
    assert (found.code, found.subject) == ("BK112", SUBJECTS["BK1"])
    assert "none is the default" in found.reason
    assert "--integration-id" in found.remedy


@pytest.mark.parametrize("written", ["", "BK", "BK000", "BKBK112", "1", "nonsense"])
def test_explain__what_is_no_code__is_none(written: str) -> None:
    """Nothing near is taken for what was asked."""
    assert explain(written) is None


def test_explained__several__are_in_the_order_asked_for() -> None:
    """Each code is explained where it was asked."""
    assert [one.code for one in explained(["949", "BK101"])] == ["BK949", "BK101"]


def test_explained__unknown__names_each_and_where_to_look() -> None:
    """One that is no code refuses all, with every one that is none."""
    with pytest.raises(Refused) as refused:
        explained(["BK101", "BK000", "x"])
    assert [(one.code, one.message) for one in refused.value.problems] == [
        ("BK910", "there is no code 'BK000'"),
        ("BK910", "there is no code 'x'"),
    ]
    assert {one.hint for one in refused.value.problems} == {
        "a code reads BK and three digits; `beaker explain` lists all of them"
    }


def test_explanations__all__are_in_order_and_whole_sentences() -> None:
    """Each says why it comes and what to do, under the subject of its hundred; no code stands twice."""
    every = list(explanations())
    codes = [one.code for one in every]
    assert codes == sorted(set(codes))
    assert {one.code[:3] for one in every} == SUBJECTS.keys()
    for one in every:
        assert isinstance(one, Explanation)
        assert re.fullmatch(r"BK\d{3}", one.code)
        assert one.subject == SUBJECTS[one.code[:3]]
        assert re.match(r"[A-Z`.]", one.reason), one
        assert one.reason.endswith((".", ":")), one
        assert len(one.reason) > 15, one
        assert one.remedy, one
