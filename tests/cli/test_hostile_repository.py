"""A cloned repository that wants more than to be looked at: its variables, its configuration, its Git settings and its
links try to send requests elsewhere, to start programs, and to reach out of the checkout. None of it happens.
"""

import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CONFIG = """\
integrations:
  app:
    entrypoint: m:i
    required_env: [APP_TOKEN]
    agent_key: inv-agent
config_defaults:
  local_dataset_path: dataset
  dataset_ref: invoices
  harness_optimization: {command: ['true']}
"""

PROGRAM_VARIABLES = (
    "BROWSER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "EDITOR", "SHELL",
)  # fmt: skip
STEERED = ("PATH", "PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD", "HOME", "BEAKER_LOCAL_DIR", "GIT_DIR", "TMPDIR")

COMMANDS = [
    ("config", "check"),
    ("config", "show", "--origin"),
    ("auth", "status"),
    ("agent", "list"),
    ("agent", "setup", "inv-agent"),
    ("agent", "env", "list"),
    ("agent", "env", "check"),
    ("github", "status"),
    ("github", "branches"),
    ("github", "connect", "--timeout", "1"),
    ("model", "list"),
    ("onboarding", "status"),
    ("doctor",),
    ("dataset", "list"),
    ("dataset", "upload", "dataset", "--name", "d", "--dry-run"),
    ("run", "list"),
    ("run", "trigger", "--dry-run"),
    ("run", "trigger"),
    ("login", "--timeout", "1"),
    ("migrate",),
    ("init", "--no-verify"),
    ("init", "--no-verify", "--integration-id", "second"),
    ("logout",),
]
LOCAL_COMMANDS = [
    ("--local", "run", "list"),
    ("--local", "config", "check"),
    ("--local", "onboarding", "status"),
    ("--local", "dataset", "upload", "dataset", "--name", "d", "--no-check"),
    ("--local", "run", "trigger", "--dry-run"),
    ("--local", "run", "trigger", "--dry-run", "--allow-dirty"),
]


class Trap:
    """What the repository would reach: a server that must hear nothing, a program that must not run, and a folder of
    the user's that must stay as it is."""

    def __init__(self, folder: Path) -> None:
        self.ran = folder / "ran"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.ran}\nexit 0\n')
        self.program.chmod(0o755)
        self.private = folder / "private"
        self.private.mkdir()
        (self.private / "diary.txt").write_text("dear diary\n")
        (self.private / "beaker.yaml").write_text("integrations:\n  app: {entrypoint: m:i}\n")
        self.before = self.snapshot()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.setblocking(False)
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"

    def snapshot(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.private.rglob("*") if path.is_file()}

    def caught(self) -> list[str]:
        """Everything that happened and must not."""
        found = [] if not self.ran.exists() else [f"ran {line}" for line in self.ran.read_text().splitlines()]
        if self.snapshot() != self.before:
            found.append(f"wrote {sorted(set(self.snapshot()) ^ set(self.before)) or 'over a file'}")
        try:
            self.server.accept()[0].close()
            found.append("asked the server")
        except BlockingIOError:
            pass
        return found


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Trap]:
    folder = tmp_path / "trap"
    folder.mkdir()
    made = Trap(folder)
    yield made
    made.server.close()


@pytest.fixture
def repository(tmp_path: Path, trap: Trap, git: Callable[..., str]) -> Path:
    """The repository, everything in place but what a single test adds."""
    root = tmp_path / "repo"
    (root / ".beaker").mkdir(parents=True)
    (root / "dataset").mkdir()
    for split in ("train", "test"):
        (root / "dataset" / f"{split}.jsonl").write_text(f'{{"id": "{split}"}}\n')
    (root / "m.py").write_text("i = 1\n")
    (root / "pyproject.toml").write_text('[project]\nname = "app"\n')
    (root / ".beaker" / "beaker.yaml").write_text(CONFIG)
    lines = [f"{name}={trap.program}" for name in PROGRAM_VARIABLES]
    lines += [f"{name}={trap.private}" for name in STEERED]
    lines += [f"{name}={trap.url}" for name in ("BEAKER_API_BASE_URL", "BEAKER_APP_BASE_URL", "HTTPS_PROXY")]
    lines += [f"{name}={trap.url}" for name in ("http_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY")]
    lines += ["BEAKER_CONFIG_FILE=elsewhere.yaml", "BEAKER_API_KEY=theirs", "SSL_CERT_FILE=/dev/null"]
    (root / ".beaker" / ".env").write_text("\n".join(lines) + "\n")
    # Modules and programs that lie where somebody might look first.
    for name in (
        "yaml",
        "attrs",
        "attr",
        "httpx",
        "cattrs",
        "returns",
        "sitecustomize",
        "json",
        "webbrowser",
        "beaker",
    ):
        (root / f"{name}.py").write_text(f"import os; os.system('{trap.program} {name}')\n")
    for name in ("git", "python", "python3", "uv", "poetry", "xdg-open"):
        (root / name).symlink_to(trap.program)
    for name in ("python", "python3", "pip"):
        (root / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
        (root / ".venv" / "bin" / name).symlink_to(trap.program)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git("init", "-q", "-b", "main", cwd=root)
    git("add", "-Af", cwd=root)
    git("commit", "-qm", "x", cwd=root)
    hostile_settings(root, trap)
    (root / "m.py").write_text("i = 2\n")
    return root


def hostile_settings(root: Path, trap: Trap) -> None:
    """Settings of Git that name programs, servers and folders."""
    program = trap.program
    (root / ".git" / "evil").write_text(f"[core]\n\tfsmonitor = {program}\n")
    with (root / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {program}\n\tsshCommand = {program}\n\tpager = {program}\n\teditor = {program}\n"
            f"\thooksPath = {trap.private.parent}/hooks\n\tgitProxy = {program}\n\taskPass = {program}\n"
            f"\tworktree = {trap.private}\n\texcludesFile = {trap.private}/diary.txt\n"
            f'[filter "evil"]\n\tclean = {program} clean\n\tsmudge = {program} smudge\n\tprocess = {program}\n'
            f"\trequired = true\n"
            f'[diff "evil"]\n\tcommand = {program}\n\ttextconv = {program}\n[diff]\n\texternal = {program}\n'
            f'[merge "evil"]\n\tdriver = {program}\n[gpg]\n\tprogram = {program}\n[commit]\n\tgpgSign = true\n'
            f"[credential]\n\thelper = !{program}\n[sequence]\n\teditor = {program}\n[protocol]\n\tallow = always\n"
            f'[protocol "ext"]\n\tallow = always\n[alias]\n\tstatus = !{program}\n\tls-files = !{program}\n'
            f'[remote "origin"]\n\turl = ext::{program} %S\n\tuploadpack = {program}\n\treceivepack = {program}\n'
            f'[remote "github"]\n\turl = https://github.com/acme/invoices.git\n'
            f'[url "{trap.url}/"]\n\tinsteadOf = https://github.com/\n'
            f"[http]\n\tproxy = {trap.url}\n[include]\n\tpath = evil\n[extensions]\n\tpartialClone = origin\n"
        )
    hooks = trap.private.parent / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction", "pre-push"):
        (hooks / name).symlink_to(program)
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        (root / ".git" / "hooks" / name).symlink_to(program)


@pytest.fixture
def commands(beaker: Callable[..., Any], hosted: Any, tmp_path: Path, repository: Path) -> Callable[..., Any]:
    """Run a command in the repository, as a user of `hosted` who is logged in, without a browser of theirs."""
    home = tmp_path / "home"
    (home / ".beaker").mkdir(parents=True)
    login = {"base_url": hosted.url, "expires_at": "2099-01-01T00:00:00Z", "token": hosted.session, "saved_at": ""}
    (home / ".beaker" / "credentials.json").write_text(json.dumps(login))
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "BEAKER_API_BASE_URL": hosted.url, "DISPLAY": ""}

    def call(*argv: str) -> Any:
        return beaker(*argv, cwd=repository, environ=environ, sleep=lambda _: None)

    return call


def test_trap__git_as_it_is__falls_into_it(trap: Trap, repository: Path) -> None:
    """The trap is one: what a person types in such a repository starts its programs."""
    subprocess.run(["git", "--work-tree=.", "status"], cwd=repository, check=False, capture_output=True)
    assert trap.caught()


def test_commands__hostile_settings_and_variables__reach_nothing(
    commands: Callable[..., Any], trap: Trap, hosted: Any
) -> None:
    """Whatever a command does in such a repository, no program of it runs, nobody else is asked, and what lies outside
    stays as it is; the credential travels to the API that the user named, and there alone."""
    for argv in (*LOCAL_COMMANDS, *COMMANDS):
        done = commands(*argv)
        assert trap.caught() == [], argv
        assert done.code in (0, 1, 2, 3), argv
        assert "BK949" not in done.err, argv
        assert "dear diary" not in done.out + done.err, argv
    assert {request.headers.get("authorization") for request in hosted.requests} <= {f"Bearer {hosted.session}", None}
    assert len(hosted.requests) > 10


def test_configuration__naming_an_api__is_not_followed(
    commands: Callable[..., Any], repository: Path, trap: Trap
) -> None:
    """A file of a repository decides at most that everything stays on this machine."""
    config = repository / ".beaker" / "beaker.yaml"
    for address in ("api: {url}", "base_url: {url}\napi: 'https://evil.example'", "api: 'local '\nbase-url: {url}"):
        config.write_text(f"{CONFIG}{address.format(url=trap.url)}\n")
        for argv in (("run", "list"), ("config", "show"), ("dataset", "list"), ("--local", "run", "list")):
            done = commands(*argv)
            assert trap.caught() == [], (address, argv)
            assert done.code in (0, 2)


SETUP, INIT = ("agent", "setup", "inv-agent"), ("init", "--no-verify", "--integration-id", "second")
UPLOAD, RUNS = ("dataset", "upload", "dataset", "--name", "d", "--no-check"), ("--local", "run", "list")
SET = ("--local", "agent", "env", "set", "A", "--value", "v")
LINKS: dict[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    (".beaker/beaker.yaml", "beaker.yaml"): (SETUP, INIT, RUNS),
    (".beaker/.env", "diary.txt"): (("run", "list"), ("config", "show"), SETUP),
    (".beaker/.gitignore", "ignored.txt"): (SETUP, INIT),
    (".beaker/.gitignore", "diary.txt"): (SETUP, INIT),
    (".beaker/local", ""): (RUNS, SET),
    (".beaker/beaker_integration.py", "new.py"): (INIT,),
    ("dataset/train.jsonl", "diary.txt"): (UPLOAD, ("--local", *UPLOAD)),
    ("dataset", ""): (UPLOAD,),
    (".beaker", ""): (SETUP, INIT, RUNS, SET),
}
"""A link and where it leads below the user's folder, with the commands that would like to write or send there."""


def test_commands__links_out_of_the_repository__are_not_written_through(
    commands: Callable[..., Any], repository: Path, trap: Trap, hosted: Any
) -> None:
    """Neither a file nor a folder outside is made or changed, and nothing of it is sent."""
    for (link, target), tried in LINKS.items():
        path, kept = repository / link, repository / "kept"
        if path.exists():
            path.rename(kept)
        path.symlink_to(trap.private / target)
        for argv in tried:
            done = commands(*argv)
            assert trap.caught() == [], (link, argv)
            assert "BK949" not in done.err
        path.unlink()
        if kept.exists():
            kept.rename(path)
        (repository / ".beaker" / "beaker.yaml").write_text(CONFIG)
    assert "dear diary" not in repr([request.body for request in hosted.requests])


def test_configuration__folders_that_lead_out__are_refused(
    commands: Callable[..., Any], repository: Path, trap: Trap
) -> None:
    """Code is looked for inside the checkout, links followed."""
    (repository / "out").symlink_to(trap.private)
    config = repository / ".beaker" / "beaker.yaml"
    for keys in ("source_dir: ..", "source_dir: out", "package_import_root: ../..", "package_import_root: out"):
        config.write_text(CONFIG.replace("    agent_key", f"    {keys}\n    agent_key"))
        assert commands("config", "check").code == 1, keys
        assert commands("run", "smoke").code == 2, keys
        assert trap.caught() == []
