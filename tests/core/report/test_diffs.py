"""Changes line by line, of documents and of patches."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.report.diffs import (
    OPEN_FILES,
    OPEN_LINES,
    SHOWN_LINE,
    SHOWN_LINES,
    FileChange,
    change_list,
    document_changes,
    patch_changes,
)

Read = Callable[[str], Any]

PATCH = """\
diff --git a/src/pipe line.py b/src/pipe line.py
index 1..2 100644
--- a/src/pipe line.py
+++ b/src/pipe line.py
@@ -1,2 +1,2 @@ def f():
-x = 1
+x = 2
 diff --git a/no b/no
\\ No newline at end of file
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
new file mode 100644
index 000..111
GIT binary patch
literal 10
zcmV

diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git "a/caf\\303\\251.txt" "b/caf\\303\\251.txt"
new file mode 100755
--- /dev/null
+++ "b/caf\\303\\251.txt"
@@ -0,0 +1 @@
+hi
diff --git a/dead.py b/dead.py
deleted file mode 100644
--- a/dead.py
+++ /dev/null
@@ -1 +0,0 @@
--- trap
"""


def test_patch_changes__each_file__is_told_with_its_kind() -> None:
    """Modes and renames are said, binary content is not shown, no line of a file passes for the head of another."""
    pipe, run, logo, moved, coffee, dead = patch_changes(PATCH)
    assert (pipe.path, pipe.kind, pipe.added, pipe.removed) == ("src/pipe line.py", "updated", 1, 1)
    assert pipe.lines[0] == "@@ -1,2 +1,2 @@ def f():"
    assert pipe.lines[-2:] == (" diff --git a/no b/no", "\\ No newline at end of file")
    assert (run.path, run.lines) == ("run.sh", ("@ old mode 100644", "@ new mode 100755"))
    assert (logo.path, logo.kind, logo.lines) == ("logo.png", "created", ("@ binary content, not shown here",))
    assert (moved.path, moved.kind) == ("new.txt", "renamed")
    assert moved.lines == ("@ rename from old.txt", "@ rename to new.txt")
    assert (coffee.path, coffee.kind, coffee.added) == ("caf\\303\\251.txt", "created", 1)
    assert coffee.lines[0] == "@ new file mode 100755"
    assert (dead.path, dead.kind, dead.added, dead.removed) == ("dead.py", "deleted", 0, 1)
    assert [*patch_changes("")] == []
    assert [*patch_changes("no patch at all")] == []


documents = st.dictionaries(
    st.sampled_from("ab"),
    st.dictionaries(st.sampled_from("xyz"), st.text("a\n\r\x0b-+", max_size=12), max_size=3),
    max_size=2,
)


@given(documents, documents)
def test_document_changes__rebuild_the_new_documents(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Exactly what differs is told, and the lines without a minus are the new document (it is small: no gaps)."""
    told = {one.path: one for one in document_changes(before, after)}
    old = {f"{group}/{name}": text for group, named in before.items() for name, text in named.items()}
    new = {f"{group}/{name}": text for group, named in after.items() for name, text in named.items()}
    assert [*told] == sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    for path, change in told.items():
        assert change.kind == ("created" if path not in old else "deleted" if path not in new else "updated")
        lines: list[str] = []
        last_is_new = True
        for line in change.lines:
            if line.startswith(("+", " ")):
                lines.append(line[1:] + "\n")
                last_is_new = True
            elif line.startswith("\\"):
                lines[-1:] = [lines[-1][:-1]] if last_is_new else lines[-1:]
            else:
                last_is_new = False
        assert "".join(lines) == new.get(path, "")


def test_change_list__lines_are_marked_and_long_ones_cut(read: Read) -> None:
    """Small files are open; of large ones the rest is counted."""
    small = FileChange("g/<b>", "updated", ("@@ -1 +1 @@", "-old", "+new", " same", "", "\\ No newline at end of file"))
    large = FileChange("g/large", "created", ("+x",) * (SHOWN_LINES + 5))
    wide = FileChange("g/wide", "updated", ("-" + "y" * 5_000,))
    page = read(change_list((small, large, wide)))
    assert ["open" in one for one in page.all("details", "file")] == [True, False, False]
    assert "g/<b>" in page.text
    assert f"+{SHOWN_LINES + 5}" in page.text
    assert "5 more lines are not shown here" in page.text
    assert f"({5_001 - SHOWN_LINE:,} more characters)" in page.text
    assert len(page.all("span", "add")) == SHOWN_LINES + 1
    assert len(page.all("span", "del")) == 2
    assert len(page.all("span", "hunk")) == 2
    assert [len(page.all("span", mark)) for mark in ("plus", "minus")] == [2, 2]


@pytest.mark.parametrize("lines, is_open", [(OPEN_LINES, True), (OPEN_LINES + 1, False)])
def test_change_list__many_files__stay_closed(read: Read, lines: int, is_open: bool) -> None:
    """Only the first ones are open, and none that is long."""
    page = read(change_list((FileChange("a", "created", ("+",) * lines),) * (OPEN_FILES + 1)))
    assert ["open" in one for one in page.all("details")] == [is_open] * OPEN_FILES + [False]
    assert "more lines" not in page.text
