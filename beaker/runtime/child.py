"""A child process: `python -m beaker.runtime.child KIND COMMANDS REPLIES LIFE [BYTE_CODE]`; not for use by hand.

KIND is `setup`, `rollout` or `scorer`; COMMANDS, REPLIES and LIFE are inherited descriptors; BYTE_CODE is a folder for
the byte code of what customer code imports.
"""

import asyncio
import contextlib
import faulthandler
import io
import os
import resource
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path

from beaker.core.convert import to_json
from beaker.runtime.channel import Channel, flush_output
from beaker.runtime.deprecations import report_deprecations
from beaker.runtime.failures import stage_problem
from beaker.runtime.importing import load_own_names

_SERVERS = {
    "setup": "beaker.runtime.setup_process",
    "rollout": "beaker.runtime.rollout_process",
    "scorer": "beaker.runtime.scorer_process",
}

_ENDED_HINT = "code must not stop the event loop, cancel tasks that it did not create, or call sys.exit() in a task"

Serve = Callable[[Channel], Awaitable[None]]


def main() -> int:
    """Serve requests until the host says `close` or `stop`; the exit status."""
    kind, commands, replies, life, *byte_code = sys.argv[1:]
    channel = Channel(int(commands), int(replies), int(life))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    _settle_streams()
    del sys.argv[1:]
    report_deprecations(channel, Path.cwd())
    serve: Serve = import_module(_SERVERS[kind]).serve
    load_own_names()
    for folder in byte_code:  # from here on: what Beaker itself needs was compiled when it was installed
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = folder
    try:
        asyncio.run(_served(serve, channel))
    except BaseException as error:
        # Only what escapes a task of customer code, such as `sys.exit()` in a background task, gets here.
        doing = f"the process was ended during {channel.during}" if channel.during else "the process was ended"
        channel.last_words([to_json(stage_problem("BK551", "process", error, doing=doing, hint=_ENDED_HINT))])
        flush_output()
        os._exit(1)
    return 0


async def _served(serve: Serve, channel: Channel) -> None:
    await serve(channel)


def _settle_streams() -> None:
    """Text that customer code prints never fails to be encoded, and arrives line by line even before a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)


if __name__ == "__main__":
    sys.exit(main())
