"""Which distributions a `pyproject.toml` declares."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.dependencies import declares, normalized


@pytest.mark.parametrize(
    "pyproject",
    [
        {"project": {"dependencies": ["httpx", "beaker-sdk"]}},
        {"project": {"dependencies": ["  Beaker_SDK[serve]>=0.6 ; python_version > '3'"]}},
        {"project": {"dependencies": ["beaker.sdk @ file:///wheels/x.whl"]}},
        {"project": {"optional-dependencies": {"dev": ["ruff"], "opt": ("beaker-sdk==1",)}}},
        {"dependency-groups": {"dev": [{"include-group": "test"}], "test": ["beaker-sdk"]}},
        {"tool": {"uv": {"dev-dependencies": ["beaker--sdk"]}}},
        {"tool": {"poetry": {"dependencies": {"python": "^3.12", "Beaker-SDK": {"path": "."}}}}},
        {"tool": {"poetry": {"dev-dependencies": {"beaker_sdk": "*"}}}},
        {"tool": {"poetry": {"group": {"x": {"dependencies": {"beaker-sdk": "*"}}}}}},
    ],
)
def test_declares__wherever_tools_look__counts(pyproject: Any) -> None:
    """In every spelling of the name, with extras, markers and addresses."""
    assert declares(pyproject)
    assert not declares(pyproject, "beaker")


@pytest.mark.parametrize(
    "pyproject",
    [
        None, [], {}, {"project": []}, {"project": {"dependencies": "beaker-sdk"}}, {"dependencies": ["beaker-sdk"]},
        {"project": {"dependencies": [7, None, "", "-beaker-sdk", "my-beaker-sdk", "beaker-sdk-extra", "beakersdk"]}},
        {"project": {"name": "beaker-sdk"}}, {"tool": {"poetry": {"dependencies": ["beaker-sdk"]}}},
        {"tool": {"uv": {"sources": {"beaker-sdk": {}}}}}, {"tool": {"poetry": {"group": {"x": "beaker-sdk"}}}},
        {"dependency-groups": {"dev": "beaker-sdk"}}, {"build-system": {"requires": ["beaker-sdk"]}},
    ],
)  # fmt: skip
def test_declares__anywhere_else__does_not_count(pyproject: Any) -> None:
    """Names like it, other tables, other shapes."""
    assert not declares(pyproject)


KEYS = st.sampled_from(["project", "tool", "poetry", "uv", "group", "dependencies", "dependency-groups"])
SHAPES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda more: st.lists(more, max_size=3) | st.dictionaries(KEYS, more, max_size=3),
    max_leaves=8,
)


@given(SHAPES)
def test_declares__any_shape__is_an_answer(pyproject: Any) -> None:
    """Nothing is raised, and nothing but the name itself counts."""
    assert declares(pyproject) in (False, True)


@given(st.text(alphabet="aB-_.", max_size=8))
def test_normalized__any_spelling__is_settled(name: str) -> None:
    """Doing it again changes nothing."""
    once = normalized(name)
    assert normalized(once) == once == once.lower()
