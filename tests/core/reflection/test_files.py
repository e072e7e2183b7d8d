"""Which files a model is shown in full."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.reflection.budget import Window, tokens
from beaker.core.reflection.files import NAMED, Shown, WorkingFile, choose_files, render_files

WIDE = Window(10_000, 10_000)


def choose(*files: WorkingFile, evidence: str = "", limit: int = 10_000, window: Window = WIDE, seed: int = 0) -> Shown:
    """Choose with room for everything."""
    return choose_files(files, evidence=evidence, limit=limit, window=window, seed=seed)


def paths(shown: Shown) -> list[str]:
    """The paths shown in full, in their order."""
    return [file.path for file in shown.full]


def test_choose_files__mentioned_ones__come_first_and_locked_ones_last() -> None:
    """A traceback names the file that matters; what may not be edited only explains."""
    files = [WorkingFile(f"repository/{name}.py", "x") for name in "abc"]
    locked = WorkingFile("documents/g/c.txt", "x", editable=False)
    shown = choose(*files, locked, evidence='File "b.py", line 1 ... b.py ... c.py and c.txt c.txt c.txt')
    assert paths(shown) == ["repository/b.py", "repository/c.py", "repository/a.py", "documents/g/c.txt"]
    assert shown.named == ()


def test_choose_files__same_standing__order_is_drawn_with_the_seed() -> None:
    """The same seed gives the same order, whatever order they come in; other seeds give others."""
    files = [WorkingFile(f"documents/g/{number}.txt", "x") for number in range(6)]
    assert paths(choose(*files, seed=1)) == paths(choose(*reversed(files), seed=1))
    assert len({tuple(paths(choose(*files, seed=seed))) for seed in range(20)}) > 10


def test_choose_files__too_long_to_be_rewritten__are_named_alone() -> None:
    """A file fills at most four fifths of an answer; one that is only read may be longer."""
    window = Window(10_000, 10)
    fits, long = WorkingFile("documents/g/a", "x" * 24), WorkingFile("documents/g/b", "x" * 25)
    read = WorkingFile("documents/g/c", "x" * 25, editable=False)
    shown = choose(fits, long, read, window=window)
    assert paths(shown) == ["documents/g/a", "documents/g/c"]
    assert shown.named == ("documents/g/b",)


def test_choose_files__no_room__skips_the_long_ones() -> None:
    """A long file does not keep a short one out, and one that just fits is shown."""
    long, short = WorkingFile("documents/g/long", "x" * 300), WorkingFile("documents/g/short", "x" * 30)
    assert paths(choose(long, short, evidence="long", limit=99)) == ["documents/g/short"]
    assert paths(choose(long, short, evidence="long", limit=100)) == ["documents/g/long"]
    assert paths(choose(long, short, evidence="long", limit=100 + 6 + 12 + 10)) == [
        "documents/g/long",
        "documents/g/short",
    ]
    assert paths(choose(long, short, evidence="long", limit=100 + 6 + 12 + 9)) == ["documents/g/long"]


FILES = st.lists(
    st.builds(WorkingFile, st.text("abc/", min_size=1, max_size=4), st.text(max_size=40), st.booleans()),
    unique_by=lambda file: file.path,
    max_size=6,
)


@given(FILES, st.integers(0, 200), st.integers(0, 40), st.integers(0, 5))
def test_choose_files__any__are_shown_or_named_within_the_limit(
    files: list[WorkingFile], limit: int, answer: int, seed: int
) -> None:
    """Nothing is lost, nothing stands twice, and what may be rewritten fits an answer."""
    shown = choose(*files, limit=limit, window=Window(1000, answer), seed=seed)
    assert sorted([*paths(shown), *shown.named]) == sorted(file.path for file in files)
    assert max(0, sum(tokens(file.text) for file in shown.full)) <= limit
    assert all(tokens(file.text) <= answer * 0.8 for file in shown.full if file.editable)


def test_render_files__of_everything__shows_text_names_and_places() -> None:
    """Each file between tags on lines of their own, whether or not it ends with a line end."""
    shown = Shown(
        (
            WorkingFile("documents/g/a", "one\n"),
            WorkingFile("documents/g/b", "two", editable=False),
            WorkingFile("documents/g/c", ""),
        ),
        ("repository/x.py",),
    )
    assert render_files(shown, places=["documents/g", "repository/src"]) == (
        '# Files\n\n<file path="documents/g/a">\none\n</file>\n\n'
        '<file path="documents/g/b" read-only="true">\ntwo\n</file>\n\n<file path="documents/g/c">\n</file>\n\n'
        "Not shown, and not to be edited now: repository/x.py\n\n"
        "A new file may be made in: documents/g, repository/src\n"
    )


def test_render_files__of_many_names__counts_the_rest() -> None:
    """Forty names are enough to say what there is."""
    text = render_files(Shown((), tuple(f"f{number:02}" for number in range(NAMED + 2))), places=[])
    assert "f00, f01, " in text
    assert "f39 and 2 more\n" in text
    assert "f40" not in text
    assert "made in: no place" in text
    assert "more" not in render_files(Shown((), tuple(f"f{number:02}" for number in range(NAMED))), places=[])
