"""Opening a page in the browser of whoever sits here, without letting it near our streams."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SECONDS = 20.0
"""A browser that has not taken the page by then is one that runs in the terminal, and is not ours to wait for."""

_PROGRAM = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_page(url: str, environ: Mapping[str, str]) -> bool:
    """Whether a browser took the page; `BROWSER` of `environ` names one.

    It is asked in a process of its own, since browsers print, from a folder that holds nothing of anybody's. Where
    there is neither a screen nor a `BROWSER`, only browsers of a terminal could be found, and none is asked.
    """
    if not environ.get("BROWSER") and not _has_screen(environ):
        return False
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _PROGRAM, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path(sys.executable).anchor,
            env=dict(environ),
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _has_screen(environ: Mapping[str, str]) -> bool:
    return sys.platform in ("darwin", "win32") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
