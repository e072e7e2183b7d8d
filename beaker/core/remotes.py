"""Which GitHub repository a checkout belongs to, decided from the URLs of its Git remotes."""

import re
from collections.abc import Mapping

_GITHUB_URL = re.compile(
    r"github\.com(?::\d+)?[:/]+([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+?)(?:\.git)?/*\Z", re.IGNORECASE
)


def github_repository(url: str) -> str | None:
    """`owner/name` of a GitHub remote URL (`https`, `ssh`, `git@github.com:...`), as spelled; `None` for any other."""
    start = url.strip()
    found = _GITHUB_URL.search(start)
    if found is None:
        return None
    before = start[: found.start()]
    # The host must be github.com itself: nothing before it, a scheme, or credentials.
    if before and not before.endswith(("/", "@")):
        return None
    if "/" in before.split("://", 1)[-1]:
        return None
    return f"{found[1]}/{found[2]}"


def checkout_repository(remotes: Mapping[str, str]) -> str | None:
    """The GitHub `owner/name` of a checkout whose remotes are `remotes` (name to URL).

    `origin` counts before the others; without a GitHub `origin` the repository must be the only one named.
    """
    named = {name: found for name, url in remotes.items() if (found := github_repository(url)) is not None}
    if "origin" in named:
        return named["origin"]
    distinct = {found.lower(): found for found in named.values()}
    return next(iter(distinct.values())) if len(distinct) == 1 else None
