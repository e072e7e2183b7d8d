"""Questions to real Git repositories, also hostile and odd ones."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from returns.pipeline import is_successful

from beaker.core.problems import Refused
from beaker.files import git, git_process

pytestmark = pytest.mark.processes


def run(root: Path, *arguments: str) -> str:
    """Git as a user runs it, with an identity of its own."""
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false"]
    done = subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository on branch `main` with one commit of `a.txt`."""
    root = tmp_path / "repo"
    root.mkdir()
    git.init_repository(root).unwrap()
    (root / "a.txt").write_text("one\n")
    git.commit_all(root, "First").unwrap()
    return root


def test_commit_all__user_configuration__has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our commits carry our identity and run no hook, whatever is configured."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "ignored").write_text("*.txt\n")
    (home / "hooks").mkdir()
    hook = home / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\ntouch {home}/hook-ran\nexit 1\n")
    hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[user]\nname = Someone\nemail = s@example.org\n[author]\nname = Other\n[commit]\ngpgSign = true\n"
        f"[core]\nhooksPath = {home}/hooks\nexcludesFile = {home}/ignored\nautocrlf = true\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Env")
    root = tmp_path / "repo"
    root.mkdir()
    git.init_repository(root).unwrap()
    (root / "a.txt").write_bytes(b"one\r\n")
    commit = git.commit_all(root, "First\n\n# not a comment").unwrap()
    monkeypatch.delenv("GIT_DIR")
    assert run(root, "log", "-1", "--format=%an <%ae> %cn %G?") == "Beaker <beaker@localhost> Beaker N"
    assert git.read_file_at(root, commit, "a.txt").unwrap() == b"one\r\n"
    assert git.current_branch(root).unwrap() == "main"
    assert not (home / "hook-ran").exists()


def test_resolve_ref__branch_tag_commit__give_one_commit(repository: Path) -> None:
    """Any name of a commit is accepted; an annotated tag is peeled."""
    head = git.head_commit(repository).unwrap()
    run(repository, "tag", "-a", "v1", "-m", "x")
    run(repository, "branch", "feature/x")
    for ref in ("HEAD", "main", "v1", "feature/x", head, head[:10], "main^0"):
        assert git.resolve_ref(repository, ref).unwrap() == head


@pytest.mark.parametrize("ref", ["", "nothing", "-q", "--all", "a b", "main:a.txt", "\0", "é"])
def test_resolve_ref__no_commit__is_a_problem(repository: Path, ref: str) -> None:
    """What names no commit is refused, never taken for an option."""
    problem = git.resolve_ref(repository, ref).failure()
    assert problem.code == "BK712"
    assert problem.hint


def test_questions__outside_a_repository__say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function names the cause when there is no repository, no Git, or no commit."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    outside = tmp_path / "plain"
    outside.mkdir()
    for question in (git.head_commit, git.current_branch, git.dirty_files):
        assert question(outside).failure().code == "BK711"
    assert git.read_file_at(outside, "HEAD", "a").failure().code == "BK711"
    assert git.head_commit(tmp_path / "missing").failure().code == "BK711"
    git.init_repository(outside).unwrap()
    assert "nothing has been committed" in git.head_commit(outside).failure().message
    monkeypatch.setenv("PATH", str(tmp_path))
    for problem in (git.head_commit(outside).failure(), git.init_repository(outside).failure()):
        assert problem.code == "BK710"
        assert "install Git" in problem.hint
    with pytest.raises(Refused):
        next(git.read_commit(outside, "HEAD"))


def test_current_branch__detached__is_none(repository: Path) -> None:
    """A detached HEAD has no branch; a new branch without commits has one."""
    run(repository, "checkout", "-q", "--detach")
    assert git.current_branch(repository).unwrap() is None
    run(repository, "checkout", "-q", "--orphan", "fresh")
    assert git.current_branch(repository).unwrap() == "fresh"


def test_dirty_files__changes_and_new_configuration__are_listed(repository: Path) -> None:
    """Tracked changes of every kind and new files below .beaker count; other new and ignored files do not."""
    for name in ("gone", "moved", "staged", "é ü"):
        (repository / name).write_text(f"{name}\n" * 5)
    git.commit_all(repository, "More").unwrap()
    assert git.dirty_files(repository).unwrap() == ()
    os.utime(repository / "a.txt", (1, 1))
    assert git.dirty_files(repository).unwrap() == ()
    (repository / "new.txt").write_text("x")
    (repository / "gone").unlink()
    run(repository, "mv", "moved", "moved2")
    (repository / "staged").write_text("changed")
    run(repository, "add", "staged")
    (repository / "é ü").write_text("changed")
    beaker = repository / "sub" / ".beaker"
    (beaker / "local").mkdir(parents=True)
    (beaker / "local" / ".gitignore").write_text("*\n")
    (beaker / "local" / "beaker.db").write_text("x")
    (beaker / "beaker.yaml").write_text("x")
    (beaker / ".env").write_text("x")
    expected = ("gone", "moved2", "staged", "sub/.beaker/beaker.yaml", "é ü")
    assert git.dirty_files(repository).unwrap() == expected
    assert git.dirty_files(repository / "sub").unwrap() == expected
    assert git.dirty_files(repository, also=("new.txt",)).unwrap() == tuple(sorted((*expected, "new.txt")))


def test_read_commit__every_kind_of_entry__is_reported(repository: Path) -> None:
    """Files with their exact bytes, executables, links and submodules come out; untracked files do not."""
    data = bytes(range(256)) * 300
    (repository / "folder").mkdir()
    (repository / "folder" / "data.bin").write_bytes(data)
    (repository / "empty").write_bytes(b"")
    script = repository / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (repository / "link").symlink_to("a.txt")
    (repository / "odd\nname é").write_text("x")
    commit = git.commit_all(repository, "Kinds").unwrap()
    head = git.head_commit(repository).unwrap()
    run(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},vendored")
    run(repository, "commit", "-q", "-m", "Submodule")
    (repository / "untracked").write_text("x")
    commit = git.head_commit(repository).unwrap()
    (repository / "a.txt").write_text("changed since")
    entries = {entry.path: entry for entry in git.read_commit(repository, commit)}
    assert {path: entry.mode for path, entry in entries.items()} == {
        "a.txt": git.FILE_MODE,
        "empty": git.FILE_MODE,
        "folder/data.bin": git.FILE_MODE,
        "link": git.LINK_MODE,
        "odd\nname é": git.FILE_MODE,
        "run.sh": git.EXECUTABLE_MODE,
        "vendored": git.SUBMODULE_MODE,
    }
    assert entries["a.txt"].data == b"one\n"
    assert entries["folder/data.bin"].data == data
    assert entries["link"].data == b"a.txt"
    assert entries["empty"].data == entries["vendored"].data == b""


def test_read_commit__attributes__change_no_byte(repository: Path) -> None:
    """Export and line-ending attributes do not touch what a commit holds."""
    (repository / ".gitattributes").write_text("a.txt export-ignore\nb.txt export-subst\n")
    (repository / "b.txt").write_text("$Format:%H$\n")
    commit = git.commit_all(repository, "Attributes").unwrap()
    entries = {entry.path: entry.data for entry in git.read_commit(repository, commit)}
    assert entries["a.txt"] == b"one\n"
    assert entries["b.txt"] == b"$Format:%H$\n"


def test_read_commit__not_followed_to_the_end__leaves_no_process(repository: Path) -> None:
    """Closing the iterator early ends Git."""
    (repository / "b.txt").write_bytes(b"x" * 1_000_000)
    commit = git.commit_all(repository, "Big").unwrap()
    # In a process of its own: other tests make this one take up orphans, as Git may leave when it tidies.
    script = """
import os, sys
from pathlib import Path
from beaker.files import git
entries = git.read_commit(Path(sys.argv[1]), sys.argv[2])
next(entries)
entries.close()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none")
"""
    left = subprocess.run(
        [sys.executable, "-c", script, repository, commit], capture_output=True, text=True, check=True
    )
    assert left.stdout == "none\n", left.stderr


def test_read_commit__object_missing_or_name_undecodable__is_refused(repository: Path) -> None:
    """A damaged repository and a name that is no UTF-8 are said, not skipped."""
    blob = run(repository, "hash-object", "-w", "a.txt")
    run(repository, "update-index", "--add", "--cacheinfo", f"100644,{blob},b.txt")
    commit = git.commit_all(repository, "Two").unwrap()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Refused, match=r"does not have the content of a\.txt"):
        list(git.read_commit(repository, commit))
    (repository / os.fsdecode(b"\xff.txt")).write_text("x")
    (repository / "a.txt").write_text("one\n")
    commit = git.commit_all(repository, "Bytes").unwrap()
    with pytest.raises(Refused, match="not UTF-8"):
        list(git.read_commit(repository, commit))


def test_read_file_at__only_regular_files__else_a_problem(repository: Path) -> None:
    """A missing path, a folder, a link and a pattern are no file."""
    (repository / "folder").mkdir()
    (repository / "folder" / "x").write_text("x")
    (repository / "link").symlink_to("a.txt")
    commit = git.commit_all(repository, "Kinds").unwrap()
    assert git.read_file_at(repository, commit, "folder/x").unwrap() == b"x"
    for path in ("missing", "folder", "link", "*.txt", "-a"):
        problem = git.read_file_at(repository, commit, path).failure()
        assert problem.code == "BK714"
        assert path in problem.message
    assert git.read_file_at(repository, "nothing", "a.txt").failure().code == "BK713"


def test_remote_repository__github_remotes__decide(repository: Path) -> None:
    """The GitHub remote names the repository; without one there is none."""
    assert git.remotes(repository).unwrap() == {}
    assert git.remote_repository(repository).unwrap() is None
    run(repository, "remote", "add", "up.stream", "git@github.com:acme/invoices.git")
    assert git.remotes(repository).unwrap() == {"up.stream": "git@github.com:acme/invoices.git"}
    assert git.remote_repository(repository).unwrap() == "acme/invoices"


def test_questions__repository_naming_programs__run_none(repository: Path, tmp_path: Path) -> None:
    """A repository whose configuration names a file-system monitor or hooks runs neither."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    run(repository, "config", "core.fsmonitor", str(program))
    run(repository, "config", "core.hooksPath", str(tmp_path))
    for name in ("post-index-change", "pre-commit", "post-commit"):
        (tmp_path / name).symlink_to(program)
    (repository / "a.txt").write_text("two\n")
    assert git.dirty_files(repository).unwrap() == ("a.txt",)
    assert is_successful(git.commit_all(repository, "Second"))
    assert not (tmp_path / "ran").exists()


def marking(folder: Path, name: str = "program") -> tuple[Path, Path]:
    """A program that leaves a mark and then passes its input on, and the mark."""
    program, mark = folder / name, folder / f"{name}-ran"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\nexec cat\n")
    program.chmod(0o755)
    return program, mark


@pytest.mark.parametrize("name", ["x", "a.b", "Ünï", "two words"])
@pytest.mark.parametrize("key", ["clean", "process"])
def test_dirty_files__repository_naming_filters__runs_none(
    repository: Path, tmp_path: Path, name: str, key: str
) -> None:
    """Neither a clean nor a process filter runs for a touched file, a required one included; files are compared as
    they are."""
    program, mark = marking(tmp_path)
    (repository / "b.txt").write_text("one\n")
    attribute = name.split()[0]
    (repository / ".gitattributes").write_text(f"*.txt filter={attribute}\n", encoding="utf-8")
    git.commit_all(repository, "Attributes").unwrap()
    run(repository, "config", f"filter.{attribute}.{key}", str(program))
    run(repository, "config", f"filter.{attribute}.required", "true")
    run(repository, "config", f"filter.{name}.smudge", str(program))
    os.utime(repository / "a.txt", (1, 1))
    assert git.dirty_files(repository).unwrap() == ()
    (repository / "b.txt").write_text("two\n")
    assert git.dirty_files(repository).unwrap() == ("b.txt",)
    assert is_successful(git.commit_all(repository, "Second"))
    assert not mark.exists()


def test_dirty_files__filter_in_an_included_file__does_not_run(repository: Path, tmp_path: Path) -> None:
    """A filter that the configuration only includes, or another one of the user names, is switched off as well."""
    program, mark = marking(tmp_path)
    (repository / ".git" / "more").write_text(f'[filter "x"]\nclean = {program}\n')
    run(repository, "config", "include.path", "more")
    (repository / ".gitattributes").write_text("*.txt filter=x\n")
    os.utime(repository / "a.txt", (1, 1))
    assert git.dirty_files(repository).unwrap() == ()
    assert not mark.exists()


def test_dirty_files__filter_no_option_can_name__is_refused(repository: Path, tmp_path: Path) -> None:
    """What cannot be switched off is refused, not run."""
    program, mark = marking(tmp_path)
    (repository / ".gitattributes").write_text("*.txt filter=a=b\n")
    with (repository / ".git" / "config").open("a") as file:
        file.write(f'[filter "a=b"]\nclean = {program}\n')
    os.utime(repository / "a.txt", (1, 1))
    problem = git.dirty_files(repository).failure()
    assert problem.code == "BK713"
    assert "a=b" in problem.message
    assert not mark.exists()


def partial_clone(repository: Path, clone: Path) -> str:
    """A clone without blobs whose remote is reached through programs; its commit."""
    run(repository, "config", "uploadpack.allowFilter", "true")
    run(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    run(repository, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository}", str(clone))
    return run(clone, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    "settings",
    [
        {"remote.origin.uploadpack": "{program}"},
        {"remote.origin.url": "ssh://example.org/x", "core.sshCommand": "{program}"},
        {"remote.origin.url": "ext::{program}", "protocol.ext.allow": "always"},
        {"remote.origin.url": "http://127.0.0.1:9/x", "protocol.http.allow": "always"},
    ],
)
def test_questions__partial_clone__fetches_nothing(repository: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    """Content that was never fetched is said to be missing; no transport is started for it, whatever is configured."""
    program, mark = marking(tmp_path)
    clone = tmp_path / "clone"
    commit = partial_clone(repository, clone)
    run(clone, "config", "protocol.file.allow", "always")
    for key, text in settings.items():
        run(clone, "config", key, text.format(program=program))
    with pytest.raises(Refused) as refused:
        list(git.read_commit(clone, commit))
    assert refused.value.problems[0].code == "BK716"
    assert "a.txt" in refused.value.problems[0].message
    found = git.read_file_at(clone, commit, "a.txt").failure()
    assert (found.code, bool(found.hint)) == ("BK716", True)
    assert not mark.exists()


HANGING_GIT = """#!{python}
import subprocess, sys, time
if "cat-file" not in sys.argv and "hang" not in sys.argv:
    sys.exit(subprocess.run([{git!r}, *sys.argv[1:]]).returncode)
child = subprocess.Popen(["sleep", "600"])  # keeps our pipes open
print(child.pid, file=open({pid!r}, "w"), flush=True)
time.sleep(600)
"""


@pytest.fixture
def hanging_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `git` that answers nothing when it is to read objects, and the file in which it names a child of its own."""
    found = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    folder, pid = tmp_path / "bin", tmp_path / "pid"
    folder.mkdir()
    (folder / "git").write_text(HANGING_GIT.format(python=sys.executable, git=found, pid=str(pid)))
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git_process, "TIMEOUT", 3.0)
    return pid


def ended(pid: Path) -> bool:
    """Whether the process that the file names is gone, or will not run again."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{int(pid.read_text())}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_read_commit__git_that_hangs__is_ended_with_its_children(repository: Path, hanging_git: Path) -> None:
    """Reading objects has a time limit too, and nothing stays."""
    with pytest.raises(Refused, match="within 3 seconds") as refused:
        list(git.read_commit(repository, "HEAD"))
    assert refused.value.problems[0].code == "BK713"
    assert ended(hanging_git)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_questions__git_that_hangs__is_ended_with_its_children(repository: Path, hanging_git: Path) -> None:
    """A command that does not end is ended, also when a child of its own keeps the pipes open."""
    problem = git.read_file_at(repository, "HEAD", "a.txt").failure()
    assert problem.code == "BK713"
    assert "cat-file did not end within 3 seconds" in problem.message
    assert ended(hanging_git)


def test_untracked_files__ignored_and_tracked__do_not_count(repository: Path) -> None:
    """Only what Git neither tracks nor ignores is named, below the folder that is asked about, odd names included."""
    (repository / ".gitignore").write_text("*.pyc\n")
    (repository / "src").mkdir()
    for name in ("src/new\n[1].py", "src/old.pyc", "outside.py"):
        (repository / name).write_text("")
    assert git.untracked_files(repository, below="src").unwrap() == ("src/new\n[1].py",)
    assert git.untracked_files(repository).unwrap() == (".gitignore", "outside.py", "src/new\n[1].py")
    assert git.untracked_files(repository.parent).failure().code == "BK711"


def test_copies_in_commit__same_bytes__are_named_wherever_they_lie(repository: Path, tmp_path: Path) -> None:
    """A file outside the checkout is found in a commit by its bytes; another line end is another content."""
    (repository / "deep").mkdir()
    (repository / "deep" / "copy é.txt").write_bytes(b"one\n")
    (repository / "other.txt").write_bytes(b"one\r\n")
    commit = git.commit_all(repository, "Second").unwrap()
    (tmp_path / "test.jsonl").write_bytes(b"one\n")
    found = git.copies_in_commit(repository, commit, tmp_path / "test.jsonl").unwrap()
    assert found == ("a.txt", "deep/copy é.txt")
    assert not is_successful(git.copies_in_commit(repository, commit, tmp_path / "none"))


def test_dirty_files__repository_naming_another_working_tree__looks_at_its_own(
    repository: Path, tmp_path: Path
) -> None:
    """A setting that points elsewhere on this machine opens nothing there: the checkout is what is looked at."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "diary.txt").write_text("dear diary\n")
    run(repository, "config", "core.worktree", str(tmp_path / "private"))
    assert git.dirty_files(repository).unwrap() == ()
    (repository / "a.txt").write_text("two\n")
    (repository / "new.txt").write_text("new\n")
    assert git.dirty_files(repository).unwrap() == ("a.txt",)
    assert git.untracked_files(repository, below=".").unwrap() == ("new.txt",)
