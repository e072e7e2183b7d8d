"""Packages that an image build may install: the text rules for `pip_install` and `apt_install` entries.

A run on this machine installs nothing; the rules hold everywhere, so that a configuration means the same everywhere.
"""

import re

_APT = re.compile(r"[a-z0-9][a-z0-9.+-]*(=[A-Za-z0-9.+:~-]+)?\Z")
_OWN = {"beaker-sdk", "beaker-runtime"}
_FORBIDDEN = ";|&`$\n\r\t"
_URL = re.compile(r"(https?|ftp|file|ssh)://|(git|hg|svn|bzr)\+|ssh:", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ARCHIVE = re.compile(r"\.(whl|zip|tar|tgz|tbz|tar\.[a-z0-9]+)(\[[^\]]*\])?\Z", re.IGNORECASE)


def pip_requirement_fault(text: str) -> str | None:
    """Why `text` may not stand in `pip_install`, `None` when it may. Blanks around it do not count."""
    entry = text.strip()
    if not entry:
        return "is empty"
    named = _NAME.match(entry)
    if named is not None and re.sub(r"[-_.]+", "-", named[0]).lower().rstrip("-") in _OWN:
        return "may not install Beaker itself; the platform brings its own"
    if entry.startswith("-"):
        return "may not be an option of pip"
    if found := sorted({character for character in entry if character in _FORBIDDEN}):
        return f"may not hold {found[0]!r} (no environment markers, no shell)"
    if _URL.match(entry):
        return "may not be a bare URL; write NAME @ https://..."
    name, at, url = (part.strip() for part in entry.partition("@"))
    if at:
        if not name or not url.lower().startswith("https://"):
            return "may only name a URL as NAME @ https://..."
        # What follows a blank, pip would read as an option of its own.
        if _blank(url) or _blank(name) or (_blank(entry) and " @ " not in entry):
            return "may not hold blanks, except around the @ of NAME @ https://..."
    elif _blank(entry):
        return "may not hold blanks; write NAME>=2 without any"
    if named is None or "/" in name or (not at and _ARCHIVE.search(name)):
        return "may not be a path; the build installs by name, or from NAME @ https://..."
    return None


def apt_package_fault(text: str) -> str | None:
    """Why `text` may not stand in `apt_install`, `None` when it may."""
    return None if _APT.match(text) else "must be a Debian package name, optionally NAME=VERSION"


def _blank(text: str) -> bool:
    return any(character.isspace() for character in text)
