"""What is deprecated in the customer's own code reaches the host, once, and nothing else does."""

import warnings

import pytest

from beaker.core.problems import Problem
from beaker.runtime.deprecations import report_deprecations
from beaker.runtime.workers import WorkerFailed

NOISY = """
import sys
import warnings
sys.path.insert(0, str(Path(__file__).parent / "site-packages"))
import library
def old(number):
    warnings.warn(f"old{number} is deprecated", DeprecationWarning, stacklevel=2)
for _ in range(3):
    old(0)
library.old()
library.caller(old)
warnings.warn("look at me", UserWarning)
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        old(1)
        yield Case(id=row["id"], input=row["x"], expected=row["x"])
async def run_case(*, case_input, runtime):
    old("\\ud800 SECRET" + "x" * 5000)
    return CaseResult(case_input)
"""
LIBRARY = """
import warnings
def old():
    warnings.warn("library.old is deprecated", DeprecationWarning, stacklevel=2)
def caller(function):
    function(2)
"""


@pytest.fixture
def noisy(project):
    """The project with a library in its checkout, and code that warns of many things."""
    (project.root / "site-packages").mkdir()
    (project.root / "site-packages" / "library.py").write_text(LIBRARY)
    return project.hooks(NOISY)


def line(project, text):
    """The line of `app.py` that holds `text`, as `where` has it."""
    lines = (project.root / "app.py").read_text().splitlines()
    (number,) = (number for number, one in enumerate(lines, 1) if text in one)
    return f"app.py:{number}"


def test_deprecated__in_the_checkout__is_told_once_by_all_processes_together(noisy, hosted):
    """Lines of the checkout, whoever warns about them; those that blame a library stay hidden, others are printed."""
    told = []

    async def work(supervisor):
        outputs = []
        for _ in range(2):
            setup = await noisy.setup(supervisor)
            await noisy.prepare(setup)
            outputs.append(setup.output())
            await setup.close()
        rollout = await noisy.rollout(supervisor)
        for attempt in (1, 2):
            assert (await rollout.run("c", 1, attempt=attempt)).error is None
        await rollout.close()
        return outputs

    outputs = hosted(work, warned=told.append, redact=lambda text: text.replace("SECRET", "[secret]"))
    *short, long = told
    assert short == [
        Problem("BK351", "old0 is deprecated", line(noisy, "    old(0)")),
        Problem("BK351", "library.old is deprecated", line(noisy, "library.old()")),
        Problem("BK351", "old1 is deprecated", line(noisy, "    old(1)")),
    ]
    assert (long.code, long.where) == ("BK351", line(noisy, '    old("\\ud800'))
    assert "[secret]" in long.message
    assert "SECRET" not in long.message
    assert "characters left out" in long.message
    assert len(long.message) < 2100
    for output in outputs:
        assert "UserWarning: look at me" in output
        assert "is deprecated" not in output


def test_deprecated__import_fails_later__is_told_all_the_same(noisy, hosted):
    """What came before the failure may have to do with it."""
    told = []
    noisy.hooks(NOISY + "raise ValueError('no')\n")

    async def work(supervisor):
        with pytest.raises(WorkerFailed, match="no"):
            await noisy.setup(supervisor)

    hosted(work, warned=told.append)
    assert [problem.message for problem in told] == ["old0 is deprecated", "library.old is deprecated"]


@pytest.mark.parametrize("setting", ["simplefilter('ignore')", "filterwarnings('ignore', 'old')"])
def test_deprecated__customers_filter__counts(project, hosted, setting):
    """Who hides a warning has seen it."""
    told = []
    project.hooks(f"import warnings\nwarnings.{setting}\nwarnings.warn('old is deprecated', DeprecationWarning)\n")

    async def work(supervisor):
        await (await project.setup(supervisor)).close()

    hosted(work, warned=told.append)
    assert told == []


def test_report__customer_shows_always__is_bounded_and_told_once(tmp_path):
    """A loop that warns at every turn sends nothing twice; a process that warns of ever new things stops telling."""

    class Notes(list):
        note = list.append

    notes, file = Notes(), tmp_path / "app.py"
    with warnings.catch_warnings():
        report_deprecations(notes, tmp_path)
        warnings.simplefilter("always")
        for line in (1, 1, *range(1, 500)):
            warnings.warn_explicit("old is deprecated", DeprecationWarning, str(file), line)
        warnings.warn_explicit("old is deprecated", DeprecationWarning, "/usr/lib/python3/old.py", 1)
    assert notes == [{"message": "old is deprecated", "where": f"app.py:{line}"} for line in range(1, 101)]


def test_supervisor__many_warnings__hands_on_a_bounded_number(hosted):
    """A candidate that warns of something else in every process fills no log."""
    told = []

    async def work(supervisor):
        for number in range(1000):
            supervisor.warn(Problem("BK351", f"old{number} is deprecated"))
            supervisor.warn(Problem("BK351", "old0 is deprecated"))

    hosted(work, warned=told.append)
    assert len(told) == len(set(told)) == 200
