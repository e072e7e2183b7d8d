"""What an installation takes, and that the wheel is made of its sources alone."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path

import pytest

import beaker

ROOT = Path(__file__).parents[1]
MOST_DISTRIBUTIONS, MOST_BYTES = 12, 15_000_000


def installed_with(name: str) -> dict[str, Distribution]:
    """A distribution and everything that it needs on this interpreter, extras left out."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        key = re.sub(r"[-_.]+", "-", one).lower()
        if key in found:
            continue
        found[key] = distribution(one)
        for requirement in found[key].requires or ():
            wanted, _, marker = requirement.partition(";")
            if needed_here(marker):
                waiting += re.findall(r"\A[A-Za-z0-9._-]+", wanted.strip())
    return found


def needed_here(marker: str) -> bool:
    """Whether a requirement with this marker holds: they compare the version of Python, or name an extra."""
    if "extra" in marker:
        return False
    compared = re.fullmatch(r"""\s*python_(?:full_)?version (<|>=) ["'](\d+)\.(\d+)(?:\.\d+)?["']\s*""", marker)
    assert compared or not marker.strip(), marker
    if compared is None:
        return True
    than = (int(compared[2]), int(compared[3]))
    return sys.version_info[:2] < than if compared[1] == "<" else sys.version_info[:2] >= than


def size(name: str, one: Distribution) -> int:
    """Bytes of the files, without what the interpreter compiles from them."""
    if name == "beaker-sdk":
        package = Path(beaker.__file__).parent
        return sum(path.stat().st_size for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    paths = (Path(str(path.locate())) for path in one.files or () if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file())


def test_version__stands_in_two_places__that_agree() -> None:
    """What is built, and what it says of itself, is one version; the guides are held to it too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == beaker.__version__


def test_base_installation__is_small() -> None:
    """Without extras Beaker is at most 12 distributions and 15 MB, itself included."""
    found = installed_with("beaker-sdk")
    assert len(found) <= MOST_DISTRIBUTIONS, sorted(found)
    assert sum(size(name, one) for name, one in found.items()) <= MOST_BYTES


def test_completion_scripts__are_made__without_any_dependency() -> None:
    """A wheel is built where nothing is installed yet, and makes them from the parsers."""
    make = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom beaker.cli.completion import completion_script\n"
    command = [sys.executable, "-I", "-S", "-c", f"{make}print(completion_script('zsh'))"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "skills" in done.stdout


@pytest.mark.e2e
@pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling")
def test_wheel__built_twice__is_the_same_to_the_bit(tmp_path: Path) -> None:
    """Neither the folder nor times, umask, locale or an older build get into the wheel, and all of the package does."""
    wheels = []
    for number, umask in enumerate(["022", "077"]):
        copy = tmp_path / f"place-{number}"
        copy.mkdir()
        for name in ("README.md", "LICENSE", "pyproject.toml", "hatch_build.py"):
            shutil.copyfile(ROOT / name, copy / name)
        for name in ("beaker", "docs/schemas"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in copy.rglob("*"):
            os.utime(path, (1e9 + number, 1e9 + number))
        build = f"umask {umask} && exec {sys.executable} -m hatchling build -t wheel -d out"
        environ = {**os.environ, "LC_ALL": "C", "PYTHONHASHSEED": str(number), "PYTHONDONTWRITEBYTECODE": "1"}
        environ.pop("SOURCE_DATE_EPOCH", None)
        subprocess.run(["sh", "-c", build], cwd=copy, env=environ, check=True, capture_output=True, timeout=120)
        (wheel,) = (copy / "out").iterdir()
        wheels.append(wheel)
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    names = set(zipfile.ZipFile(wheels[0]).namelist())
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "beaker").rglob("*") if path.is_file()}
    assert {name for name in kept if "__pycache__" not in name} <= names
    assert {f"beaker/completions/beaker.{shell}" for shell in ("bash", "zsh", "fish")} <= names
    assert not any(name.startswith(("tests/", "docs/")) for name in names)
