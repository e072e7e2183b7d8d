"""Modules of several generations, loaded into one process, do not disturb each other."""

import sys
import warnings
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import beaker
from beaker.sdk import spec04
from beaker.testing import load_integration, run_case_once, run_setup_once, score_once

TARGETS = {"0.4-resources": "specs.words:Words.build", "0.6.5-documents": "word_integration:integration"}


@pytest.fixture(autouse=True)
def imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test imports, and puts on the path, goes with it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if not name.startswith("beaker"):
            del sys.modules[name]


def scores(integration: Any, folder: Path) -> dict[str, float]:
    """What each TRAIN case scores with the seeds."""
    prepared = run_setup_once(integration, folder / "dataset")
    made = {}
    for case in prepared.train:
        result = run_case_once(integration, case, documents=prepared.documents)
        made[case.id] = score_once(integration, case, result).objective
    return made


@pytest.mark.parametrize("order", [*permutations(TARGETS)], ids="-".join)
def test_generations__in_one_process__each_have_their_own(make: Any, tmp_path: Path, order: tuple[str, str]) -> None:
    """Whichever is loaded first, both find what their names meant, and run side by side with the same scores."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = {name: make(name).folder for name in order}
        loaded = {name: load_integration(TARGETS[name], root=made[name]) for name in order}
        found = [{name: scores(loaded[name], made[name]) for name in order} for _ in range(2)]
    expected = {word: float(word[0] not in "eiou") for word in ("apple", "bee", "ice", "owl", "cat", "ox")}
    assert found == [dict.fromkeys(order, expected)] * 2
    assert {Path(one.filename).name for one in caught} == {"words.py", "cases.py"}

    earlier, today = sys.modules["specs.cases"], sys.modules["word_integration"]
    assert (earlier.Case, earlier.CaseScore) == (spec04.Case, spec04.CaseScore)
    assert (today.Case, today.CaseResult) == (beaker.Case, beaker.CaseResult)
    # A module of neither, loaded after both, gets today's.
    (tmp_path / "imported_late.py").write_text("from beaker import Case, CaseScore\n")
    sys.path.insert(0, str(tmp_path))
    late: Any = __import__("imported_late")
    assert (late.Case, late.CaseScore) == (beaker.Case, beaker.CaseScore)
    assert beaker.Case is not spec04.Case
