"""Which GitHub repository a checkout belongs to."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.remotes import checkout_repository, github_repository

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "remotes.json").read_text("utf-8"))


@pytest.mark.parametrize("url, expected", VECTORS["github_repository"])
def test_github_repository__vector__as_listed(url: str, expected: str | None) -> None:
    """Every spelling of a GitHub URL gives owner/name, every other host none."""
    assert github_repository(url) == expected


@pytest.mark.parametrize("remotes, expected", VECTORS["checkout_repository"])
def test_checkout_repository__vector__as_listed(remotes: dict[str, str], expected: str | None) -> None:
    """`origin` first, else the only GitHub repository named."""
    assert checkout_repository(remotes) == expected


@given(st.text())
def test_github_repository__any_text__gives_two_parts_or_nothing(url: str) -> None:
    """The function is total."""
    found = github_repository(url)
    assert found is None or len(found.split("/")) == 2
