"""Where modules of Integrations lie, and what a project's files say about it."""

from pathlib import Path

import pytest

from beaker.files.entrypoints import locate_file, locate_target
from beaker.files.pyproject import find_python_project, read_python_project
from beaker.files.undoable import undoable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = (
        "pyproject.toml", "main.py", "src/pkg/__init__.py", "src/pkg/mod.py", ".beaker/beaker_integration.py",
        "services/api/pyproject.toml", "services/api/src/api.py", "twice.py", "src/twice.py", "a-b/c.py",
    )  # fmt: skip
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "import_root", "module", "project"),
    [
        (".beaker/beaker_integration.py", ".beaker", "beaker_integration", "."),
        ("src/pkg/mod.py", "src", "pkg.mod", "."),
        ("src/pkg/__init__.py", "src", "pkg", "."),
        ("main.py", ".", "main", "."),
        ("new/deep.py", ".", "new.deep", "."),
        ("services/api/src/api.py", "services/api/src", "api", "services/api"),
        ("services/api/.beaker/x.py", "services/api/.beaker", "x", "services/api"),
    ],
)
def test_locate_file__is_imported_from_the_nearest_project(
    root: Path, path: str, import_root: str, module: str, project: str
) -> None:
    """From `.beaker` or `src` of the nearest project when it lies there, else from that project."""
    for spelled in (path, str(root / path)):
        found = locate_file(spelled, root).unwrap()
        assert (found.import_root, found.module, found.project) == (root / import_root, module, root / project)
        assert found.file == root / path


@pytest.mark.parametrize("path", ["../x.py", "/x.py", "a-b/c.py", "src/1x.py", "class.py", "src/import/x.py"])
def test_locate_file__outside_or_no_module__is_refused(root: Path, path: str) -> None:
    """What cannot be imported from inside the project is no target."""
    assert locate_file(path, root).failure().code == "BK124"


def test_locate_file__through_a_link_out__is_refused(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link cannot lead the module out of the project."""
    (root / "away").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    assert locate_file("away/x.py", root).failure().code == "BK124"


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("pkg.mod:it", "src/pkg/mod.py"),
        ("pkg:it", "src/pkg/__init__.py"),
        ("beaker_integration:it", ".beaker/beaker_integration.py"),
        ("main:it", "main.py"),
        ("main.py", "main.py"),
    ],
)
def test_locate_target__entrypoint_or_file__is_one_file(root: Path, target: str, file: str) -> None:
    """A dotted module is looked for below `.beaker`, `src` and the project."""
    found = locate_target(target, root).unwrap()
    assert found.file == root / file
    assert found.attribute == (target.partition(":")[2] or None)


@pytest.mark.parametrize("target", ["twice:it", "none:it", "word", "main.py:it", "a b:c", ""])
def test_locate_target__none_several_or_no_target__is_refused(root: Path, target: str) -> None:
    """Which file is meant must be certain."""
    assert locate_target(target, root).failure().code == "BK124"


@pytest.mark.parametrize(
    ("files", "name", "manager"),
    [
        ({"pyproject.toml": '[project]\nname = " My App "\n', "uv.lock": ""}, "My App", "uv"),
        ({"pyproject.toml": '[tool.poetry]\nname = "p"\n'}, "p", "poetry"),
        ({"pyproject.toml": '[project]\nname = "x"\n[tool.uv]\n'}, "x", "uv"),
        ({"pyproject.toml": '[project]\nname = "x"\n', "poetry.lock": ""}, "x", "poetry"),
        ({"pyproject.toml": "not toml ["}, "folder", "pip"),
        ({"pyproject.toml": "", "setup.cfg": "[options]\npython_requires = >=3.12\n"}, "folder", "pip"),
    ],
)
def test_project__files__say_name_and_manager(tmp_path: Path, files: dict[str, str], name: str, manager: str) -> None:
    """The name is the project's, Poetry's, or the folder's; what cannot be read says nothing."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for path, text in files.items():
        (folder / path).write_text(text)
    project = read_python_project(folder)
    assert (project.name, project.manager) == (name, manager)
    assert project.metadata.python_requires == (">=3.12" if "setup.cfg" in files else None)


def test_project__is_the_nearest_above(root: Path) -> None:
    """A folder below a project belongs to it; without any there is none."""
    assert find_python_project(root / "services/api/src").unwrap().root == root / "services/api"
    assert find_python_project(root / "src/pkg").unwrap().root == root
    (root / "pyproject.toml").unlink()
    assert find_python_project(root / "src", stop=root).failure().code == "BK122"


def test_undoable__block_that_raises__leaves_everything_as_it_was(tmp_path: Path) -> None:
    """Files that were there have their old content and mode, new ones and their folders are gone."""
    old = tmp_path / "old"
    old.write_bytes(b"old\r\n")
    old.chmod(0o640)
    files = {old: b"new", tmp_path / "a/b/new": b"x"}

    def failing() -> None:
        with undoable(files):
            assert (old.read_bytes(), (tmp_path / "a/b/new").read_bytes()) == (b"new", b"x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]
    assert (old.read_bytes(), old.stat().st_mode & 0o777) == (b"old\r\n", 0o640)
    with undoable(files):
        pass
    assert (tmp_path / "a/b/new").read_bytes() == b"x"


def test_undoable__file_that_cannot_be_written__undoes_the_others(tmp_path: Path) -> None:
    """A folder in the place of a file stops it before anything stays."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError), undoable({tmp_path / "new": b"x", tmp_path / "folder": b"y"}):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
