"""Stop an apply at every one of its file operations, in real processes, and look at what is left.

Run as `python interrupted_apply.py MODE FOLDER`; prints one JSON line `{"points", "outcomes", "faults"}`. A file
operation is what the interpreter announces to an audit hook just before it is done; the hook of a forked child kills
it, or raises, at the n-th. Modes: `kill`, `kill-twice`, `foreign`, `interrupt`, `error`, `errors`; and, with what can
be taken back, `revert` (the apply is killed) and `revert-killed` (taking it back is).
"""

import errno
import json
import os
import random
import shutil
import signal
import stat
import sys
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    UpdateDocumentChange,
)
from beaker.files.applied import RECORDS
from beaker.files.changes import apply_to_directory, recover, revert_in_directory

OPERATIONS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.chmod", "os.scandir"}
ENDED, REFUSED, RAISED = 0, 10, 11
Snapshot = dict[str, tuple[bytes, int]]

OLD = {
    "faq/update.md": b"old\r\n",
    "faq/deep/gone.md": b"delete me",
    "faq/file-to-folder": b"was a file",
    "faq/folder-to-file/inner.md": b"was in a folder",
    "kb/private.md": b"0640",
    "kb/untouched.bin": b"\xff\x00",
}


def build(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    for name, data in OLD.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (directory / "kb/private.md").chmod(0o640)


def change_set() -> DocumentChangeSet:
    def update(group: str, name: str, content: str) -> DocumentChange:
        base = sha256(OLD[f"{group}/{name}"]).hexdigest()
        return UpdateDocumentChange(source_id="p", group=group, name=name, content=content, base_sha256=base)

    def delete(group: str, name: str) -> DocumentChange:
        base = sha256(OLD[f"{group}/{name}"]).hexdigest()
        return DeleteDocumentChange(source_id="p", group=group, name=name, base_sha256=base)

    changes = (
        update("faq", "update.md", "new\n"),
        delete("faq", "deep/gone.md"),
        delete("faq", "file-to-folder"),
        CreateDocumentChange(group="faq", name="file-to-folder/now.md", content="inside"),
        delete("faq", "folder-to-file/inner.md"),
        CreateDocumentChange(group="faq", name="folder-to-file", content="now a file"),
        CreateDocumentChange(group="new", name="a/b.md", content="in a new group"),
        update("kb", "private.md", "still 0640"),
    )
    return DocumentChangeSet("run", "0" * 64, "0" * 64, changes, ("faq", "kb", "new"))


def snapshot(directory: Path) -> Snapshot:
    """Every file but those that Beaker keeps for itself, with its mode; empty folders do not count."""
    return {
        path.relative_to(directory).as_posix(): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in directory.rglob("*")
        if path.is_file() and not {".beaker-changes", RECORDS} & {*path.parts}
    }


def forked(work: Callable[[], int], at: int, action: Callable[[], None], *, on: bool = False) -> int:
    """Run `work` in a child whose `at`-th file operation (with `on`, every one from there) meets `action` first.

    Returns the exit code, or minus the signal that ended it.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    count = 0

    def hook(event: str, _: object) -> None:
        nonlocal count
        if event in OPERATIONS:
            count += 1
            if count == at or (on and count > at):
                action()

    sys.addaudithook(hook)
    try:
        code = work()
    except BaseException:
        code = RAISED
    os._exit(code)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupted() -> None:
    raise KeyboardInterrupt


def full() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class Experiment:
    """One mode's run over all points, and what it saw."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        build(directory)
        self.before = snapshot(directory)
        assert is_successful(apply_to_directory(directory, change_set()))
        self.after = snapshot(directory)
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []

    def apply(self) -> int:
        return ENDED if is_successful(apply_to_directory(self.directory, change_set())) else REFUSED

    def remembered(self) -> int:
        return ENDED if is_successful(apply_to_directory(self.directory, change_set(), remember=True)) else REFUSED

    def revert(self) -> int:
        return ENDED if is_successful(revert_in_directory(self.directory, change_set())) else REFUSED

    def reverted(self, point: object, *, applied: bool) -> None:
        """Take the set back: whatever was applied of it, everything is as before then, and nothing is left over."""
        was = snapshot(self.directory)
        outcome = revert_in_directory(self.directory, change_set())
        if not is_successful(outcome) and (applied or [one.code for one in outcome.failure()] != ["BK624"]):
            self.faults.append(f"{point}: not taken back: {outcome.failure()}")
        self.judge(point, snapshot(self.directory), self.before, self.before)
        if is_successful(outcome) and (self.directory / RECORDS).exists():
            self.faults.append(f"{point}: the record is left")
        self.outcomes["was after" if was == self.after else "was before"] += 1

    def recover(self) -> int:
        return ENDED if is_successful(recover(self.directory)) else REFUSED

    def settle(self, point: object) -> None:
        """Recover for good, and see whether everything is as before or as after, with nothing left over."""
        outcome = recover(self.directory)
        if not is_successful(outcome):
            self.faults.append(f"{point}: not recovered: {outcome.failure()}")
            return
        self.judge(point, snapshot(self.directory), self.before, self.after)

    def judge(self, point: object, found: Snapshot, before: Snapshot, after: Snapshot) -> None:
        if found == before:
            self.outcomes["before"] += 1
        elif found == after:
            self.outcomes["after"] += 1
        else:
            differing = [name for name in {**found, **before} if found.get(name) != before.get(name)]
            self.faults.append(f"{point}: neither before nor after: {differing}")
        if (self.directory / ".beaker-changes").exists():
            self.faults.append(f"{point}: the staging folder is left")
        links = [path.name for path in self.directory.rglob("*") if path.is_file() and path.stat().st_nlink > 1]
        if links:
            self.faults.append(f"{point}: hard links are left: {links}")

    def points(self, work: Callable[[], int] | None = None) -> int:
        """How many file operations an undisturbed apply has, or other `work` on the folder as it is after one."""
        at = 0
        while True:
            build(self.directory)
            if work is not None:
                self.remembered()
            if forked(work or self.apply, at + 1, killed) != -signal.SIGKILL:
                return at
            at += 1

    def every_point(self, action: Callable[[], None], check: Callable[[int, int], None], *, on: bool = False) -> int:
        """Meet `action` at each operation of an apply in turn, and check what is left; returns how many there were."""
        total = self.points()
        for at in range(1, total + 1):
            build(self.directory)
            check(at, forked(self.apply, at, action, on=on))
        return total

    def whole(self, point: object) -> None:
        """Without any recovery, everything must be as before or as after already."""
        if snapshot(self.directory) not in (self.before, self.after):
            self.faults.append(f"{point}: left in between")


def main(mode: str, directory: Path) -> None:
    run = Experiment(directory)
    points = 0
    if mode == "kill":

        def check(at: int, code: int) -> None:
            if code != -signal.SIGKILL:
                run.faults.append(f"{at}: ended with {code}")
            run.settle(at)

        points = run.every_point(killed, check)
    elif mode == "kill-twice":
        total = run.points()
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        for _ in range(100):
            first, second = chance.randint(1, total), chance.randint(1, 60)
            build(directory)
            forked(run.apply, first, killed)
            forked(run.recover, second, killed)
            run.settle(f"seed {seed}, killed at {first}, recovery killed at {second}")
            points += 1
    elif mode == "foreign":
        for name in ("faq/update.md", "faq/deep/gone.md", "new/a/b.md"):

            def edit(at: int, code: int, name: str = name) -> None:
                path = directory / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b"someone else's")
                if not is_successful(recover(directory)):
                    run.faults.append(f"{at}: not recovered around {name}")
                found = snapshot(directory)
                if found.pop(name, (b"",))[0] != b"someone else's":
                    run.faults.append(f"{at}: the edit of {name} is lost")
                others = [{key: item for key, item in one.items() if key != name} for one in (run.before, run.after)]
                run.judge(f"{at} {name}", found, *others)

            points += run.every_point(killed, edit)
    elif mode == "interrupt":

        def unwound(at: int, code: int) -> None:
            if code != RAISED:
                run.faults.append(f"{at}: ended with {code}")
            run.whole(at)
            run.settle(at)

        points = run.every_point(interrupted, unwound)
    elif mode in ("error", "errors"):

        def refused(at: int, code: int) -> None:
            if code == RAISED:
                run.faults.append(f"{at}: raised")
            if mode == "error":
                run.whole(at)
            run.settle(at)

        points = run.every_point(full, refused, on=mode == "errors")
    elif mode == "revert":
        at, code = 0, -signal.SIGKILL
        while code == -signal.SIGKILL:
            at += 1
            build(directory)
            code = forked(run.remembered, at, killed)
            run.recover()
            run.reverted(at, applied=snapshot(directory) == run.after)
        points = at - 1
    elif mode == "revert-killed":
        points = run.points(run.revert)
        for at in range(1, points + 1):
            build(directory)
            run.remembered()
            forked(run.revert, at, killed)
            run.recover()
            run.reverted(at, applied=snapshot(directory) == run.after)
    print(json.dumps({"points": points, "outcomes": dict(run.outcomes), "faults": run.faults[:20]}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
