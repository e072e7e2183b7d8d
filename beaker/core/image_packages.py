"""Packages that an image build may install: the text rules for `pip_install` and `apt_install` entries.

A run on this machine installs nothing; the rules hold everywhere, so that a configuration means the same everywhere.
"""

import re

_APT = re.compile(r"[a-z0-9][a-z0-9.+-]*(=[A-Za-z0-9.+:~-]+)?\Z")
_OWN = {"beaker-sdk", "beaker-runtime"}
_FORBIDDEN = ";|&`$\n\r\t"
_URL = re.compile(r"(https?|ftp|file)://|(git|hg|svn|bzr)\+|ssh:", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def pip_requirement_fault(text: str) -> str | None:
    """Why `text` may not stand in `pip_install`, `None` when it may."""
    if not text.strip():
        return "is empty"
    if found := sorted({character for character in text if character in _FORBIDDEN}):
        return f"may not hold {found[0]!r} (no environment markers, no shell)"
    if text.startswith("-"):
        return "may not be an option of pip"
    if _URL.match(text):
        return "may not be a bare URL; write NAME @ https://..."
    if " " in text and " @ " not in text:
        return "may not hold blanks, except around the @ of NAME @ https://..."
    if "@" in text:
        name, _, url = text.partition("@")
        if not name.strip() or not url.strip().lower().startswith("https://"):
            return "may only name a URL as NAME @ https://..."
    named = _NAME.match(text)
    if named is not None and re.sub(r"[-_.]+", "-", named[0]).lower().rstrip("-") in _OWN:
        return "may not install Beaker itself; the platform brings its own"
    return None


def apt_package_fault(text: str) -> str | None:
    """Why `text` may not stand in `apt_install`, `None` when it may."""
    return None if _APT.match(text) else "must be a Debian package name, optionally NAME=VERSION"
