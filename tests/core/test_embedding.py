"""The embedding page: every example says what the code does, in an environment that has the core alone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "embedding.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")

# In a process of its own, since other tests have loaded more than the page may use. What the page must do without is
# made impossible to import; a module set to None is one that cannot be found.
ALONE = """
import doctest, sys

for name in ("yaml", "httpx", "pydantic", "starlette", "asyncio", "socket", "subprocess", "sqlite3"):
    sys.modules[name] = None
page = sys.stdin.read()
examples = doctest.DocTestParser().get_doctest(page, {}, "embedding", "docs/embedding.md", 0)
ran = doctest.DocTestRunner(verbose=False).run(examples)
# `beaker.sdk` is the front that `import beaker` looks names up in; it loads nothing until asked.
own = [name for name in sys.modules if name.startswith("beaker.") and name != "beaker.sdk"]
strange = [name for name in own if not name.startswith("beaker.core")]
sys.stdout.write(f"{ran.attempted} attempted, {ran.failed} failed, {strange}")
"""


def examples() -> str:
    """The page with everything but its examples blanked, so that a failure has the page's line."""
    inside, lines = False, []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```pycon"
            line = ""
        lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


def test_examples__on_the_core_alone__give_what_the_page_says() -> None:
    """Each example gives the output below it, and loads nothing of Beaker but the core."""
    text = examples()
    wanted = len(re.findall(r"^>>> ", text, flags=re.MULTILINE))
    done = subprocess.run(
        [sys.executable, "-c", ALONE], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.endswith(f"{wanted} attempted, 0 failed, []"), done.stdout + done.stderr
    assert wanted > 50


@pytest.mark.parametrize(
    "subject",
    [
        "select", "choose_agent_key", "choose_base_url", "choose_credential", "validate_splits", "compare_targets",
        "derive", "plan", "apply", "invert", "change_set_to_json", "change_set_from_json", "manifest_digest",
        "check_readiness", "parse_launch_settings",
    ],
)  # fmt: skip
def test_examples__every_validator__is_shown(subject: str) -> None:
    """What people embed Beaker for is called in an example."""
    assert re.search(rf"\b{subject}\(", examples())
