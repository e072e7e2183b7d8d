"""`beaker serve` before it serves: what it refuses, and the page about it."""

import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.parser import build_parser
from beaker.service.server import Serving, Settings

PAGE = Path(__file__).parents[2] / "docs" / "self-hosting.md"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a configuration."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations: {shop: {entrypoint: 'a:b', agent_key: shop}}\n")
    return tmp_path


@pytest.mark.parametrize(
    "argv",
    [("--base-url", "http://x", "serve"), ("--api-key", "k", "serve"), ("serve", "--local"), ("serve", "--no-resume")],
)
def test_serve__options_of_callers__are_refused(
    beaker: Callable[..., Any], project: Path, argv: tuple[str, ...]
) -> None:
    """What says where to ask has no meaning for the one that answers."""
    done = beaker(*argv)
    assert (done.code, "BK904" in done.err) == (2, True)


def test_serve__without_a_project__is_refused(beaker: Callable[..., Any]) -> None:
    """There is nothing to serve."""
    done = beaker("serve")
    assert (done.code, "BK720" in done.err) == (2, True)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "beaker.example", "", "127.0.0.1.example"])
def test_serve__beyond_this_machine__needs_to_be_allowed(beaker: Callable[..., Any], project: Path, host: str) -> None:
    """Refused with the option that allows it, before anything is made or listened at."""
    done = beaker("serve", "--host", host, "--port", "0")
    assert (done.code, "BK746" in done.err, "--insecure-http" in done.err) == (2, True, True)
    assert not (project / ".beaker" / "local").exists()


@pytest.mark.parametrize("url", ["", "local", "ftp://x", "http://u:p@x", "https://x/?a=b", "beaker.example"])
def test_serve__public_url__must_be_one(beaker: Callable[..., Any], project: Path, url: str) -> None:
    """Addresses are made from it, so it must lead somewhere."""
    done = beaker("serve", "--public-url", url)
    assert (done.code, "BK746" in done.err, "--public-url" in done.err) == (2, True, True)
    assert "u:p" not in done.err


def test_serve__taken_port__is_said(beaker: Callable[..., Any], project: Path) -> None:
    """Another program listens there: which port, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = beaker("serve", "--port", port)
    assert (done.code, "BK746" in done.err, port in done.err, "--port" in done.err) == (2, True, True, True)


@pytest.mark.parametrize(
    ("text", "mode"), [("short", 0o600), ("x" * 600, 0o600), ("with a blank in it", 0o600), ("ключ" * 8, 0o600),
                       ("long-enough-for-a-token", 0o622), ("", 0o600)],
)  # fmt: skip
def test_serve__token_that_cannot_serve__is_refused_unseen(
    beaker: Callable[..., Any], project: Path, text: str, mode: int
) -> None:
    """Too short, too long, impossible in a header, or writable by others; the token itself is never shown."""
    file = project / "token"
    file.write_text(text)
    file.chmod(mode)
    done = beaker("serve", "--port", "0", "--token-file", "token")
    assert (done.code, "BK745" in done.err) == (2, True)
    assert not text or text not in done.err
    assert file.read_text() == text


def test_serve__without_the_extra__says_how_to_get_it(
    beaker: Callable[..., Any], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing, and which extra brings it."""
    for name in [name for name in sys.modules if name.startswith(("uvicorn", "beaker.service.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = beaker("serve", "--port", "0")
    assert (done.code, "BK747" in done.err, "extra `serve`" in done.err) == (2, True, True)


def test_page__options_and_first_words__are_those_of_the_command(beaker: Callable[..., Any]) -> None:
    """The table lists every option; the session shows what is printed."""
    from io import StringIO

    from beaker.cli.serve import _show
    from beaker.cli.shell import Io

    page = PAGE.read_text(encoding="utf-8")
    commands = next(action for action in build_parser()._actions if isinstance(action.choices, dict))
    own = {
        option
        for action in commands.choices["serve"]._actions  # type: ignore[index]  # a dict, as was just asked
        for option in action.option_strings
        if action.metavar
    }
    assert set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE)) == own
    out = StringIO()
    io = Io(stdout=out, stderr=StringIO(), stdin=StringIO(), environ={}, cwd=Path("/"))
    state = Path("/home/me/shop/.beaker/local")
    serving = Serving("http://127.0.0.1:8787", state / "server" / "token", state, False)
    _show(serving, Settings(root=Path("/home/me/shop"), config_file=".beaker/beaker.yaml"), "local", io)
    assert out.getvalue() in page


def test_log__that_nobody_takes__stops_nothing() -> None:
    """A reader that has gone, or a full disk, must not end what looks after the runs."""
    from io import StringIO

    from beaker.cli.serve import _log
    from beaker.cli.shell import Io

    class Full(StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    _log("a line", Io(stdout=StringIO(), stderr=Full(), stdin=StringIO(), environ={}, cwd=Path("/")))
