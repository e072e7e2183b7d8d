"""Laws of patches: `git apply` of one gives exactly the candidate's files, and nobody's configuration has a say."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beaker.core.repository_tree import RepositoryEdits, RepositoryFile
from beaker.files.git import commit_all, init_repository, read_commit
from beaker.files.git_commits import commit_patch
from beaker.files.patches import make_patch

pytestmark = pytest.mark.processes

Files = Mapping[str, RepositoryFile]


def text(content: str, mode: str = "100644") -> RepositoryFile:
    return RepositoryFile(mode, content.encode("utf-8", "surrogatepass"))  # type: ignore[arg-type]


def binary(content: bytes, mode: str = "100644") -> RepositoryFile:
    return RepositoryFile(mode, content)  # type: ignore[arg-type]


LONG = "".join(f"line {number}\n" for number in range(30))
COMMIT: Files = {
    "src/plain.py": text("one\ntwo\nthree\n"),
    "src/rename me.py": text(LONG),
    "no newline.txt": text("last line"),
    "crlf.txt": text("a\r\nb\r\nc\r\n"),
    "mixed.txt": text("a\r\nb\nc\rd\n\n\n"),
    "empty": text(""),
    "run.sh": text("#!/bin/sh\necho hi\n", "100755"),
    "logo.png": binary(b"\x89PNG\r\n\x1a\n\x00\x01\x02" * 50),
    "latin1.txt": binary("grün\n".encode("latin-1")),
    'we"ird\tname.txt': text("x\n"),
    "Zwölf Äpfel/ä.txt": text("ü\n"),
    "a b/ b.txt": text("x\n"),
    "folder/inside.txt": text("x\n"),
    "-dash": text("x\n"),
    ":(top)magic*": text("x\n"),
    "trailing.txt": text("a  \n\t\n  \n"),
    "untouched.txt": text("stays\n"),
}

EDITS: Mapping[str, RepositoryEdits] = {
    "text": {"src/plain.py": text("one\n2\nthree\n")},
    "created and deleted": {"new/deep/file.py": text("x\n"), "src/plain.py": None},
    "renamed": {"src/rename me.py": None, "lib/renamed to.py": text(LONG.replace("line 7\n", "line seven\n"))},
    "renamed and made executable": {"src/rename me.py": None, "tool": text(LONG, "100755")},
    "mode alone": {"run.sh": text("#!/bin/sh\necho hi\n"), "src/plain.py": text("one\ntwo\nthree\n", "100755")},
    "mode and text": {"run.sh": text("#!/bin/sh\necho you\n")},
    "newline lost": {"src/plain.py": text("one\ntwo\nthree")},
    "newline won": {"no newline.txt": text("last line\n")},
    "no newline on both sides": {"no newline.txt": text("another line")},
    "crlf kept": {"crlf.txt": text("a\r\nB\r\nc\r\n")},
    "crlf lost": {"crlf.txt": text("a\nb\nc\n")},
    "mixed line ends": {"mixed.txt": text("a\nb\r\nc\rd\n\r\n")},
    "emptied": {"src/plain.py": text(""), "run.sh": text("", "100755")},
    "empty filled and another one made": {"empty": text("x"), "also empty": text("")},
    "empty deleted": {"empty": None},
    "binary changed": {"logo.png": binary(b"\x89PNG\r\n\x1a\n\x00\x01\x03" * 50)},
    "binary created and deleted": {"logo.png": None, "new.bin": binary(bytes(range(256)) * 9, "100755")},
    "binary to text": {"logo.png": text("text now\n")},
    "text to binary": {"src/plain.py": binary(b"a\x00b")},
    "not UTF-8": {"latin1.txt": binary("grüße\n".encode("latin-1"))},
    "odd names": {
        'we"ird\tname.txt': text("y\n"),
        "Zwölf Äpfel/ä.txt": None,
        "Zwölf Äpfel/\u2028ö \x7f.txt": text("new\n"),
        "a b/ b.txt": text("y\n"),
        "a b/ b .txt ": text("z\n"),
        "-dash": text("y\n"),
        ":(top)magic*": text("y\n"),
    },
    "folder in place of a file": {"src/plain.py": None, "src/plain.py/now/below.py": text("x\n")},
    "file in place of a folder": {"folder/inside.txt": None, "folder": text("x\n")},
    "white space": {"trailing.txt": text("a   \n \t\n\n\n"), "new.txt": text(" \n\t\n   ")},
    "text that looks like a patch": {
        "src/plain.py": text("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n")
    },
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("repository"), COMMIT)


def made(root: Path, files: Files) -> Path:
    """A repository with one commit of `files`."""
    init_repository(root).unwrap()
    lay_out(root, files)
    commit_all(root, "first").unwrap()
    return root


def lay_out(root: Path, files: Files) -> None:
    for path, file in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(file.content)
        (root / path).chmod(0o755 if file.mode == "100755" else 0o644)


def after(commit: Files, edits: RepositoryEdits) -> dict[str, RepositoryFile]:
    edited = {**commit, **edits}
    return {path: file for path, file in edited.items() if file is not None}


def committed(root: Path, commit: str) -> dict[str, RepositoryFile]:
    return {entry.path: binary(entry.data, entry.mode) for entry in read_commit(root, commit)}


def worktree(root: Path) -> dict[str, RepositoryFile]:
    return {
        path.relative_to(root).as_posix(): binary(
            path.read_bytes(), "100755" if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else "100644"
        )
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def apply(root: Path, patch: bytes, *options: str) -> None:
    done = subprocess.run(["git", "-C", str(root), "apply", *options, "-"], input=patch, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def cloned(repository: Path, to: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", str(repository), str(to)], check=True)
    return to


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS.keys())
def test_patch__applied_to_the_commit__gives_the_candidates_files(
    repository: Path, tmp_path: Path, edits: RepositoryEdits
) -> None:
    """In a fresh clone, with and without the index, and by way of a commit beside the checkout."""
    patch = make_patch(COMMIT, edits).unwrap()
    expected = after(COMMIT, edits)
    clone = cloned(repository, tmp_path / "clone")
    apply(clone, patch)
    assert worktree(clone) == expected
    subprocess.run(["git", "-C", str(clone), "reset", "--quiet", "--hard"], check=True)
    subprocess.run(["git", "-C", str(clone), "clean", "-fdxq"], check=True)
    apply(clone, patch, "--index")
    assert worktree(clone) == expected
    commit = commit_patch(repository, "HEAD", patch, "message").unwrap()
    assert committed(repository, commit) == expected


def test_patch__all_at_once__applies_and_can_be_taken_back(repository: Path, tmp_path: Path) -> None:
    """Edits of every kind together are one patch; `git apply -R` gives the commit again."""
    edits: dict[str, RepositoryFile | None] = {}
    for one in EDITS.values():
        edits = {**one, **edits}
    for clash in ("src/plain.py/now/below.py", "folder", "folder/inside.txt", "new/deep/file.py"):
        edits.pop(clash, None)
    patch = make_patch(COMMIT, edits).unwrap()
    clone = cloned(repository, tmp_path / "clone")
    apply(clone, patch)
    assert worktree(clone) == after(COMMIT, edits)
    apply(clone, patch, "-R")
    assert worktree(clone) == COMMIT


def test_patch__rename__is_shown_as_one() -> None:
    """Whoever reads a patch sees that a file moved, not that it went."""
    patch = make_patch(COMMIT, EDITS["renamed"]).unwrap().decode()
    assert "rename from src/rename me.py\nrename to lib/renamed to.py\n" in patch
    assert "-line 7\n+line seven\n" in patch
    assert patch.count("\n-") == 2  # the file's name and the line


def test_patch__nothing_edited__is_empty() -> None:
    """No edits, no patch."""
    assert make_patch(COMMIT, {}).unwrap() == b""


def test_patch__same_edits__same_bytes() -> None:
    """The order of edits and of the commit's files does not matter."""
    edits = {**EDITS["text"], **EDITS["renamed"], **EDITS["odd names"]}
    backwards = dict(reversed(edits.items()))
    assert make_patch(COMMIT, edits) == make_patch(dict(reversed(COMMIT.items())), backwards)


def test_patch__user_configuration__has_no_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    """Prefixes, colours, external diffs, attributes and a repository around change no byte."""
    edits = {**EDITS["text"], **EDITS["crlf kept"], **EDITS["renamed"], **EDITS["odd names"], **EDITS["binary changed"]}
    plain = make_patch(COMMIT, edits).unwrap()
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/attributes").write_text("* diff=mine -text\n*.py binary\n")
    (home / ".gitconfig").write_text(
        f"[diff]\nnoprefix = true\nexternal = {home}/program\nalgorithm = patience\ncontext = 9\nrenames = false\n"
        f"mnemonicPrefix = true\norderFile = {home}/order\n[color]\nui = always\n[core]\nautocrlf = true\neol = crlf\n"
        f'abbrev = 4\n[init]\ndefaultObjectFormat = sha256\n[diff "mine"]\ntextconv = {home}/program\n'
    )
    (home / "program").write_text(f"#!/bin/sh\ntouch {home}/ran\n")
    (home / "program").chmod(0o755)
    for name, value in {
        "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "GIT_DIFF_OPTS": "-u9", "TMPDIR": str(repository),
        "GIT_EXTERNAL_DIFF": str(home / "program"), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.noprefix",
        "GIT_CONFIG_VALUE_0": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert make_patch(COMMIT, edits).unwrap() == plain
    assert not (home / "ran").exists()


def test_patch__repository_with_sha256_ids__takes_it(tmp_path: Path) -> None:
    """A binary patch names objects as the repository does."""
    root = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(root)], check=True)
    lay_out(root, COMMIT)
    commit_all(root, "first").unwrap()
    apply(root, make_patch(COMMIT, EDITS["binary changed"], sha256_ids=True).unwrap(), "--index")
    assert worktree(root) == after(COMMIT, EDITS["binary changed"])


def test_patch__temporary_folder_missing__is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without room or without Git gives a problem, not a traceback."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert make_patch(COMMIT, EDITS["text"]).failure().code == "BK710"


NAMES = st.sampled_from(["a", "b c", "d/e", "d/é.txt", 'q"', "x\\y", "tab\t"])
CONTENTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"\r\n", b"\n", b" \n", b"\x00", b"\xff\xfe", b"end"]), max_size=6)
FILES = st.builds(lambda parts, mode: binary(b"".join(parts), mode), CONTENTS, st.sampled_from(["100644", "100755"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=12)
@given(commit=st.dictionaries(NAMES, FILES, min_size=1), candidate=st.dictionaries(NAMES, FILES))
def test_patch__any_edits__lead_to_the_candidate(
    tmp_path_factory: pytest.TempPathFactory, commit: Files, candidate: Files
) -> None:
    """Whatever differs between two trees, the patch carries it."""
    root = made(tmp_path_factory.mktemp("any"), commit)
    edits = {path: candidate.get(path) for path in commit.keys() | candidate.keys()}
    real = {path: file for path, file in edits.items() if file != commit.get(path)}
    patch = make_patch(commit, real).unwrap()
    assert bool(patch) == bool(real)
    if patch:
        apply(root, patch, "--index")
    assert worktree(root) == candidate
