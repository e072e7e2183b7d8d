"""Changes line by line: documents against those of the baseline, and the patch of a repository."""

from collections.abc import Iterator, Mapping

from beaker.core.changesets.diff import text_diff
from beaker.core.report.markup import Markup, element
from beaker.core.report.reading import words
from beaker.core.values import value

Documents = Mapping[str, Mapping[str, str]]
"""Group to name to content."""

SHOWN_LINES = 400
"""Lines that are shown of one file's changes; more are counted."""

OPEN_LINES, OPEN_CHARACTERS = 60, 4_000
"""Changes of no more lines and characters are shown without being opened, as long as `OPEN_FILES` allows."""

SHOWN_LINE = 1_000
"""Characters of one line that are shown."""

OPEN_FILES = 12

_TONES = {"+": "add", "-": "del", "@": "hunk", "\\": "hunk"}


@value
class FileChange:
    """What became of one file: `kind` is `created`, `deleted`, `updated` or `renamed`; `lines` are those of a unified
    diff."""

    path: str
    kind: str
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        """Lines that came."""
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        """Lines that went."""
        return sum(line.startswith("-") for line in self.lines)


def document_changes(before: Documents, after: Documents) -> Iterator[FileChange]:
    """The documents that differ, in order of their paths."""
    old, new = _by_path(before), _by_path(after)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) == new.get(path):
            continue
        kind = "created" if path not in old else "deleted" if path not in new else "updated"
        lines = text_diff(path, path, old.get(path, ""), new.get(path, ""))
        # The two lines that name the files say nothing here; a file without a line end says so on a line of its own.
        yield FileChange(path, kind, tuple("".join(lines).split("\n")[2:-1]))


def patch_changes(patch: str) -> Iterator[FileChange]:
    """The files of a patch as Git writes it."""
    head = "diff --git "
    for part in f"\n{patch}".split(f"\n{head}")[1:]:
        first, *lines = part.rstrip("\n").split("\n")
        start = next((n for n, line in enumerate(lines) if line.startswith(("@@", "GIT binary", "Binary"))), len(lines))
        told = lines[:start]
        created, deleted = (any(line.startswith(f"{word} file mode") for line in told) for word in ("new", "deleted"))
        renamed = any(line.startswith("rename to ") for line in told)
        kind = "created" if created else "deleted" if deleted else "renamed" if renamed else "updated"
        shown = ["@ binary content, not shown here"] if lines[start:][:1] == ["GIT binary patch"] else lines[start:]
        yield FileChange(_patched_path(first, told), kind, (*_notable(told), *shown))


def change_list(changes: tuple[FileChange, ...]) -> Markup:
    """Every file with its changes; small ones are open."""
    return element("div", [_shown(one, number) for number, one in enumerate(changes)], class_="files")


def _by_path(documents: Documents) -> dict[str, str]:
    return {f"{group}/{name}": text for group, named in documents.items() for name, text in named.items()}


def _patched_path(first: str, told: list[str]) -> str:
    """The path that a patch's file has afterwards (before, when it is deleted)."""
    for mark in ("+++ ", "--- ", "rename to ", "copy to "):
        for line in told:
            path = line.removeprefix(mark)
            if path != line and path != "/dev/null":
                return path.strip('"').removeprefix("a/").removeprefix("b/")
    return first.rpartition(" ")[2].strip('"').removeprefix("b/")


def _notable(told: list[str]) -> list[str]:
    """What of a patch's head says more than the path: modes and renames."""
    return [
        f"@ {line}"
        for line in told
        if line.startswith(("old mode", "new mode", "rename", "copy", "new file mode 100755"))
    ]


def _shown(change: FileChange, number: int) -> Markup:
    small = len(change.lines) <= OPEN_LINES and sum(map(len, change.lines)) <= OPEN_CHARACTERS
    summary = element(
        "summary",
        element("span", change.path, class_="path"),
        element("span", change.kind, class_=f"tag {change.kind}"),
        element("span", f"+{change.added}", class_="plus") if change.added else None,
        element("span", f"−{change.removed}", class_="minus") if change.removed else None,
    )
    left = len(change.lines) - SHOWN_LINES
    more = element("p", f"{left} more lines are not shown here", class_="muted") if left > 0 else None
    lines = [
        element("span", words(line, SHOWN_LINE) or " ", class_=_TONES.get(line[:1]))
        for line in change.lines[:SHOWN_LINES]
    ]
    return element("details", summary, element("pre", lines), more, open=small and number < OPEN_FILES, class_="file")
