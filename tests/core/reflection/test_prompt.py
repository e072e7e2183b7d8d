"""The prompt as a whole."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.reflection.budget import tokens, window
from beaker.core.reflection.files import WorkingFile
from beaker.core.reflection.prompt import AGAIN, Prompt, build_prompt

RULES = WorkingFile("documents/book/rules.txt", "a=vowel\n")
LOCKED = WorkingFile("documents/book/locked.txt", "keep\n", editable=False)
SUMMARY: dict[str, Any] = {
    "objective": 0.123456,
    "field_means": {"kind": {"mean": 0.25, "n": 4}, "odd": {"mean": None, "n": 0}, "broken": 7},
    "history": [
        {"outcome": "rejected", "changed": ["book/rules.txt"], "reason": "0.3 on the minibatch, its parent 0.5"},
        {"outcome": "no_change", "changed": [], "message": "the model changed nothing"},
        "nonsense",
        {"outcome": "accepted", "changed": ["book/rules.txt", "book/new.txt"]},
    ],
}
CASES: list[Any] = [
    {"id": "1", "input": "apple", "expected": "fruit", "output": "none", "objective": 0.0, "minibatch": True}
]


def build(
    *files: WorkingFile, context: int = 8_000, summary: Any = SUMMARY, cases: Any = CASES, seed: int = 1
) -> Prompt:
    """A prompt in a context of so many tokens, a quarter of them for the answer."""
    return build_prompt(
        files,
        places=["documents/book"],
        summary=summary,
        cases=cases,
        window=window(context, context // 4),
        seed=seed,
    )


def test_build_prompt__of_everything__tells_files_history_standing_and_cases_in_this_order() -> None:
    """And ends with the form of the answer, for a file that may be edited."""
    prompt = build(LOCKED, RULES)
    assert prompt.user.startswith(
        '# Files\n\n<file path="documents/book/rules.txt">\na=vowel\n</file>\n\n'
        '<file path="documents/book/locked.txt" read-only="true">\nkeep\n</file>\n\n'
        "A new file may be made in: documents/book\n\n"
        "# What was tried before, the latest first\n\n"
        "- changed book/rules.txt, book/new.txt: accepted\n\n"
        "- changed nothing: no_change (the model changed nothing)\n"
        "- changed book/rules.txt: rejected (0.3 on the minibatch, its parent 0.5)\n\n"
        "# How it does\n\n"
        "Mean objective over the cases that select: 0.1235 (1 is perfect).\n"
        "kind: 0.25 over 4 of the cases known here\n"
        "odd: unknown over 0 of the cases known here\n\n"
        "## Case 1 (one of those that the edit must improve)\ninput: apple\nexpected: fruit\noutput: none\n"
        "objective: 0\n\n# Your answer\n"
    )
    assert prompt.user.count('<edit path="documents/book/rules.txt">') == 1
    assert prompt.user.endswith(
        '<edit path="documents/book/rules.txt">\nthe complete new content of the file\n</edit>\n'
    )
    assert "other cases of the same kind" in prompt.system
    assert [file.path for file in prompt.shown] == [RULES.path, LOCKED.path]
    assert (prompt.cases, prompt.example) == (1, RULES.path)
    assert prompt.tokens == tokens(prompt.system) + tokens(prompt.user)


def test_build_prompt__nothing_known__still_asks() -> None:
    """No files, no history, no scores, no cases: a first file can be written."""
    prompt = build(summary={}, cases=[])
    assert "What was tried" not in prompt.user
    assert "Mean objective" not in prompt.user
    assert '<edit path="documents/book/name.txt">' in prompt.user
    nowhere = build_prompt([LOCKED], places=[], summary={}, cases=[], window=window(8_000, 100), seed=1)
    assert '<edit path="documents/group/name.txt">' in nowhere.user


def test_build_prompt__evidence__decides_which_file_comes_first() -> None:
    """The file that an error names is the one to look at."""
    first, second = WorkingFile("repository/a.py", "x = 1\n"), WorkingFile("repository/b.py", "y = 2\n")
    for named in ("a.py", "b.py"):
        error = {"kind": "raised", "message": f"in {named}", "traceback": ""}
        prompt = build(first, second, cases=[{"id": "1", "error": error, "minibatch": True}])
        assert prompt.shown[0].path == f"repository/{named}"


def test_build_prompt__long_history__keeps_the_latest() -> None:
    """About a seventh of the room, so that cases still have theirs."""
    tried = [{"outcome": "rejected", "changed": [f"book/{number}.txt"]} for number in range(500)]
    prompt = build(RULES, context=2_000, summary={"history": tried})
    told = [line for line in prompt.user.splitlines() if line.startswith("- changed")]
    assert told[0].startswith("- changed book/499.txt")
    assert 5 < len(told) < 40
    assert tokens("\n".join(told)) < 200
    assert prompt.cases == 1


SIZES = st.integers(0, 3_000)


@given(st.lists(SIZES, max_size=5), st.lists(SIZES, max_size=5), st.integers(0, 30), st.integers(1_600, 20_000))
def test_build_prompt__whatever_there_is__fits_the_context(
    files: list[int], cases: list[int], tried: int, context: int
) -> None:
    """Files, cases and history of any length: the prompt has the room it was given, and shows what fits."""
    made = [WorkingFile(f"documents/book/{number}.txt", "x" * size) for number, size in enumerate(files)]
    told = [{"id": str(n), "input": "y" * size, "objective": 0.0, "minibatch": True} for n, size in enumerate(cases)]
    history = [{"outcome": "rejected", "changed": ["book/0.txt"] * 20, "reason": "because " * 50}] * tried
    prompt = build(*made, context=context, summary={"history": history}, cases=told)
    assert prompt.tokens <= window(context, context // 4).prompt
    assert prompt == build(*made, context=context, summary={"history": history}, cases=told)


def test_again__names_the_reason() -> None:
    """A second question says what was wrong with the first answer."""
    assert '(it is empty). Answer once more with the edit alone: <edit path="a/b">' in AGAIN.format(
        why="it is empty", path="a/b"
    )
