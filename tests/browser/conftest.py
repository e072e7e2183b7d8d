"""A real browser without a screen, and pages to look at: of a run of the demo, and of a large and hostile one."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOSTILE = "</style><script>document.title='taken'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>\u202e\x1b[2J"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def missing(what: str) -> Any:
    """Without a browser nothing can be seen: in the environment for it that is a failure, elsewhere it is no matter."""
    said = f"{what}; tox -e browser brings playwright, the system the browser (Debian: apt-get install chromium)"
    return pytest.fail(said) if os.environ.get("BEAKER_BROWSER_REQUIRED") else pytest.skip(said)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium: the one that BEAKER_CHROMIUM names, else the system's."""
    program = os.environ.get("BEAKER_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("there is no Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


class Seen:
    """A page as the browser shows it, with everything it asked for and said meanwhile."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: self.said.append(str(error)))


@pytest.fixture
def look(browser: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Seen]]:
    """`look(file, width=, scheme=, scripts=)` opens a page; BEAKER_SCREENSHOTS names a folder for pictures of it."""
    contexts = []

    def opened(file: Path, *, width: int = 1280, scheme: str = "light", scripts: bool = True) -> Seen:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        contexts.append(context)
        seen = Seen(context.new_page())
        seen.page.goto(file.as_uri())
        if folder := os.environ.get("BEAKER_SCREENSHOTS"):
            picture = Path(folder) / f"{file.stem}-{width}-{scheme}.png"
            seen.page.screenshot(path=picture, full_page=True)
        return seen

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a demo's run, of its download, of an evaluation, and of a large run whose every text is hostile."""
    folder = tmp_path_factory.mktemp("pages")
    environ = {name: text for name, text in os.environ.items() if not name.startswith("BEAKER_")}

    def beaker(*argv: str, cwd: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "beaker.cli", *argv],
            cwd=cwd,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run_id = json.loads(beaker("demo", "--dir", "demo", "--json", cwd=folder))["run_id"]
    project = folder / "demo"
    beaker("--local", "run", "report", run_id, "--html", "../run.html", cwd=project)
    beaker("run", "eval", "--html", "../evaluation.html", cwd=project)
    from beaker.core.report import RunReport, evaluation_page, report_page

    large, evaluation = large_run(), large_evaluation()
    (folder / "large.html").write_text(report_page(RunReport(**large)), encoding="utf-8")
    (folder / "large-evaluation.html").write_text(evaluation_page(evaluation), encoding="utf-8")
    return {
        "run": folder / "run.html",
        "download": project / "results" / run_id / "report.html",
        "evaluation": folder / "evaluation.html",
        "large": folder / "large.html",
        "large-evaluation": folder / "large-evaluation.html",
    }


def large_case(drawn: random.Random, number: int, level: float) -> dict[str, Any]:
    failed = drawn.random() < 0.05
    fields = {
        name: float(drawn.random() < level) for name in ("answer", "a field with a name nobody thought about", HOSTILE)
    }
    check = {
        "name": HOSTILE,
        "verdict": drawn.random(),
        "message": "long " * 90,
        "group": "g" * 90,
        "informational": False,
    }
    return {
        "id": f"case-{number}" if number % 7 else f"{'x' * 120}{number}{HOSTILE}",
        "objective": None if failed else sum(fields.values()) / 3,
        "field_scores": {} if failed else fields,
        "checks": [] if failed else [check],
        "error": {"kind": "raised", "message": HOSTILE + "y" * 900, "traceback": ""} if failed else None,
        "duration_ms": drawn.expovariate(1 / 900),
        "attempts": 1,
    }


def large_report(drawn: random.Random, candidate: int, split: str, cases: int) -> dict[str, Any]:
    level = 0.5 + candidate / 1000
    return {
        "candidate_id": f"run_l.{candidate}", "split": split, "set": "test", "objective": level, "cases_total": cases,
        "objective_scored": level, "scored": cases, "failed": 9,
        "field_scores": {name: {"mean": drawn.random(), "n": cases} for name in ("answer", "w" * 200, HOSTILE)},
        "usage": {"input_tokens": 123_456_789, "output_tokens": 1, "cost_usd": 0.00123},
        "latency_ms": {"p50": 900.0, "p95": 7_300_000.0},
        "cases": [large_case(drawn, number, level) for number in range(cases)],
    }  # fmt: skip


def large_run() -> dict[str, Any]:
    """300 candidates, 500 cases, and no text that is not hostile or too long."""
    drawn = random.Random(7)
    listed, accepted = [], [0]
    for n in range(300):
        status = "baseline" if n == 0 else "accepted" if drawn.random() < 0.4 else "rejected"
        level = min(0.98, 0.3 + n / 500 + drawn.random() / 20)
        changed = [HOSTILE, *(f"prompts/{'deep-' * 20}{number}.md" for number in range(n % 9))]
        listed.append({
            "id": f"run_l.{n}", "parent_id": None if n == 0 else f"run_l.{drawn.choice(accepted[-6:])}",
            "status": status, "reason": HOSTILE, "rollouts": 100 + 37 * n,
            "summary": {"created": [], "updated": changed, "deleted": []},
            "scores": {"train": None if status == "rejected" else {"objective": level}, "test": None},
        })  # fmt: skip
        if status == "accepted":
            accepted.append(n)
    winner = f"run_l.{accepted[-1]}"
    test = {"baseline": 0.5, "winner": 0.6, "difference": 0.1, "low": -0.05, "high": 0.25, "n": 500,
            "failed_baseline": 9,
            "failed_winner": 8, "method": HOSTILE}  # fmt: skip
    run = {
        "id": f"run_l{HOSTILE}", "status": HOSTILE, "finish_reason": HOSTILE, "error_message": HOSTILE + "z" * 500,
        "github_source": {"repository": "o/r", "commit": "c" * 40, "integration_id": "i" * 150 + HOSTILE},
        "dataset": {"name": HOSTILE, "revision": "sha256:" + "d" * 64}, "settings": {"command": ["v" * 300, HOSTILE]},
        "warnings": [{"where": HOSTILE, "message": "q" * 300}], "selection": {"cases": 60},
        "progress": {
            "rollouts": {"issued": 12_345, "limit": 99_999_999, "failed": 3}, "tokens": 10**12, "spend_usd": 1e6,
        },
        "result": {"baseline_id": "run_l.0", "winner_id": winner, "test": test},
    }  # fmt: skip
    proposals = [{"n": n, "parent_id": "run_l.0", "outcome": HOSTILE, "message": "m" * 700} for n in range(250)]
    reports = [
        large_report(drawn, candidate, split, cases)
        for candidate in (0, accepted[-1])
        for split, cases in (("train", 60), ("test", 500))
    ]
    return {
        "run": run,
        "candidates": {"candidates": listed, "winner_id": winner, "proposals": proposals},
        "reports": {"eval_reports": reports},
        "before": {"g": {"a.md": "line\n" * 700, HOSTILE: "x" * 5_000}},
        "after": {"g": {"a.md": "other\n" * 700, HOSTILE: HOSTILE}, "n" * 90: {"new" * 40: HOSTILE}},
        "patch": f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{HOSTILE}\n+{'p' * 4000}\n",
    }


def large_evaluation() -> dict[str, Any]:
    """An evaluation with everything in it that can be too long."""
    group = {"kind": HOSTILE, "message": "m" * 400, "count": 300, "case_ids": ["i" * 100] * 20}
    check = {"name": "n" * 100, "group": HOSTILE, "informational": True, "mean": 0.5, "n": 500, "failed": 250}
    return {
        "integration_id": HOSTILE, "candidate_id": "run_l.3", "split": "test", "commit": "c" * 40, "split_cases": 900,
        "dataset": {"path": "/data/" + "d" * 200}, "retried": 4,
        "report": large_report(random.Random(3), 3, "test", 500),
        "interval": {"value": 0.5, "low": 0.45, "high": 0.55, "method": HOSTILE}, "checks": [check] * 3,
        "failures": [group] * 3, "slowest": [{"id": "s" * 200, "duration_ms": 7_300_000.0}],
    }  # fmt: skip
