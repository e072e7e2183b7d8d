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


needs_hatchling = pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling")


def built_wheel(place: Path, *, number: int = 0, umask: str = "022") -> Path:
    """A wheel of the sources of this checkout, built in a folder that is made for it."""
    place.mkdir()
    (place / "docs").mkdir()
    for name in ("README.md", "LICENSE", "pyproject.toml", "docs/completion_files.py"):
        shutil.copyfile(ROOT / name, place / name)
    for name in ("beaker", "docs/schemas"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in place.rglob("*"):
        os.utime(path, (1e9 + number, 1e9 + number))
    build = f"umask {umask} && exec {sys.executable} -m hatchling build -t wheel -d out"
    environ = {**os.environ, "LC_ALL": "C", "PYTHONHASHSEED": str(number), "PYTHONDONTWRITEBYTECODE": "1"}
    environ.pop("SOURCE_DATE_EPOCH", None)
    subprocess.run(["sh", "-c", build], cwd=place, env=environ, check=True, capture_output=True, timeout=120)
    (wheel,) = (place / "out").iterdir()
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    return built_wheel(tmp_path_factory.mktemp("built") / "place")


@pytest.mark.e2e
@needs_hatchling
def test_wheel__built_twice__is_the_same_to_the_bit(wheel: Path, tmp_path: Path) -> None:
    """Neither the folder nor times, umask, locale or an older build get into the wheel, and all of the package does."""
    assert built_wheel(tmp_path / "elsewhere", number=1, umask="077").read_bytes() == wheel.read_bytes()
    names = set(zipfile.ZipFile(wheel).namelist())
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "beaker").rglob("*") if path.is_file()}
    assert {name for name in kept if "__pycache__" not in name} <= names
    assert {f"beaker/completions/beaker.{shell}" for shell in ("bash", "zsh", "fish")} <= names
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def repacked(one: Distribution, house: Path) -> None:
    """What is installed of a distribution as the wheel that it came from, but for its scripts."""
    tags = re.findall(r"^Tag: (\S+)", one.read_text("WHEEL") or "", re.MULTILINE)
    name = re.sub(r"[-_.]+", "_", one.metadata["Name"]).lower()
    info = next(path.parts[0] for path in one.files or () if path.parts[0].endswith(".dist-info"))
    left_out = {
        f"{info}/{file}" for file in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "entry_points.txt")
    }
    with zipfile.ZipFile(house / f"{name}-{one.version}-{tags[0]}.whl", "w") as made:
        record = ""
        for path in one.files or ():
            if path.parts[0] != ".." and path.suffix != ".pyc" and str(path) not in left_out:
                made.write(str(path.locate()), str(path))
                record += f"{path},,\n"
        made.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")


@pytest.mark.e2e
@needs_hatchling
@pytest.mark.skipif(find_spec("pip") is None, reason="needs pip")
def test_page__commands_of_a_wheelhouse__install_offline_and_refuse_what_was_changed(
    wheel: Path, tmp_path: Path
) -> None:
    """The page's own lines write the hashes and install with them, without an index; another file is not taken."""
    house = tmp_path / "wheelhouse"
    house.mkdir()
    shutil.copy(wheel, house)
    for name, one in installed_with("beaker-sdk").items():
        if name != "beaker-sdk":
            repacked(one, house)
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    loop = re.search(r"^for wheel in .*?^done.*?$", page, re.DOTALL | re.MULTILINE)
    line = re.search(r"^\.venv/bin/pip (install --no-index .*)$", page, re.MULTILINE)
    assert loop is not None
    assert line is not None
    environ = {
        **os.environ,
        "PIP_CONFIG_FILE": os.devnull,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    environ = {name: text for name, text in environ.items() if not name.startswith("PIP_") or name == "PIP_CONFIG_FILE"}

    def shell(script: str) -> "subprocess.CompletedProcess[str]":
        command = ["sh", "-ec", script]
        return subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=False
        )

    assert shell(loop[0]).returncode == 0
    assert len((tmp_path / "requirements.txt").read_text().splitlines()) == len(list(house.iterdir()))
    install = f"{sys.executable} -m pip {line[1]} --no-compile --target"
    done = shell(f"{install} there")
    assert done.returncode == 0, done.stderr
    asked = shell(
        f"cd there && {sys.executable} -S -c 'import beaker, attrs, cattrs, httpx, yaml; print(beaker.__file__)'"
    )
    assert asked.stdout.strip() == str(tmp_path / "there" / "beaker" / "__init__.py"), asked.stderr
    changed = next(house.glob("attrs-*"))
    changed.write_bytes(changed.read_bytes() + b"x")
    refused = shell(f"{install} elsewhere")
    assert refused.returncode != 0
    assert "HASH" in refused.stderr.upper()
    assert not (tmp_path / "elsewhere").exists()
