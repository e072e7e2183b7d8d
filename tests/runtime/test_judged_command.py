"""What smoke says of a proposer's command: the same as a launch would."""

import pytest

from beaker.files.git import init_repository
from beaker.runtime.judged_command import judge_command

PATH = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def root(tmp_path):
    """A repository in which nothing is committed yet, with a script and a file that is ignored."""
    assert init_repository(tmp_path)
    for name, text in {
        "propose.py": "print()\n",
        "run.sh": "#!/bin/sh\n",
        ".gitignore": "made.py\n",
        "made.py": "",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("run.sh")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "index", "said"),
    [
        (["sh", "{project}/run.sh"], None, ""),
        (["{project}/run.sh"], None, ""),
        (["{project}/link"], None, ""),
        (["no-such-program", "{project}/propose.py"], 0, "the program 'no-such-program' is not on your PATH"),
        (["{project}/propose.py"], 0, "is not executable"),
        (["sh", "{project}/made.py"], 1, "{project}/made.py is not in the commit"),
        (["sh", "{projekt}/run.sh"], 1, "{projekt} is no placeholder"),
    ],
)
@pytest.mark.parametrize("local", [True, False])
def test_judge_command__is_warned_of_as_at_a_launch(root, command, index, said, local):
    """Each fault has its place; meant for another place, it says that it is about this machine."""
    found = judge_command(root, {"harness_optimization": {"command": command}}, PATH, local=local)
    assert [(one.code, one.where) for one in found] == (
        [] if index is None else [("BK480", f"config.harness_optimization.command[{index}]")]
    )
    assert all(said in one.message and ("on this machine" in one.message) != local for one in found)


@pytest.mark.parametrize(
    "settings", [{}, {"command": 7}, {"reflection": {"base_url": "http://127.0.0.1/v1", "model": "m"}}]
)
def test_judge_command__without_a_command__says_nothing(root, settings):
    """What is wrong with settings is told elsewhere."""
    assert judge_command(root, {"harness_optimization": settings}, PATH, local=True) == ()


def test_judge_command__outside_git__says_nothing(tmp_path):
    """No launch is possible there, which is told elsewhere."""
    config = {"harness_optimization": {"command": ["no-such-program"]}}
    assert judge_command(tmp_path, config, PATH, local=True) == ()
