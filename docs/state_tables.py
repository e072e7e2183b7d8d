"""Draws the state machines of the core into `architecture.md`, from the tables that the code looks up.

Run `python docs/state_tables.py` after a table has changed; a test fails until it was done.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from beaker.core import github_access, login, runs, transfer
from beaker.core.search.state import PHASES, STAGES

PAGE = Path(__file__).with_name("architecture.md")
BEGIN, END = "<!-- state tables: begin -->", "<!-- state tables: end -->"

Table: TypeAlias = Mapping[Any, Any]
"""From each state to the states it may go to: by what happens (a mapping), or just these (a tuple)."""

MACHINES: tuple[tuple[str, str, Table], ...] = (
    ("A run", "`beaker.core.runs`; `started` comes again with every attempt of a resumed run.", runs.TRANSITIONS),
    ("The search", "`beaker.core.search`: the baseline on TRAIN, proposals, TEST.", PHASES),
    ("A proposal within the search", "`beaker.core.search`; several may be in flight at a time.", STAGES),
    ("A login", "`beaker.core.login`: a code to confirm in a browser, polls until the answer.", login.TRANSITIONS),
    (
        "Access to GitHub",
        "`beaker.core.github_access`: a connection, a repository, and somebody who acts in a browser meanwhile.",
        github_access.TRANSITIONS,
    ),
    ("An upload", "`beaker.core.transfer`; `created` and `sent` are passed through at once.", transfer.TRANSITIONS),
)


def drawn() -> str:
    """Every machine as a Markdown table."""
    return "\n".join(line for title, about, table in MACHINES for line in _machine(title, about, table))


def replaced(page: str) -> str:
    """`page` with what stands between the markers drawn anew; `ValueError` when it has not both of them once."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise ValueError(f"the page needs {BEGIN} and, after it, {END}, once each")
    return f"{before}{BEGIN}\n\n{drawn()}\n{END}{after}"


def _machine(title: str, about: str, table: Table) -> Iterator[str]:
    named = all(isinstance(moves, Mapping) for moves in table.values())
    yield from (f"### {title}", "", about, "")
    yield from (
        ("| state | what happens | goes to |", "|---|---|---|") if named else ("| state | goes to |", "|---|---|")
    )
    for state, moves in table.items():
        shown = f"`{state}`"
        if named:
            for happening, after in moves.items():
                yield f"| {shown} | `{happening}` | `{after}` |"
                shown = ""
        elif moves:
            yield f"| {shown} | {', '.join(f'`{after}`' for after in moves)} |"
    ends = [state for state, moves in table.items() if {*(moves.values() if named else moves)} <= {state}]
    yield from ("", f"It ends in {', '.join(f'`{state}`' for state in ends)}.", "")


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
