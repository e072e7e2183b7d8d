"""What a server keeps to itself: the token that its callers show, and the key that signs its addresses."""

import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from beaker.core.problems import Problem, Refused
from beaker.files.atomic import os_problem, write_text
from beaker.files.reading import read_regular

TOKEN_PREFIX = "bkr_serve_"
SHORTEST_TOKEN, LONGEST_TOKEN = 16, 512

KEY_BYTES = 32
_KEY = re.compile(rb"[0-9a-f]{%d}" % (2 * KEY_BYTES))


def read_token(path: Path) -> str:
    """The token in the file `path`; a new one is written there, readable by its owner only, when there is no file.

    Raises `Refused`: BK745 for a token that is too short or could stand in no header, or a file that others may write;
    BK701 when it can be neither read nor written.
    """
    try:
        try:
            text = read_regular(path)
            _check_mode(path, "token")
        except FileNotFoundError:
            token = TOKEN_PREFIX + secrets.token_urlsafe(32)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_text(path, f"{token}\n", mode=0o600)
            return token
    except OSError as error:
        raise Refused(os_problem(error, "keep the token of the server", path)) from error
    # Not shown, whatever is wrong with it: it is a secret.
    token = text.decode("utf-8", "replace").strip()
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not token.isascii() or not token.isprintable():
        limits = f"{SHORTEST_TOKEN} to {LONGEST_TOKEN} printable ASCII characters without blanks"
        hint = "write a random one, or remove the file: the server makes one then"
        raise Refused(Problem("BK745", f"the token must have {limits}", str(path), hint))
    if " " in token:
        raise Refused(Problem("BK745", "the token must not hold blanks", str(path), "the file holds it alone"))
    return token


def _check_mode(path: Path, what: str) -> None:
    if os.stat(path).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(Problem("BK745", f"others may write the {what} file", str(path), f"chmod 600 {path}"))


def token_is_open(path: Path) -> bool:
    """Whether other users of this machine may read the token file."""
    return bool(os.stat(path).st_mode & (stat.S_IRGRP | stat.S_IROTH))


def signing_key(path: Path, say: Callable[[str], None]) -> bytes:
    """The key in the file `path`; a new one is made when there is none, and when it is not as one is made: another
    key, even an empty one, would sign what anybody can sign. `say` is told so.

    `Refused`: BK745 for a file that others may write, BK701 when it can be neither read nor written.
    """
    try:
        try:
            text = read_regular(path)
            _check_mode(path, "key")
        except FileNotFoundError:
            text = None
        if text is not None and _KEY.fullmatch(text):
            return bytes.fromhex(text.decode("ascii"))
        if text is not None:
            say("the signing key was damaged, and is made anew: addresses that were given out are good no longer")
        key = secrets.token_bytes(KEY_BYTES)
        write_text(path, key.hex(), mode=0o600)
        return key
    except OSError as error:
        raise Refused(os_problem(error, "keep the signing key of the server", path)) from error
