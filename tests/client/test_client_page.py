"""The examples of docs/client.md are executed, against the hosted service."""

import re
from pathlib import Path
from typing import Any

import pytest

from beaker.client.conveniences import Conveniences

PAGE = Path(__file__).parents[2] / "docs" / "client.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
PRINTED = [
    r"run_42\n",
    r"COMPLETED\n\('candidates\.json', 'eval_reports\.json', 'run\.json'\)\nrun_41 2026-01-02 04:04:05\+00:00\n",
    r"",
    r"Run\(id='run_41', .*\) 1\ninvoices@sha256:\w+\n",
    r"404 Dataset not found\n",
]


def test_page__examples__are_all_known() -> None:
    """One thing that is printed for each."""
    assert len(EXAMPLES) == len(PRINTED)


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_page__example__does_what_it_says(
    number: int, hosted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the address and the key of a service that is there."""
    monkeypatch.chdir(tmp_path)
    code = EXAMPLES[number].replace("https://api.withbeaker.ai", hosted.url).replace("bkr_live_...", hosted.api_key)
    exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})
    assert re.fullmatch(PRINTED[number], capsys.readouterr().out)


def test_page__every_convenience__is_told() -> None:
    """What goes beyond single calls stands on the page."""
    page = PAGE.read_text(encoding="utf-8")
    methods = vars(Conveniences)
    assert [name for name in methods if not name.startswith("_") and f"`{name}" not in page] == []
