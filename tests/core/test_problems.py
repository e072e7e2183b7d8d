"""Problems are plain values, and `Refused` carries them."""

from beaker.core.problems import Problem, Refused


def test_problem__equal_by_content_and_hashable() -> None:
    """Two problems that say the same are the same."""
    assert Problem("BK101", "m", "f:1") == Problem("BK101", "m", "f:1")
    assert len({Problem("BK101", "m"), Problem("BK101", "m")}) == 1


def test_problem__text__says_where_first() -> None:
    """The text of a problem begins with its place when it has one."""
    assert str(Problem("BK101", "is wrong", "a.yaml:3")) == "a.yaml:3: is wrong"
    assert str(Problem("BK101", "is wrong")) == "is wrong"


def test_refused__carries_one_or_many() -> None:
    """`Refused` always holds a tuple, and its text has every message."""
    one, two = Problem("BK101", "a"), Problem("BK102", "b")
    assert Refused(one).problems == (one,)
    assert Refused([one, two]).problems == (one, two)
    assert str(Refused([one, two])) == "a; b"
