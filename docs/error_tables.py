"""Writes `errors.md` from the catalogue of codes. Run `python docs/error_tables.py` after it has changed; a test fails
until it was done."""

from itertools import groupby
from pathlib import Path

from beaker.cli.exit_codes import EXIT_CODES
from beaker.core.error_catalogue import explanations

PAGE = Path(__file__).with_name("errors.md")

INTRODUCTION = """\
# Errors and exit codes

When a command cannot go on, it says what is wrong, where, why, and what to do next, on standard error:

```text
error: BK112 .beaker/beaker.yaml: which integration is meant is open; there are a, b
hint: pass --integration-id, or set default_integration
```

The code is stable: it keeps its meaning for good, so scripts and searches can rely on it. `beaker explain BK112` shows
what stands here. With `--json` the same comes as [one line of JSON](schemas/cli-error.json), still on standard error:
`error` has the first problem's `code`, `message`, `where` and `hint`, and `problems`, all of them. Warnings have codes
too and stop nothing.

## Exit codes

Every command ends with one of these; `beaker help exit-codes` lists them.

"""


def written() -> str:
    """The page as it is published."""
    lines = ["| exit code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    for subject, found in groupby(explanations(), lambda one: one.subject):
        codes = list(found)
        lines += ["", f"## {codes[0].code[:3]}xx: {subject}", "", "| code | why | what to do |", "|---|---|---|"]
        lines += [f"| {one.code} | {_cell(one.reason)} | {_cell(one.remedy)} |" for one in codes]
    return INTRODUCTION + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text in a cell of a table: words in angle brackets are no HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
