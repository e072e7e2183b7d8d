"""Addresses that may be given to a browser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.web_pages import is_web_page


@pytest.mark.parametrize(
    "url, page",
    [
        ("https://app.example/cli?a=b#code=AB", True),
        ("http://127.0.0.1:8/x", True),
        ("HTTPS://APP.EXAMPLE", True),
        ("https://", False),
        ("https:///x", False),
        ("//app.example", False),
        ("app.example", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("--new-window", False),
        ("https://h/a b", False),
        ("https://[::1", False),
        ("", False),
    ],
)
def test_is_web_page__listed(url: str, page: bool) -> None:
    """Only http(s) addresses with a host, in one word."""
    assert is_web_page(url) is page
    assert not is_web_page(f"{url}\t")


@given(st.text())
def test_is_web_page__any_text__is_judged(url: str) -> None:
    """Total; a page never begins like an option."""
    assert not is_web_page(url) or url.lower().startswith("http")
