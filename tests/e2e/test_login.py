"""Logging in with a real process: it can be interrupted, and what it keeps is for its owner alone."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

POLL = "/v1/web/auth/cli/poll"


def start(hosted: Any, folder: Path, *argv: str) -> "subprocess.Popen[str]":
    """The command, with a home of its own and without a browser."""
    environ = {"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "beaker.cli", "--base-url", hosted.url, *argv]
    return subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, umask=0
    )


def test_login__interrupted__ends_at_once_and_keeps_nothing(hosted: Any, tmp_path: Path) -> None:
    """Exit code 130 without a traceback; the code was shown before."""
    hosted.answer("POST", POLL, 200, {"status": "pending"})
    process = start(hosted, tmp_path, "login")
    assert process.stdout is not None
    while "code: ABCD-1234" not in (line := process.stdout.readline()):
        assert line, "the code was not shown"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert not (tmp_path / ".beaker").exists()


def test_login__approved__is_kept_and_used_by_the_next_command(hosted: Any, tmp_path: Path) -> None:
    """The file is closed to others whatever the umask says; then commands need no key."""
    hosted.answer("POST", POLL, 200, {"status": "pending"}, times=2)
    hosted.answer("POST", POLL, 503, {"detail": "later"}, times=1)
    process = start(hosted, tmp_path, "login")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    file = tmp_path / ".beaker/credentials.json"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert json.loads(file.read_text())["token"] == hosted.session
    assert hosted.session not in out + err
    listed = start(hosted, tmp_path, "agent", "list", "--json")
    out, err = listed.communicate(timeout=60)
    assert (listed.returncode, json.loads(out)["agents"][0]["key"]) == (0, "inv-agent"), err
