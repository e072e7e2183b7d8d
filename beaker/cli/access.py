"""Who can run each command: what it has to show to the service that it asks."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

Access: TypeAlias = Literal["offline", "nobody", "session", "either", "optional"]

WHO: Mapping[Access, str] = {
    "offline": "anybody, offline: it asks no service",
    "nobody": "anybody: whoever has no login yet",
    "session": "a login session (`beaker login`); an API key is refused",
    "either": "a login session or an API key; neither with `--local`",
    "optional": "anybody; where there is something to ask a service, a login session or an API key",
}
"""What each kind of access means."""

ACCESS: Mapping[str, Access] = {
    "run smoke": "optional",
    "run trigger": "either",
    "run status": "either",
    "run list": "either",
    "run cancel": "either",
    "run debug": "either",
    "run resume": "either",
    "run pull": "either",
    "run candidates": "either",
    "run eval": "optional",
    "run report": "either",
    "candidate show": "either",
    "candidate download": "either",
    "candidate branch": "either",
    "candidate pull-request": "either",
    "dataset upload": "either",
    "dataset list": "either",
    "dataset show": "either",
    "dataset promote": "either",
    "changes show": "offline",
    "changes apply": "offline",
    "changes revert": "offline",
    "agent list": "either",
    "agent create": "either",
    "agent setup": "session",
    "agent edit": "session",
    "agent env list": "either",
    "agent env check": "either",
    "agent env set": "either",
    "agent env delete": "either",
    "model list": "either",
    "login": "nobody",
    "logout": "session",
    "auth status": "session",
    "github status": "session",
    "github connect": "session",
    "github branches": "session",
    "serve": "offline",
    "init": "offline",
    "migrate": "offline",
    "onboarding status": "optional",
    "doctor": "optional",
    "demo": "offline",
    "trace instrument": "offline",
    "trace doctor": "offline",
    "trace inspect": "offline",
    "config check": "offline",
    "config show": "offline",
    "skills list": "offline",
    "skills show": "offline",
    "skills install": "offline",
    "schema": "offline",
    "explain": "offline",
    "help": "offline",
    "completion": "offline",
}
"""Command -> what it has to show. `github connect` logs in first where nobody is; `logout` then does nothing."""


def takes_key(command: str) -> bool:
    """Whether a command can be given an API key."""
    return ACCESS[command] in ("either", "optional")
