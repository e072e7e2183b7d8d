"""The options of an upload: what they come to, and every fault at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.upload_options import MAX_COUNT_DIGITS, read_upload_options, total_problem, unfit_dataset

NAMES = st.text("abcXYZ-_", min_size=1, max_size=5)


@given(st.dictionaries(NAMES, st.integers(0, 10**14)), st.dictionaries(NAMES, st.text("=a ", max_size=5)))
def test_read__what_is_written__is_read(counts: dict[str, int], notes: dict[str, str]) -> None:
    """Blanks around names and counts do not matter; a note is everything behind the first equals sign."""
    splits = [f" {name} = {count} " for name, count in counts.items()]
    read = read_upload_options(" d ", splits=splits, metadata=[f"{key}={text}" for key, text in notes.items()])
    options = read.unwrap()
    assert (options.name, dict(options.counts), dict(options.metadata)) == ("d", counts, notes)


def test_read__every_fault__is_told_at_once() -> None:
    """A blank name, another form, a name that stands twice and a count that is none are told together, in order."""
    problems = read_upload_options(
        " ", splits=["train", "=3", "test=1", "test=2", "dev=-1"], metadata=["a", "b=1", "b=2"]
    ).failure()
    assert {problem.code for problem in problems} == {"BK905"}
    assert [(problem.where, problem.message) for problem in problems] == [
        ("--name", "the dataset needs a name"),
        ("--split", "must read NAME=COUNT, not 'train'"),
        ("--split", "must read NAME=COUNT, not '=3'"),
        ("--split", "names 'test' twice"),
        ("--metadata", "must read KEY=VALUE, not 'a'"),
        ("--metadata", "names 'b' twice"),
        ("--split", "the count of 'dev' must be a whole number of at most 15 digits, not '-1'"),
    ]
    assert [problem.hint for problem in problems if "twice" in problem.message] == ["keep one of them"] * 2


@pytest.mark.parametrize("text", ["", "x", "+1", "1.0", "１", "9" * (MAX_COUNT_DIGITS + 1)])
def test_read__count_that_is_none__is_refused(text: str) -> None:
    """A count is written in ASCII digits, and there are only so many rows."""
    (problem,) = read_upload_options("d", splits=[f"train={text}"]).failure()
    assert problem.message.endswith(f"not {text!r}")


def test_read__long_count__is_shown_in_part() -> None:
    """What is much too long is not repeated whole."""
    assert read_upload_options("d", splits=[f"train={'9' * 15}"]).unwrap().counts["train"] == 10**15 - 1
    for length, shown in ((40, "9" * 40), (41, "9" * 37 + "...")):
        (problem,) = read_upload_options("d", splits=[f"train={'9' * length}"]).failure()
        assert problem.message.endswith(f"not '{shown}'")


def test_total__must_be_that_of_the_files() -> None:
    """No total is no fault, and neither is the right one."""
    splits = {"train": 2, "test": 1}
    assert total_problem(None, splits) is None
    assert total_problem(3, splits) is None
    wrong = total_problem(4, splits)
    assert wrong is not None
    assert (wrong.code, wrong.where, wrong.message) == ("BK905", "--total-count", "is 4, but the files have 3 rows")


def test_unfit__split_without_rows__is_named() -> None:
    """A run needs rows in both splits."""
    assert unfit_dataset("d", {"train": 1, "test": 1}) is None
    for splits, said in (({"train": 1}, "test"), ({"test": 1, "train": 0}, "train"), ({}, "train and test")):
        problem = unfit_dataset("d", splits)
        assert problem is not None
        assert (problem.code, problem.where) == ("BK907", "dataset d")
        assert problem.message == f"no run can use this dataset: it has no rows in {said}"
        assert problem.hint.startswith("a run learns on TRAIN")
