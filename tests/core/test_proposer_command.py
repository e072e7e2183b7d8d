"""What a proposer command would stumble over, told before it runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.proposer_command import CODE, CommandWorld, command_warnings

FILES: dict[str, bool | None] = {
    "propose.py": False,
    "tools/learn.py": True,
    "tools/bare.py": True,
    "tools/run.sh": False,
    "link": None,
}
STARTS = {"tools/learn.py": b"#!/usr/bin/env python3\n", "tools/bare.py": b"print()\n"}
WORLD = CommandWorld(
    files=FILES,
    first_bytes=lambda path: STARTS.get(path, b""),
    program=lambda name: name in ("python", "/usr/bin/python"),
)

QUIET = [
    ["python", "{project}/propose.py"],
    ["/usr/bin/python", "{project}/tools/learn.py", "--rate", "0.5"],
    ["{project}/tools/learn.py"],
    ["{project}/tools/../tools/./learn.py"],
    ["{project}/link"],
    ["{project}/link/inside.py"],
    ["python", "{project}"],
    ["python", "{project}/tools"],
    ["python", "{project}/"],
    ["python", "{project}/*.py"],
    ["python", "-c", "print({'a': 1})", "{name}"],
    ["{project}-runner"],
    ["python", "-propose.py", "/propose.py"],
    ["{python}", "{project}/propose.py"],
    ["{python}", "-m", "learn"],
    ["python", "-c", "{python} {project}/propose.py"],
]

LOUD = [
    (["python", "{projekt}/propose.py"], 1, "{projekt} is no placeholder", "did you mean {project}?"),
    (
        ["python", "{root}/propose.py"],
        1,
        "{root} is no placeholder",
        "only {project}, a checkout of the",
    ),
    (["{pyhton}", "{project}/propose.py"], 0, "{pyhton} is no placeholder", "did you mean {python}?"),
    (["{projekt}/x"], 0, "{projekt} is no placeholder", "did you mean {project}?"),
    (["python", "{project}/learn.py"], 1, "{project}/learn.py is not in the commit", "{project}/tools/learn.py"),
    (["python", "{project}/nothing/alike"], 1, "is not in the commit", "git add nothing/alike"),
    (["{project}/propos.py"], 0, "{project}/propos.py is not in the commit", "did you mean {project}/propose.py"),
    (["{project}/tools"], 0, "is a folder, not a program", "name the program in it"),
    (["{project}/propose.py"], 0, "is not executable in the commit", '["{python}", "{project}/propose.py"]'),
    (["{project}/tools/run.sh"], 0, "is not executable in the commit", '[bash, "{project}/tools/run.sh"]'),
    (["{project}/tools/bare.py"], 0, "has no #! line", "#!/usr/bin/env python3"),
    (["./propose.py"], 0, "looked for in the proposer's working copy", "write {project}/propose.py"),
    (["bin/other"], 0, "looked for in the proposer's working copy", "{project}/PATH"),
    (["~/propose"], 0, "looked for in the proposer's working copy", "write the path in full"),
    (["nosuch"], 0, "is not on your PATH", "install it, or correct the name"),
    (["propose.py"], 0, "is not on your PATH", '["{python}", "{project}/propose.py"]'),
    (["/opt/nosuch"], 0, "cannot be started on this machine", "install it"),
    (["python", "propose.py"], 1, "propose.py is a file of the commit", "write {project}/propose.py"),
    (
        ["python", "../propose.py/../propose.py", "tools/../propose.py"],
        2,
        "a file of the commit",
        "{project}/propose.py",
    ),
]


@pytest.mark.parametrize("command", QUIET, ids=" ".join)
def test_command_warnings__what_can_work__is_not_warned_of(command: list[str]) -> None:
    """A command that can start and finds its files gets no warning."""
    assert list(command_warnings(command, WORLD, where="command")) == []


@pytest.mark.parametrize(("command", "index", "message", "hint"), LOUD, ids=[" ".join(row[0]) for row in LOUD])
def test_command_warnings__what_cannot_work__is_told_with_its_place(
    command: list[str], index: int, message: str, hint: str
) -> None:
    """Each fault is one warning at its word, with what to write instead."""
    (problem,) = command_warnings(command, WORLD, where="command")
    assert (problem.code, problem.where) == (CODE, f"command[{index}]")
    assert message in problem.message
    assert hint in problem.hint


words = st.lists(
    st.text(st.sampled_from("{}project/.~*ab-$ \n")) | st.sampled_from([*FILES, "{project}/link"]), max_size=4
)


@given(words)
def test_command_warnings__any_command__is_judged(command: list[str]) -> None:
    """No command makes the judgement raise, and every warning says where and what to do."""
    for problem in command_warnings(command, WORLD, where="command"):
        assert problem.code == CODE
        assert problem.where.startswith("command[")
        assert problem.hint
