"""What an Integration's module imports, and from where: the import root, what lies beside it, what is installed."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from returns.result import Success

from beaker.runtime import interpreter_probe
from beaker.runtime.code_root import CodeRoot, import_root
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import SetupWorker, WorkerFailed

pytestmark = pytest.mark.processes

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("metadata", "module", "hint"),
    [
        ("", "sklearn", f"{sys.executable} -m pip install scikit-learn; without an index: {sys.executable} -m pip "),
        ("[tool.uv]\n", "not_there.deep", "uv add not-there; without an index: uv pip install --python "),
        (
            "[tool.poetry.dependencies]\nnot_there = '1'\n",
            "not_there",
            f"and {sys.executable} lacks it: poetry install;",
        ),
    ],
    ids=["pip", "uv", "poetry"],
)
def test_import__module_that_is_not_installed__says_the_command(
    project: Any, hosted: Run, metadata: str, module: str, hint: str
) -> None:
    """The tool that makes the project's environment installs what it lacks; what the metadata asks for is only synced.
    A file beside the Integration that is called like a module of Beaker's does not get in the way of saying so."""
    (project.root / "pyproject.toml").write_text(metadata)
    (project.root / "configparser.py").write_text("raise RuntimeError('not this one')")
    project.hooks(f"import {module}")
    with pytest.raises(WorkerFailed) as failed:
        hosted(project.setup)
    problem = failed.value.problems[0]
    assert (problem.code, hint in problem.hint) == ("BK302", True), problem.hint
    assert "is it committed? the import root is the repository's root (source_dir: .)" in problem.hint


TREE = {
    "app.py": "root", "inner/app.py": "inner", "inner/deep/app.py": "deep", "src/app.py": "src",
    "pkg/__init__.py": "", "pkg/part/__init__.py": "", "pkg/part/app.py": "nested", "space/app.py": "namespace",
}  # fmt: skip
"""Modules of one repository, each of which says which it is."""

ROOTS: list[tuple[str, str | None, str]] = [
    (".", None, "."),
    ("", None, "."),
    ("inner", None, "inner"),
    ("inner", "deep", "inner/deep"),
    ("inner", ".", "inner"),
    (".", "inner/deep", "inner/deep"),
    (".", "src", "src"),
    ("inner/../src", None, "src"),
    ("link", None, "inner"),
    (".", "link/deep", "inner/deep"),
    ("..", None, "BK300"),
    ("inner", "..", "BK300"),
    ("inner", "../src", "BK300"),
    ("out", None, "BK300"),
    (".", "out", "BK300"),
    ("nowhere", None, "BK301"),
    ("app.py", None, "BK301"),
    ("inner", "nowhere", "BK301"),
]
"""`source_dir`, `package_import_root`, and the folder that is put on the path, or the code of the refusal."""

MODULES: list[tuple[str, str | None, str, str]] = [
    (".", None, "app", "root"),
    ("inner", "deep", "app", "deep"),
    (".", None, "pkg.part.app", "nested"),
    ("pkg", None, "part.app", "nested"),
    (".", None, "space.app", "namespace"),
    (".", None, "beaker.app", "BK303"),
    (".", None, "deep.app", "BK302"),
    ("inner", None, "inner.app", "BK302"),
    (".", None, "inner/app.py", "BK302"),
]
"""The same with the entry point's module, and the one that is meant, or the code of the refusal: neither the
repository's root nor `src` is added for anybody."""


@pytest.fixture
def tree(project: Any, tmp_path: Path) -> Any:
    """The repository of `TREE`, with a link inside and one that leads out."""
    project.hooks()
    text = (project.root / "app.py").read_text()
    for name, said in TREE.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\nprint('this is {said}')\n" if name.endswith("app.py") else "")
    (project.root / "link").symlink_to("inner")
    (project.root / "out").symlink_to(tmp_path)
    return project


@pytest.mark.parametrize(("source", "package", "expected"), ROOTS)
def test_import_root__every_combination__is_as_documented(
    tree: Any, source: str, package: str | None, expected: str
) -> None:
    """`package_import_root` counts from `source_dir` and that from the repository, links followed, and stays inside."""
    match import_root(CodeRoot(tree.root, "app:integration", source, package)):
        case Success(folder):
            assert folder == Path(os.path.realpath(tree.root / expected))
        case refused:
            assert refused.failure().code == expected


def test_import__module_of_every_shape__is_found_from_the_import_root_alone(tree: Any, hosted: Run) -> None:
    """Packages, packages in packages and namespaces work; what only another folder would give is not found."""

    async def tried(supervisor: Supervisor, source: str, package: str | None, module: str) -> str:
        code = CodeRoot(tree.root, f"{module}:integration", source, package)
        try:
            worker = await SetupWorker.start(supervisor, code, env=tree.env, timeouts=tree.timeouts)
        except WorkerFailed as failed:
            return failed.problems[0].code
        said = worker.output().removeprefix("this is ").strip()
        await worker.close()
        return said

    async def all_of_them(supervisor: Supervisor) -> list[str]:
        return await asyncio.gather(*(tried(supervisor, *row[:3]) for row in MODULES))

    assert hosted(all_of_them) == [expected for *_, expected in MODULES]


HELPERS = {
    "json.py": "import json as theirs\nNAME = 'json'\ndumps = theirs.dumps\n",
    "yaml/__init__.py": "from . import part\nfrom yaml.part import NAME as again\n",
    "yaml/part.py": "NAME = 'yaml.part'\n",
    "statistics.py": "NAME = 'statistics'\n",
    "attrs.py": "from dataclasses import dataclass\nNAME = 'attrs'\n@dataclass\nclass Row:\n    x: 'int' = 1\n",
    "helper.py": "import statistics\nNAME = statistics.NAME\n",
    "os.py": "NAME = 'os'\n",
    "plain.py": "NAME = 'plain'\n",
}
"""Modules beside the Integration: most are called like one of the standard library or of Beaker's dependencies."""

USES = """
import attrs, helper, json, os, plain, statistics, sys, yaml, yaml.part
from json import NAME
import yaml.part as part
from typing import get_type_hints
print(NAME, yaml.again, part.NAME, yaml.part is part, statistics.NAME, attrs.NAME, helper.NAME, plain.NAME)
print(hasattr(os, "NAME"), json.dumps([1]), get_type_hints(attrs.Row), sys.modules["plain"].NAME)

async def run_case(*, case_input, runtime):
    import json as again
    import random  # which imports `statistics` in some versions
    import fractions
    return CaseResult([again.NAME, sys.modules["json"].loads("2"), hasattr(sys.modules["statistics"], "mean")])
"""


def test_import__helpers_with_taken_names__are_kept_apart_from_the_others(project: Any, hosted: Run) -> None:
    """The project's modules get the project's, also later and from each other; what everybody else reads and writes
    with stays. What the interpreter has before any project can be hidden by nobody, as in any process."""
    for name, text in HELPERS.items():
        (project.root / name).parent.mkdir(exist_ok=True)
        (project.root / name).write_text(text)
    project.hooks(USES)

    async def work(supervisor: Supervisor) -> Any:
        setup = await project.setup(supervisor)
        said = setup.output()
        counts = await setup.check_rows(project.dataset)
        await setup.close()
        rollout = await project.rollout(supervisor)
        await rollout.open()
        result = await rollout.run("c", 1, attempt=1, case_files_dir=project.case_files)
        await rollout.close()
        return said, counts, result.error, result.output

    said, counts, error, output = hosted(work)
    assert said.splitlines() == [
        "json yaml.part yaml.part True statistics attrs statistics plain",
        "False [1] {'x': <class 'int'>} plain",
    ]
    assert (counts, error, output) == ({"train": 3, "test": 2}, None, ["json", 2, True])


@pytest.mark.parametrize("name", ["statistics", "json"])
def test_import__integration_with_a_taken_name__leaves_the_other_to_everybody_else(
    project: Any, hosted: Run, name: str
) -> None:
    """The module of the entry point takes the name's place; a module of the standard library that asks for it later
    gets its own."""
    project.hooks(f"from asker import asked\nimport {name}\nprint(asked(), hasattr({name}, 'run_case'))\n")
    (project.root / "app.py").rename(project.root / f"{name}.py")
    project.code = CodeRoot(project.root, f"{name}:integration")
    packages = project.root.parent / "packages"
    packages.mkdir()
    asking = f"def asked():\n    import {name}\n    return hasattr({name}, 'mean') or hasattr({name}, 'loads')\n"
    (packages / "asker.py").write_text(asking)
    project.env["PYTHONPATH"] = str(packages)

    async def said(supervisor: Supervisor) -> str:
        setup = await project.setup(supervisor)
        printed = str(setup.output())
        await setup.close()
        return printed

    assert hosted(said) == "True True\n"


@pytest.mark.parametrize(("entry", "release"), [("", "None"), ("here", "'1.2.3'")])
def test_probe__beaker_in_the_working_directory__counts_when_it_is_on_the_path(
    tmp_path: Path, entry: str, release: str
) -> None:
    """A package beside says nothing of the interpreter, unless that was told to look there: Beaker's own checkout."""
    package = tmp_path / "beaker"
    (package / "runtime").mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '1.2.3'\n")
    (package / "runtime" / "interpreter_probe.py").touch()
    start = "import sys\nsys.path[:] = [p for p in sys.path if not p or 'python3' in p and 'site-packages' not in p]\n"
    added = f"sys.path.append({str(tmp_path)!r})\n" if entry else ""
    text = Path(interpreter_probe.__file__).read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-S", "-c", start + added + text, "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert repr(json.loads(done.stdout)["release"]) == release
