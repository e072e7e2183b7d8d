"""Version specifiers of PEP 440, judged for final releases: whether `>=3.12,!=3.12.4` takes 3.12.10.

Only what choosing an interpreter needs: candidates are final releases such as 3.12.10, while the versions inside a
specifier may be any that PEP 440 knows (`>=3.12.0rc1`, `<2!1.0`). Ordering and matching follow the PEP's sections
"Version specifiers" and "Summary of permitted suffixes and relative ordering".
"""

import re
from typing import Any, TypeAlias

import attrs
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value

Release: TypeAlias = tuple[int, ...]
"""A final release, `(3, 12, 10)` for 3.12.10."""

MAX_CHARACTERS = 1_000
"""The longest specifier that is read; nobody writes one, and numbers of thousands of digits are no versions."""

_CLAUSE = re.compile(r"(===|~=|==|!=|<=|>=|<|>)(.*)\Z", re.DOTALL)
_VERSION = re.compile(
    r"""v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)
    (?:(?P<wildcard>\.\*)|
       (?:[-_.]?(?P<pre>alpha|beta|preview|pre|a|b|c|rc)[-_.]?(?P<pre_n>[0-9]*))?
       (?:-(?P<post_plain>[0-9]+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_n>[0-9]*))?
       (?P<dev>[-_.]?dev[-_.]?(?P<dev_n>[0-9]*))?
       (?P<local>\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)\Z""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_ARBITRARY = re.compile(r"[^\s;)]+\Z")
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


@value
class Clause:
    """One condition. `key` orders its version; `prefix` is the release it must begin with (`==3.12.*`, `~=3.12.1`)."""

    operator: str
    text: str
    key: Any = attrs.field(default=(), repr=False)
    prefix: Release | None = attrs.field(default=None, repr=False)
    epoch: int = attrs.field(default=0, repr=False)
    has_local: bool = attrs.field(default=False, repr=False)

    def accepts(self, release: Release) -> bool:
        """Whether the final release is one of those this condition allows."""
        match self.operator:
            case "===":
                return ".".join(map(str, release)) == self.text.lower()
            case "==":
                return self._equals(release)
            case "!=":
                return not self._equals(release)
            case "~=":
                return _key(release) >= self.key and self._begins(release)
            case "<":
                return bool(_key(release) < self.key)
            case ">":
                return bool(_key(release) > self.key)
            case "<=":
                return bool(_key(release) <= self.key)
            case _:
                return bool(_key(release) >= self.key)

    def _equals(self, release: Release) -> bool:
        if self.prefix is not None:
            return self._begins(release)
        # A final release has no local part, so a version with one is another version.
        return _key(release) == self.key and not self.has_local

    def _begins(self, release: Release) -> bool:
        assert self.prefix is not None
        padded = (*release, *(0 for _ in self.prefix))
        return self.epoch == 0 and padded[: len(self.prefix)] == self.prefix


@value
class Specifiers:
    """Conditions that must all hold; none of them allows everything."""

    clauses: tuple[Clause, ...]

    def accept(self, release: Release) -> bool:
        """Whether every condition allows the final release."""
        return all(clause.accepts(release) for clause in self.clauses)


def parse_specifiers(text: str, where: str = "") -> Result[Specifiers, Problem]:
    """Read conditions divided by commas; blanks around them and empty ones do not count. BK142 for anything else."""
    if len(text) > MAX_CHARACTERS:
        return Failure(Problem("BK142", f"a version specifier of {len(text)} characters is none", where, _HINT))
    clauses: list[Clause] = []
    for written in filter(None, (part.strip() for part in text.split(","))):
        clause = _clause(written)
        if clause is None:
            return Failure(Problem("BK142", f"{written!r} is no version specifier (PEP 440)", where, _HINT))
        clauses.append(clause)
    return Success(Specifiers(tuple(clauses)))


_HINT = "write conditions such as >=3.12,<4"


def _clause(written: str) -> Clause | None:
    found = _CLAUSE.match(written)
    if found is None:
        return None
    operator, text = found[1], found[2].strip()
    if operator == "===":
        return Clause(operator, text) if _ARBITRARY.match(text) else None
    version = _VERSION.match(text)
    if version is None:
        return None
    release = tuple(int(part) for part in version["release"].split("."))
    if (version["wildcard"] or version["local"]) and operator not in ("==", "!="):
        return None
    if operator == "~=" and len(release) < 2:
        return None
    epoch = int(version["epoch"] or 0)
    prefix = release if version["wildcard"] else release[:-1] if operator == "~=" else None
    return Clause(operator, text, _version_key(epoch, release, version), prefix, epoch, version["local"] is not None)


def _key(release: Release) -> Any:
    """The place of a final release in the order of all versions."""
    return 0, _significant(release), _FINAL, _NO_POST, _NO_DEV


_EARLIEST, _FINAL = (0, "", 0), (2, "", 0)
_NO_POST, _NO_DEV = -1, (1, 0)


def _version_key(epoch: int, release: Release, version: re.Match[str]) -> Any:
    """The place of any version: dev releases come first, then pre-releases, the final one, post-releases."""
    has_post = version["post"] is not None or version["post_plain"] is not None
    if version["pre"] is not None:
        letter = version["pre"].lower()
        pre = (1, _PRE.get(letter, letter), int(version["pre_n"] or 0))
    elif version["dev"] is not None and not has_post:
        pre = _EARLIEST
    else:
        pre = _FINAL
    post = int(version["post_plain"] or version["post_n"] or 0) if has_post else _NO_POST
    dev = (0, int(version["dev_n"] or 0)) if version["dev"] is not None else _NO_DEV
    return epoch, _significant(release), pre, post, dev


def _significant(release: Release) -> Release:
    """A release without the zeros at its end, which mean nothing: 3.12.0 is 3.12."""
    kept = len(release)
    while kept and release[kept - 1] == 0:
        kept -= 1
    return release[:kept]
