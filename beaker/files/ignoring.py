"""`.beaker/.gitignore`, which keeps secrets and the state of runs out of commits."""

import re

IGNORED = (".env", ".env.*", "local/", "traces/", "__pycache__/")
"""What is never committed below `.beaker`."""

NEEDED = (".env", "local/")
"""Lines that a file which exists must have: the secrets of a project, and the state of its runs."""


def completed_ignores(data: bytes | None) -> bytes | None:
    """The content that `.beaker/.gitignore` should have, `None` when it has it; `data` is what it holds now, `None`
    when it does not exist. Lines are added at the end, in the file's own line ends."""
    if data is None:
        return "".join(f"{line}\n" for line in IGNORED).encode()
    known = {line.strip() for line in re.split(rb"\r\n|\r|\n", data)}
    missing = [line for line in NEEDED if line.encode() not in known and b"*" not in known]
    if not missing:
        return None
    end = b"\r\n" if b"\r\n" in data else b"\n"
    start = data if not data or data.endswith(b"\n") else data + end
    return start + b"".join(line.encode() + end for line in missing)
