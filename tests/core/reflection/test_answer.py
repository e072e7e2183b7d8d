"""Answers of models: the form they are asked for, the forms they fall into, and what is no edit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.reflection.answer import Edit, read_answer, settled

KNOWN = ("documents/book/rules.txt", "documents/book/deep/a.md", "documents/other/a.md", "repository/src/app.py")
PLACES = ("documents/book", "documents/other", "repository/src")


def read(answer: str, *, shown: tuple[str, ...] = KNOWN, cut_off: bool = False) -> Edit | str:
    """The edit, or why there is none."""
    found = read_answer(answer, known=KNOWN, places=PLACES, shown=shown, cut_off=cut_off)
    return found.unwrap() if is_successful(found) else found.failure().message


RULES = "documents/book/rules.txt"


@pytest.mark.parametrize(
    ("answer", "edit"),
    [
        (f'I add a rule.\n\n<edit path="{RULES}">\na=b\n</edit>', Edit(RULES, "a=b\n")),
        (f"<edit path='{RULES}'>\r\na=b\r\n</edit>", Edit(RULES, "a=b\r\n")),
        (f'<EDIT path = "{RULES}">a=b</Edit >\nDone.', Edit(RULES, "a=b")),
        (f"<edit path={RULES}>\na=b\n</edit>", Edit(RULES, "a=b\n")),
        (f'<file path="{RULES}">\na=b\n</file>', Edit(RULES, "a=b\n")),
        (f'<write name="{RULES}">\na=b\n</write>', Edit(RULES, "a=b\n")),
        (f'<create file="src/new.py">\nx\n</create> <edit path="{RULES}">', Edit("repository/src/new.py", "x\n")),
        (f'<edit path="{RULES}">\na=b\n', Edit(RULES, "a=b\n")),
        (f'<edit path="{RULES}">\n```text\na=b\n```\n</edit>', Edit(RULES, "a=b")),
        (f'<edit path="{RULES}">\n```\na\n```\n\n```\nb\n```\n</edit>', Edit(RULES, "```\na\n```\n\n```\nb\n```\n")),
        (f'<edit path="{RULES}">\nwrite </edit> to end\n</edit>', Edit(RULES, "write </edit> to end\n")),
        (f'<edit path="{RULES}">\na\n</edit>\n<edit path="documents/other/a.md">\nb\n</edit>', Edit(RULES, "a\n")),
        (f'<edit path="{RULES}">\nuse <edit path="x"> here\n</edit>', Edit(RULES, 'use <edit path="x"> here\n')),
        ("<edit>\nno path\n</edit>\n" + f'<edit path="{RULES}">\na\n</edit>', Edit(RULES, "a\n")),
        (f'<edit path="{RULES}"/> <edit path="{RULES}">\na\n</edit>', Edit(RULES, "a\n")),
        (f'<edit path="{RULES}">\n</edit>', Edit(RULES, "")),
        (f'<delete path="{RULES}"/>', Edit(RULES, None)),
        (f'<remove path="{RULES}">', Edit(RULES, None)),
        (f'<delete/> <edit path="{RULES}">\na\n</edit> <delete path="{RULES}"/>', Edit(RULES, "a\n")),
        (f'<delete path="{RULES}"/> <edit path="{RULES}">\na\n</edit>', Edit(RULES, None)),
        (f'<think>maybe <edit path="x">?</think>\n<edit path="{RULES}">\na\n</edit>', Edit(RULES, "a\n")),
        (json.dumps({"path": RULES, "content": "a\n"}), Edit(RULES, "a\n")),
        (f'Here: ```json\n{{"file": "{RULES}", "text": "a\nb"}}\n```', Edit(RULES, "a\nb")),
        (json.dumps({"filename": RULES, "new_content": "a"}), Edit(RULES, "a")),
        (json.dumps({"path": RULES, "delete": True}), Edit(RULES, None)),
        (json.dumps({"path": RULES, "action": "delete"}), Edit(RULES, None)),
        ('{"path": 1} {} {"path": " "} {broken [1] ' + json.dumps({"path": RULES, "content": "a"}), Edit(RULES, "a")),
        (f"The new `{RULES}`:\n\n```\na=b\n```\nThat is all.", Edit(RULES, "a=b")),
        (f"```{RULES}\na=b\n```", Edit(RULES, "a=b")),
        (f"Unlike repository/src/app.py, {RULES} gets:\n```\na=b\n```", Edit(RULES, "a=b")),
        (f"Unlike {RULES}, repository/src/app.py gets:\n```python\nx = 1\n```", Edit("repository/src/app.py", "x = 1")),
    ],
)  # fmt: skip
def test_read_answer__every_form__gives_the_edit(answer: str, edit: Edit) -> None:
    """The tags asked for, unclosed or fenced ones, JSON, and a lone fence below a path."""
    assert read(answer) == edit


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (RULES, RULES),
        (f"./{RULES}", RULES),
        (f"/{RULES}", RULES),
        (f"`{RULES}`", RULES),
        ("book/rules.txt", RULES),
        ("rules.txt", RULES),
        ("deep/a.md", "documents/book/deep/a.md"),
        ("app.py", "repository/src/app.py"),
        ("src/new.py", "repository/src/new.py"),
        ("book\\new.txt", "documents/book/new.txt"),
        ("documents/book/new.txt", "documents/book/new.txt"),
        ("repository/elsewhere.py", "repository/elsewhere.py"),
    ],
)
def test_read_answer__a_path_as_models_write_it__is_found(given: str, meant: str) -> None:
    """With or without the folder of the working copy; a name alone when there is one file of that name."""
    assert read(f'<edit path="{given}">\na\n</edit>') == Edit(meant, "a\n")


@pytest.mark.parametrize(
    "path", ["a.md", "new.txt", "nowhere/x.txt", "../x", "documents/../../x", "a//b", "book/\u200b"]
)
def test_read_answer__a_path_that_is_no_place__is_refused(path: str) -> None:
    """A name that two files share, one that no place has, and one that leads out."""
    assert "is no place in the working copy" in str(read(f'<edit path="{path}">\na\n</edit>'))


@pytest.mark.parametrize(
    ("answer", "cut_off", "why"),
    [
        ("", False, "it is empty"),
        (" <think>hm</think>\n", False, "it is empty"),
        ("I would add a rule.", False, "there is none in it"),
        ("I would add a", True, "it was cut off before one"),
        (f'<edit path="{RULES}">\na=b', True, "it was cut off within the file"),
        (f"{RULES}:\n```\na=b\n```", True, "it was cut off before one"),
        ("```\na\n```", False, "there is none in it"),
        (
            f'<edit path="{RULES}">\nThe complete new content of the file.\n</edit>',
            False,
            "it repeats the form instead of filling it",
        ),
        (f"{RULES}\n```\na\n```\n```\nb\n```", False, "there is none in it"),
        (json.dumps({"path": RULES}), False, "there is none in it"),
        (json.dumps([1]) + "{" * 30, False, "there is none in it"),
        (f"x{RULES} {RULES}x\n```\na\n```", False, "there is none in it"),
    ],
)
def test_read_answer__no_edit__says_why(answer: str, cut_off: bool, why: str) -> None:
    """A file without an end is never taken for a whole one."""
    assert read(answer, cut_off=cut_off) == why


def test_read_answer__one_file_shown__is_what_a_lone_fence_means() -> None:
    """A model that was given one file need not name it."""
    assert read("```\na\n```", shown=(RULES,)) == Edit(RULES, "a")


def test_read_answer__a_path_that_was_not_filled_in__is_the_one_file_shown() -> None:
    """But a file is never deleted on a guess, and of several files none is meant."""
    assert read('<edit path="...">\na\n</edit>', shown=(RULES,)) == Edit(RULES, "a\n")
    assert "no place" in str(read('<delete path="..."/>', shown=(RULES,)))
    assert "no place" in str(read('<edit path="...">\na\n</edit>'))


def test_read_answer__cut_off_after_the_edit__is_an_edit() -> None:
    """What is whole counts, whatever the model was still to say."""
    assert read(f'<edit path="{RULES}">\na\n</edit> And', cut_off=True) == Edit(RULES, "a\n")


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@given(PLAIN.filter(lambda text: "<" not in text and "```" not in text and "\r" not in text))
def test_read_answer__asked_for_form__gives_the_content_back(content: str) -> None:
    """Whatever a file holds, tags and fences aside, comes through."""
    assert read(f'Because.\n<edit path="{RULES}">\n{content}</edit>') == Edit(RULES, content)


@given(
    st.lists(
        st.sampled_from(
            ['<edit path="', RULES, '">', "</edit>", "<delete path='", "'/>", "```", "\n", "{", '"path":', "}"]
        )
        | PLAIN
    ).map("".join),
    st.booleans(),
)  # fmt: skip
def test_read_answer__any_text__is_an_edit_or_a_reason(answer: str, cut_off: bool) -> None:
    """The reading is total, and never leaves the working copy."""
    found = read(answer, cut_off=cut_off)
    if isinstance(found, Edit):
        assert found.path.split("/")[0] in ("documents", "repository")
        assert not {"", ".", ".."} & set(found.path.split("/"))
    else:
        assert found


@pytest.mark.parametrize(
    ("content", "before", "after"),
    [
        ("a", None, "a\n"),
        ("a\n", None, "a\n"),
        ("", None, ""),
        ("a", "old\n", "a\n"),
        ("a\n\n", "old", "a"),
        ("a", "", "a\n"),
        ("a\nb", "old\r\n", "a\r\nb\r\n"),
        ("a\r\nb", "old\n", "a\nb\n"),
        ("a\nb\n", "x\r\ny", "a\r\nb"),
    ],
)
def test_settled__line_ends__are_those_of_the_file(content: str, before: str | None, after: str) -> None:
    """A rewritten file differs where the model changed it, not in every line."""
    assert settled(content, before) == after
