"""Guides for coding agents: reading one, and what installing it over a file comes to."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.skills import Skill, folder_for_agents, install_action, is_untouched, read_skill, sealed

TEXT = """---
name: some-guide
description: What it is for: this, and that.
metadata:
  version: "1.2.3"
---
# Some guide

  version: 9
"""
SKILL = Skill("some-guide", "What it is for: this, and that.", "1.2.3", TEXT)


def test_read__guide__says_what_its_front_matter_says() -> None:
    """Name, purpose and version come from the front matter, and the text is kept whole."""
    assert read_skill("some-guide", TEXT).unwrap() == SKILL


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its front matter lacks name, description, version"),
        ("---\nname: x\n", "its front matter lacks name, description, version"),
        (" " + TEXT, "its front matter lacks name, description, version"),
        (TEXT.replace("1.2.3", ""), "its front matter lacks version"),
        (TEXT.replace("version", "edition"), "its front matter lacks version"),
        (TEXT.replace(": What it is for: this, and that.", ":"), "its front matter lacks description"),
        (TEXT.replace("some-guide", "another"), "it calls itself 'another'"),
    ],
)
def test_read__front_matter_that_lacks_something__is_damaged(text: str, said: str) -> None:
    """What no agent could use is refused by name."""
    problem = read_skill("some-guide", text).failure()
    assert (problem.code, problem.where) == ("BK760", "some-guide/SKILL.md")
    assert problem.message == f"this guide is damaged: {said}"
    assert problem.hint == "install Beaker anew: this file came with it"


def test_sealed__guide__carries_the_digest_of_its_text_behind_the_version() -> None:
    """One line is added to the front matter, and nothing else changes."""
    lines = sealed(SKILL).splitlines()
    assert lines.pop(5) == f'  sha256: "{sha256(TEXT.encode()).hexdigest()}"'
    assert "\n".join(lines) + "\n" == TEXT
    assert read_skill("some-guide", sealed(SKILL)).unwrap().version == "1.2.3"


@given(st.text(alphabet="ab \n#:-", max_size=40), st.data())
def test_untouched__any_change_of_one_character__is_seen(body: str, data: st.DataObject) -> None:
    """An installed guide is known as ours, with either line end, until anything in it changes."""
    text = sealed(Skill("some-guide", "d", "1", TEXT + body))
    assert is_untouched(text)
    assert is_untouched(text.replace("\n", "\r\n"))
    at = data.draw(st.integers(0, len(text) - 1))
    assert not is_untouched(text[:at] + "X" + text[at + 1 :])
    assert not is_untouched(text[:at] + text[at + 1 :])


def test_untouched__text_without_a_digest__is_somebody_elses() -> None:
    """What carries no digest was never installed by us."""
    assert not is_untouched(TEXT)


@pytest.mark.parametrize(
    ("found", "present", "force", "action"),
    [
        (None, None, False, "create"),
        (None, None, True, "create"),
        ("file", sealed(SKILL), False, "unchanged"),
        ("file", sealed(SKILL).replace("\n", "\r\n"), False, "unchanged"),
        ("file", sealed(SKILL), True, "unchanged"),
        ("file", sealed(Skill("some-guide", "d", "1", TEXT + "older")), False, "update"),
        ("file", sealed(SKILL) + "mine", True, "replace"),
        ("file", TEXT, True, "replace"),
        ("file", None, True, "replace"),
    ],
)
def test_install__what_may_be_written__says_what_it_comes_to(
    found: Any, present: Any, force: bool, action: str
) -> None:
    """Ours is brought up to date, and somebody else's is replaced only when that was asked for."""
    assert install_action(SKILL, where="d/SKILL.md", found=found, present=present, force=force).unwrap() == action


@pytest.mark.parametrize(
    ("found", "present", "force", "code"),
    [
        ("file", sealed(SKILL) + "mine", False, "BK761"),
        ("file", TEXT, False, "BK761"),
        ("file", None, False, "BK761"),
        ("other", None, False, "BK762"),
        ("other", None, True, "BK762"),
    ],
)
def test_install__what_is_not_ours__is_left_alone(found: Any, present: Any, force: bool, code: str) -> None:
    """A file of somebody else needs to be given up by name; what is no file is never written to."""
    action = install_action(SKILL, where="d/SKILL.md", found=found, present=present, force=force)
    assert not is_successful(action)
    problem = action.failure()
    assert (problem.code, problem.where) == (code, "d/SKILL.md")
    said = "--force" if code == "BK761" else "move it away"
    assert said in problem.hint
    assert problem.message.startswith("is there already" if code == "BK761" else "a link, or something else")


def test_install__without_a_word__forces_nothing() -> None:
    """Replacing is never the default."""
    assert install_action(SKILL, where="x", found="file", present="mine").failure().code == "BK761"


@pytest.mark.parametrize(
    ("present", "folder"),
    [
        ([], ".agents/skills"),
        (["src", ".agents"], ".agents/skills"),
        ([".claude"], ".claude/skills"),
        (["a", "CLAUDE.md"], ".claude/skills"),
    ],
)
def test_folder__of_a_project__is_the_one_its_agent_reads(present: list[str], folder: str) -> None:
    """What the project is already set up for decides."""
    assert folder_for_agents(present) == folder
