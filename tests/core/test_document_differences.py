"""Differences between documents, in words."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.document_differences import document_differences

DOCUMENTS = st.dictionaries(st.tuples(st.sampled_from("gh"), st.sampled_from("abc")), st.sampled_from(["", "x", "y"]))


@given(DOCUMENTS, DOCUMENTS)
def test_document_differences__says_something__exactly_where_they_differ(
    before: dict[tuple[str, str], str], after: dict[tuple[str, str], str]
) -> None:
    """Equal documents differ in nothing, and every other pair in something."""
    assert (document_differences(before, after) == "") == (before == after)
    assert document_differences(before, before) == ""


def test_document_differences__names_the_first_and_counts_the_others() -> None:
    """In their order, each with what became of it, control characters visible."""
    before = {("g", "a"): "1", ("g", "b\x1b"): "1", ("g", "same"): "1"}
    assert document_differences(before, {("g", "a"): "2", ("g", "same"): "1", ("g", "z"): ""}) == (
        "g/a was changed, g/b\\x1b was removed, g/z was added"
    )
    many = {("g", str(number)): "" for number in range(7)}
    assert document_differences({}, many) == (
        "g/0 was added, g/1 was added, g/2 was added, g/3 was added, g/4 was added and 2 more"
    )
    assert document_differences({}, dict([*many.items()][:5])).endswith("g/4 was added")
