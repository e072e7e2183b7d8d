"""Figures of change sets: applying many in memory and on disk, each beside the plainest way to do the same."""

import os
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from beaker.core.changesets import apply, change_set_from_json, change_set_to_json
from beaker.core.documents import CreateDocumentChange, DocumentChangeSet, TargetDocument, UpdateDocumentChange
from beaker.core.strict_json import dumps, parse
from beaker.files.changes import apply_to_directory

HASH = "0" * 64


def least(function: Callable[[], object], runs: int = 15) -> float:
    """The least CPU time of one call, in seconds."""
    best = float("inf")
    for _ in range(runs):
        before = time.process_time()
        function()
        best = min(best, time.process_time() - before)
    return best


def in_memory(count: int, size: int) -> None:
    """Update `count` documents of `size` characters, beside a dict loop with the same SHA-256 checks."""
    documents = tuple(
        TargetDocument(
            source_id=f"id-{number}",
            group="wiki",
            name=f"section-{number % 100}/page-{number}.md",
            content=f"page {number}\n" + "x" * (size - 16),
        )
        for number in range(count)
    )
    changes = tuple(
        UpdateDocumentChange(
            source_id=one.source_id,
            group=one.group,
            name=one.name,
            content=f"{one.content}!",
            base_sha256=sha256(one.content.encode()).hexdigest(),
        )
        for one in documents
    )
    derived = DocumentChangeSet("run", HASH, HASH, changes, ("wiki",))
    # As it arrives: read from JSON, so that none of its strings is the very object a document holds.
    change_set = change_set_from_json(parse(dumps(change_set_to_json(derived))).unwrap()).unwrap()
    store = {(one.group, one.name): one.content for one in documents}

    def plain() -> dict[tuple[str, str], str]:
        after = dict(store)
        for change in change_set.changes:
            assert isinstance(change, UpdateDocumentChange)
            place = (change.group, change.name)
            if sha256(after[place].encode()).hexdigest() != change.base_sha256:
                raise ValueError(place)
            after[place] = change.content
        return after

    assert {(one.group, one.name): one.content for one in apply(documents, change_set).unwrap()} == plain()
    floor, cost = least(plain), least(lambda: apply(documents, change_set))
    print(
        f"apply {count:,} updates of {size} characters: {cost * 1000:.0f} ms "
        f"(dict loop with the same checks: {floor * 1000:.0f} ms, {cost / floor:.1f}x)"
    )


def on_disk(count: int) -> None:
    """Create `count` files all or nothing, beside writing, flushing and renaming each of them."""
    content = "x" * 2_000
    changes = tuple(
        CreateDocumentChange(group="wiki", name=f"section-{number % 20}/{number}.md", content=content)
        for number in range(count)
    )
    change_set = DocumentChangeSet("run", HASH, HASH, changes, ("wiki",))
    with tempfile.TemporaryDirectory() as folder:
        floor = time.perf_counter()
        for change in changes:
            path = Path(folder, "plain", change.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(f"{path}.tmp", "wb") as file:
                file.write(change.content.encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(f"{path}.tmp", path)
        floor = time.perf_counter() - floor
        target = Path(folder, "store")
        target.mkdir()
        cost = time.perf_counter()
        apply_to_directory(target, change_set).unwrap()
        cost = time.perf_counter() - cost
    print(
        f"apply {count:,} creations to a folder, with journal: {cost * 1000:.0f} ms "
        f"(write, flush, rename: {floor * 1000:.0f} ms, {cost / floor:.1f}x)"
    )


if __name__ == "__main__":
    for size in (2_000, 500):
        in_memory(20_000, size)
    on_disk(2_000)
