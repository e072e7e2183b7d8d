"""The frame of every page: one file that asks for nothing, runs no script, and can be read as text."""

from collections.abc import Iterable, Sequence

from beaker.core.report.markup import Markup, Part, element
from beaker.core.report.style import STYLE
from beaker.core.values import value

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may do with the page: show it. Were something in it markup after all, it could fetch nothing."""


@value
class Section:
    """One part of a page; `anchor` is what the list at its top leads to, `lead` a sentence below the title."""

    anchor: str
    title: str
    body: Markup
    lead: str = ""


@value
class Cell:
    """A cell of a table: `kind` is a class of the style sheet (`num`, `head`, `wide`, `figure`) or empty."""

    content: Part
    kind: str = ""


def document(title: str, *, head: Markup, sections: Sequence[Section]) -> str:
    """A whole page; sections with an empty body are left out."""
    shown = [section for section in sections if section.body]
    links = [element("a", section.title, href=f"#{section.anchor}") for section in shown]
    body = element(
        "main",
        element("header", head, element("nav", links, aria_label="Sections") if links else None),
        map(_section, shown),
        element("footer", "Made by Beaker. This page is complete in itself: it loads nothing and runs no script."),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"{element('title', title)}\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Cell]]) -> Markup:
    """A table that becomes a list of cards where the screen is narrow. `columns` are headings with their class; nothing
    without rows."""
    body = [
        element(
            "tr",
            [
                element("td", cell.content, class_=cell.kind or None, data_name=heading)
                for (heading, _), cell in zip(columns, row, strict=True)
            ],
        )
        for row in rows
    ]
    if not body:
        return Markup("")
    heads = [element("th", heading, class_=kind or None, scope="col") for heading, kind in columns]
    return element("table", element("thead", element("tr", heads)), element("tbody", body), class_="cards")


def tile(name: str, shown: str, said: Part = None, *, tone: str = "") -> Markup:
    """One figure that stands out: what it is, the figure, and what to know about it."""
    return element(
        "div", element("span", name), element("b", shown), None if said is None else element("span", said),
        class_=f"tile {tone}".strip(),
    )  # fmt: skip


def folded(title: Part, body: Part, *, is_open: bool = False) -> Markup:
    """Something to be opened."""
    return element("details", element("summary", title), body, open=is_open, class_="group")


def _section(section: Section) -> Markup:
    lead = element("p", section.lead, class_="lead") if section.lead else None
    return element("section", element("h2", section.title), lead, section.body, id=section.anchor)
