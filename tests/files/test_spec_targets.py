"""Finding the factory of a Spec by `module:callable` or by its file."""

from pathlib import Path

import pytest
from returns.pipeline import is_successful

from beaker.files.spec_targets import SpecTarget, factories_of, locate_spec

FACTORY = "from beaker import spec\n\n@spec()\ndef build(context): ...\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source folder with modules beside and below `src`."""
    for path, text in {
        "one.py": FACTORY,
        "src/desk/__init__.py": FACTORY,
        "src/desk/none.py": "x = 1\n",
        "src/desk/two.py": FACTORY + FACTORY.replace("build", "other"),
        "bad-name.py": FACTORY,
        "broken.py": "def (",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "latin.py").write_bytes(b"# \xe9\n")
    (tmp_path / "class.py").write_text(FACTORY)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "root", "expected"),
    [
        ("one.py", None, SpecTarget("one:build", None)),
        (" ./one.py ", None, SpecTarget("one:build", None)),
        ("src/desk/__init__.py", None, SpecTarget("desk:build", "src")),
        ("src/desk/__init__.py", ".", SpecTarget("src.desk:build", ".")),
        ("desk.two:Specs.build", None, SpecTarget("desk.two:Specs.build", None)),
        ("desk:build", "src", SpecTarget("desk:build", "src")),
        ("nothing.py", None, "BK124"),
        ("../one.py", None, "BK124"),
        ("one.py", "src", "BK124"),
        ("bad-name.py", None, "BK124"),
        ("class.py", None, "BK124"),
        ("one", None, "BK124"),
        ("one.py:build", None, "BK124"),
        ("src/desk/none.py", None, "BK128"),
        ("src/desk/two.py", None, "BK128"),
        ("broken.py", None, "BK160"),
        ("latin.py", None, "BK160"),
    ],
)
def test_locate_spec__each_target__is_a_factory_or_a_reason(
    source: Path, target: str, root: str | None, expected: SpecTarget | str
) -> None:
    """Files count from the source folder, with `src` as their import root; one factory has to be meant."""
    (source.parent / "one.py").unlink(missing_ok=True)
    found = locate_spec(target, source, root)
    assert (found.failure().code if not is_successful(found) else found.unwrap()) == expected


def test_factories_of__file_that_cannot_be_read__is_told(tmp_path: Path) -> None:
    """A folder is no module."""
    assert factories_of(tmp_path).failure().code == "BK701"
