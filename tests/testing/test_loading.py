"""Finding the Integration that a test means."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import beaker
from beaker.core.problems import Refused
from beaker.testing import load_integration
from beaker.testing.configured import chosen_entry, configured
from beaker.testing.loading import load_entry

Write = Callable[..., Path]

CONFIG = """
integrations:
  app:
    entrypoint: pkg.app:integration
    source_dir: code
    package_import_root: lib
"""


def test_load__path__finds_the_one_integration(write: Write) -> None:
    """A file is enough where its module holds one Integration under a public name."""
    assert load_integration(write("_private = 1")) is load_integration(write(), root="/")


def test_load__relative_path__counts_from_root(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `root` a path counts from the working directory."""
    write()
    monkeypatch.chdir(tmp_path)
    assert load_integration("app.py") is load_integration("app.py:integration", root=tmp_path)


def test_load__several_integrations__asks_which(write: Write) -> None:
    """What is open is not guessed."""
    path = write()
    with path.open("a", encoding="utf-8") as file:
        file.write("other = Integration(targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case)\n")
    with pytest.raises(ValueError, match=re.escape("integration, other; name one as app.py:NAME")):
        load_integration(path)
    assert load_integration(f"{path}:other") == load_integration(f"{path}:integration")


def test_load__no_integration__says_so(tmp_path: Path) -> None:
    """A module without one is refused, as is a file that is not there and a name that is no module's."""
    (tmp_path / "app.py").write_text("")
    with pytest.raises(ValueError, match="it holds none"):
        load_integration(tmp_path / "app.py")
    with pytest.raises(FileNotFoundError, match=r"other\.py"):
        load_integration(tmp_path / "other.py")
    (tmp_path / "my-app.py").write_text("")
    with pytest.raises(ValueError, match="Python identifiers"):
        load_integration(tmp_path / "my-app.py")


@pytest.mark.parametrize("file", ["src/pkg/app.py", ".beaker/pkg/app.py", "pkg/app.py"])
def test_load__folders_of_a_project__are_import_roots(write: Write, tmp_path: Path, file: str) -> None:
    """A module is imported under its full name, from the folder that a run would take."""
    (tmp_path / "pyproject.toml").write_text("")
    by_path = load_integration(write("", file))
    assert sys.modules["pkg.app"].integration is by_path
    assert load_integration("pkg.app:integration", root=tmp_path) is by_path


def test_load__configured_entry__says_the_import_root(write: Write, tmp_path: Path) -> None:
    """`source_dir` and `package_import_root` count, for paths and for entry points, from anywhere in the project."""
    path = write("", "code/lib/pkg/app.py")
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(CONFIG)
    assert load_integration(path) is load_integration("pkg.app:integration", root=tmp_path / "code")
    assert sys.path[0] == str(tmp_path / "code" / "lib")


def test_load__module_of_another_file__is_refused(write: Write, tmp_path: Path) -> None:
    """Testing the wrong file would go unseen: a module of that name that is imported already is an error."""
    load_integration(write("", "one/app.py"))
    with pytest.raises(
        ImportError, match=r"app should come from .*two.app\.py; this process has it from .*one.app\.py"
    ):
        load_integration(write("", "two/app.py"))


def test_load__fault_of_the_module__is_raised_as_it_is(write: Write, tmp_path: Path) -> None:
    """What importing raises stays what it is, and a faulty declaration names all its faults."""
    with pytest.raises(ZeroDivisionError):
        load_integration(write("1 / 0"))
    with pytest.raises(TypeError, match="run_case must be an `async def` function"):
        load_integration(write("def run_case(*, case_input, runtime): ...", "sync.py"))
    with pytest.raises(ValueError, match="entry point"):
        load_integration("no entry point", root=tmp_path)
    with pytest.raises(ModuleNotFoundError):
        load_integration("not_there:integration", root=tmp_path)


def test_load__installed_module__needs_no_project(write: Write, tmp_path: Path) -> None:
    """An entry point on `sys.path` is found as `beaker.load_integration` finds it."""
    write()
    sys.path.insert(0, str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    found = load_integration("app:integration", root=tmp_path / "elsewhere")
    assert found is beaker.load_integration("app:integration")


SPEC = """
from beaker import Case, CaseResult, CaseScore, DatasetSchema, Spec, spec

class Parts:
    dataset_schema = DatasetSchema({})
    def parse_row(self, raw, context): ...
    def iter_cases(self, row, context): ...
    def score_case(self, *, case, result): ...

def run_case(*, case, targets, runtime): ...

@spec()
def build(context):
    return Spec(Parts(), run_case, Parts())
"""


@pytest.mark.filterwarnings("ignore:the Spec API is deprecated")
def test_load__spec__is_the_integration_made_of_it(tmp_path: Path) -> None:
    """A factory is found by its file, by its entry point, and by the id that the configuration gives it."""
    (tmp_path / "app.py").write_text(SPEC)
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(
        "specs:\n  one: {target: 'app:build'}\n  two: {target: 'app:no'}\n"
    )
    project = configured(tmp_path)
    loaded = [
        load_integration(tmp_path / "app.py:build"),
        load_integration("app:build", root=tmp_path),
        load_entry(project, chosen_entry(project, "one")),
    ]
    assert [made.targets for made in loaded] == [(beaker.repository(),)] * 3
    with pytest.raises(AttributeError, match="has no attribute 'no'"):
        load_entry(project, chosen_entry(project, "two"))
    with pytest.raises(Refused, match="no integration is named 'three'"):
        chosen_entry(project, "three")
    with pytest.raises(Refused, match="which Spec is meant is open"):
        chosen_entry(project, None)
