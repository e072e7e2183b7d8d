"""The memory of an evaluation that no run stores."""

import pytest

from beaker.core.cases import CaseScore
from beaker.core.evaluations import Evaluation
from beaker.engine.candidates import CandidateTree
from beaker.engine.memory import ShortMemory


def test_short_memory__keeps_what_it_was_told_first() -> None:
    """As a journal does: one evaluation per tree and case, facts by name, trees by digest."""
    tree = CandidateTree({"book": {"a": "1"}})
    memory = ShortMemory({"d": tree})
    first, second = (Evaluation("a", score=CaseScore(score, {})) for score in (0.5, 1.0))
    memory.store_evaluation("d", first)
    memory.store_evaluation("d", second)
    assert memory.evaluations("d", ["b", "a"]) == {"a": first}
    assert memory.evaluations("e", ["a"]) == {}
    memory.set_facts(one=1, two=2)
    memory.set_facts(two=3)
    memory.facts()["one"] = 7
    assert memory.facts() == {"one": 1, "two": 3}
    assert memory.tree("d") is tree
    with pytest.raises(KeyError):
        memory.tree("e")
