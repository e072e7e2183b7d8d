"""What a process does that was confined for a trial: it tries to escape, harmlessly, and says what it could do.

Run as a script in an isolated interpreter, standard library only: `trial.py INSIDE OUTSIDE SOCKET ABSTRACT PORT`, a
folder that it may write, a file beside that folder, and three sockets that listen, one in the working directory, an
abstract one and one of the machine, none of which it must reach. Prints a JSON list of its escapes.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Callable


def main() -> None:
    """Try everything, and print what worked although it must not; fails when what must work does not."""
    inside, outside, listening, abstract, port = sys.argv[1:]
    with open(os.path.join(inside, "written"), "w", encoding="utf-8") as file:
        file.write("this much is allowed")
    with open(os.devnull, "w", encoding="utf-8") as file:
        file.write("and this")
    attempts: dict[str, Callable[[], object]] = {
        "write outside": lambda: open(outside, "ab").close(),
        "make a file outside": lambda: open(f"{outside}.new", "xb").close(),
        "link a file from outside": lambda: os.link(outside, os.path.join(inside, "linked")),
        "change a mode outside": lambda: os.chmod(outside, 0o600),
        "move a file from outside": lambda: os.rename(outside, os.path.join(inside, "moved")),
        "reach the network (TCP)": lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=5),
        "open a socket (UDP)": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "reach a socket in a folder": lambda: _connect(listening),
        "reach an abstract socket": lambda: _connect(f"\0{abstract}"),
        "signal the process that started it": lambda: os.kill(os.getppid(), 0),
        "look into the process that started it": lambda: os.readlink(f"/proc/{os.getppid()}/cwd"),
    }
    escaped = []
    for name, attempt in attempts.items():
        with contextlib.suppress(OSError):
            attempt()
            escaped.append(name)
    print(json.dumps(escaped))


def _connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address)


if __name__ == "__main__":
    main()
