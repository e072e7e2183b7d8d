"""The `reflection` setting: which model is asked, where, and how much it may read and write."""

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from beaker.core.environment import ENVIRONMENT_NAME_PATTERN
from beaker.core.options import Homes, OptionsRefused, Rule, nested, number, shown, some_text, whole_number
from beaker.core.problems import Problem
from beaker.core.values import value

DEFAULT_CONTEXT_TOKENS = 16_384
DEFAULT_OUTPUT_TOKENS = 4_096


@value(kw_only=True)
class Reflection:
    """An OpenAI-compatible chat endpoint. `base_url` is what `/chat/completions` is appended to.

    `api_key_env` names the variable of the caller's environment that holds the key (`None`: no key is sent).
    `temperature` is sent when it is set. `max_output_tokens` bounds an answer, `context_tokens` prompt and answer
    together. What is used is counted, and priced, as `provider:model`.
    """

    base_url: str
    model: str
    api_key_env: str | None = None
    temperature: float | None = None
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    provider: str = "openai"

    @property
    def counted_as(self) -> str:
        """The name of the model in usage and prices."""
        return f"{self.provider}:{self.model}"


def is_loopback(base_url: str) -> bool:
    """Whether a URL leads to this machine, so that nobody on a network sees what is sent."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def reflection_rule(code: str, *, homes: Homes = dict) -> Rule:
    """The rule of the setting, whose problems have `code`; `homes` as in `read_options`."""

    def build(values: dict[str, Any]) -> Reflection:
        missing = [name for name in ("base_url", "model") if name not in values]
        if missing:
            raise OptionsRefused(*(Problem(code, "is missing", f".{name}", _HINTS[name]) for name in missing))
        return Reflection(**values)

    return nested(_RULES, build, code=code, homes=homes)


_HINTS = {
    "base_url": "write the address that /chat/completions is appended to, as in https://api.openai.com/v1",
    "model": "write the model's name as the endpoint knows it",
}


def _base_url(given: object) -> str:
    url = some_text(given).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise ValueError(f"must be an http or https URL, not {shown(given)}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not hold a user name or password; name the variable with the key in api_key_env")
    if parts.query or parts.fragment:
        raise ValueError("must not have a query or fragment: /chat/completions is appended to it")
    return url.removesuffix("/chat/completions")


def _variable(given: object) -> str:
    if not isinstance(given, str) or not ENVIRONMENT_NAME_PATTERN.match(given.upper()):
        raise ValueError(f"must be the name of an environment variable, not {shown(given)}")
    if given.startswith("BEAKER_"):
        raise ValueError(f"may not be {given}: Beaker's own variables are none of a model's")
    return given


def _provider(given: object) -> str:
    provider = some_text(given)
    if ":" in provider:
        raise ValueError(f"must be the part of provider:model before the colon, not {shown(given)}")
    return provider


_RULES: dict[str, Rule] = {
    "base_url": _base_url,
    "model": some_text,
    "api_key_env": _variable,
    "temperature": number("a number of at least 0", lambda found: found >= 0),
    "max_output_tokens": whole_number(16, 1_000_000),
    "context_tokens": whole_number(512, 100_000_000),
    "provider": _provider,
}

REFLECTION_KEYS = tuple(_RULES)
"""The keys of the setting."""
