"""Handlers of commands decide nothing: each rule is in the core, once, and a handler says only what it met itself."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import beaker

PACKAGE = Path(beaker.__file__).parent

MET_HERE = {
    "BK115": "a configuration path that leads out of the folder it is to be written to",
    "BK117": "a folder named on the command line",
    "BK118": "a configuration file that is not there",
    "BK119": "a folder without a configuration, or a configuration without an entry",
    "BK122": "a folder without a Python project",
    "BK124": "a module that is found nowhere, or twice",
    "BK125": "a file that is there already",
    "BK126": "a target that is not the configured one",
    "BK127": "a module that holds no target, or several",
    "BK128": "a file outside the project, or that is not there",
    "BK129": "a Python that no environment of runs has",
    "BK147": "a file, or a standard input, that cannot be read as text",
    "BK160": "a module that is not written in UTF-8",
    "BK161": "a configuration that cannot be edited",
    "BK162": "edits that could not be proven",
    "BK217": "a dataset's folder that is not there",
    "BK347": "placeholders that were found",
    "BK409": "an option of the Spec generation beside an entry that was found",
    "BK618": "a file that holds no change set",
    "BK701": "a file that cannot be written",
    "BK711": "a folder outside Git",
    "BK712": "a commit that this repository does not have",
    "BK720": "a folder without a project",
    "BK721": "an example that cannot be made here",
    "BK723": "an example that was made already",
    "BK745": "a server's folder that others can read",
    "BK746": "an address that cannot be bound",
    "BK747": "a package that is not installed",
    "BK753": "a project without a pyproject.toml",
    "BK900": "a command line that cannot be parsed",
    "BK901": "a command or an option of another generation",
    "BK909": "a candidate whose files hold no patch",
    "BK946": "an argument that is no text",
    "BK947": "a standard output that takes nothing",
    "BK949": "an error inside Beaker",
}
"""What a handler may say itself, since it met it when it acted; everything else is judged in the core."""

CODE = re.compile(r"BK\d{3}")


@cache
def made_in(folder: str) -> tuple[tuple[str, str], ...]:
    """Each code with which a module below a folder of the package makes a problem, and the module."""
    return tuple(_made_in(folder))


def _made_in(folder: str) -> Iterator[tuple[str, str]]:
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if CODE.search(text) is None or path.parent.name == "error_catalogue":
            continue
        tree = ast.parse(text)
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                code = first.value if isinstance(first, ast.Constant) else constants.get(getattr(first, "id", ""))
                if node.func.id.endswith("Problem") and isinstance(code, str) and CODE.fullmatch(code):
                    yield code, path.relative_to(PACKAGE).as_posix()


def test_handlers__problems_of_their_own__are_what_they_met() -> None:
    """A rule that a handler decides would show here as a problem that it makes; what is listed is made somewhere."""
    made = dict(made_in("cli"))
    assert {code: module for code, module in made.items() if code not in MET_HERE} == {}
    assert set(MET_HERE) - set(made) == set()


def test_handlers__problem_of_the_core__is_made_there_alone() -> None:
    """One rule, one place: a handler makes no problem that the core makes too, but of files that neither can read."""
    core = {code for code, _ in made_in("core")}
    shared = {code: module for code, module in made_in("cli") if code in core}
    assert set(shared) <= {"BK147", "BK160", "BK161", "BK409"}


def test_handlers__statuses_of_http__are_not_looked_at() -> None:
    """Statuses of HTTP mean something to the core alone."""
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert re.search(r"(?<![\w.])(40[01349]|422|429|50[0234])(?![\w.])", text) is None, path.name
