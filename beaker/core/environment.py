"""Environment variables: which names customer code may ask for, what a dotenv file may supply, what a process gets.

Customer processes start from a short base list, plus the names their integration's `required_env` grants. A
repository's `.beaker/.env` is somebody else's file: it supplies the agent key and granted names, nothing that steers
this machine.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Problems
from beaker.core.text import shown
from beaker.core.values import value

ENVIRONMENT_NAME_PATTERN = re.compile(r"[A-Z_][A-Z0-9_]*\Z")
"""A name that `required_env` may list; use it with `match`."""

RESERVED_ENVIRONMENT_PREFIXES = ("BEAKER_", "MODAL_")

RESERVED_ENVIRONMENT_NAMES = frozenset({
    "CODEX_HOME", "NODE_EXTRA_CA_CERTS", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "OPENAI_PROJECT",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "PYTHONHOME", "PYTHONPATH",
    "PYTHONSTARTUP", "PYTHONWARNINGS", "SHELL", "TEMP", "TMP", "TMPDIR", "VIRTUAL_ENV", "ALL_PROXY", "CURL_CA_BUNDLE",
    "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE",
})  # fmt: skip

MAX_REQUIRED_ENV = 50

AGENT_KEY_VARIABLE = "BEAKER_AGENT_KEY"

BASE_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What every customer process and proposer gets of the caller's environment, beside the proxies."""

PROXY_VARIABLES = tuple(
    spelled for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for spelled in (name, name.lower())
)

REDACTED = "[redacted]"

SHORTEST_SECRET = 6
"""Values shorter than this (`true`, `8080`, `prod`) are not redacted: hiding them would garble any output."""


@value
class GrantedEnvironment:
    """The values of declared names, where each was found, and the names found nowhere, in declared order."""

    values: Mapping[str, str]
    sources: Mapping[str, str]
    missing: tuple[str, ...]

    def problems(self) -> Problems:
        """A BK121 for each name that was found nowhere."""
        hint = "set it in the environment of the command, or in .beaker/.env"
        message = "is not set here, and the integration declares it"
        return tuple(Problem("BK121", message, name, hint) for name in self.missing)


def reserved_environment_reason(name: str) -> str | None:
    """Why customer code may not be granted the variable `name`, `None` when it may. A malformed name has a reason."""
    if not ENVIRONMENT_NAME_PATTERN.match(name):
        return "it is not an upper-case environment variable name ([A-Z_][A-Z0-9_]*)"
    for prefix in RESERVED_ENVIRONMENT_PREFIXES:
        if name.startswith(prefix):
            return f"names that start with {prefix} are reserved for the platform"
    if name in RESERVED_ENVIRONMENT_NAMES:
        return "the platform sets this variable itself"
    return None


def required_env_faults(names: Iterable[object]) -> Iterator[tuple[int, str]]:
    """What is wrong with a `required_env` list: (index of the item, what is wrong) for each fault, in order."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if index == MAX_REQUIRED_ENV:
            yield index, f"lists more than {MAX_REQUIRED_ENV} names"
        if not isinstance(name, str):
            yield index, f"must be the name of an environment variable in text, not {shown(name)}"
        elif (reason := reserved_environment_reason(name)) is not None:
            yield index, f"may not list {name!r}: {reason}"
        elif name in seen:
            yield index, f"lists {name!r} twice"
        else:
            seen.add(name)


def parse_required_env(listed: object, where: str = "required_env") -> Result[tuple[str, ...], Problems]:
    """A `required_env` declaration, JSON, as names in declared order; `None` is none. Every fault is a BK120."""
    if listed is None:
        return Success(())
    if not isinstance(listed, list | tuple):
        return Failure((Problem("BK120", "required_env must be a list of names", where, REQUIRED_ENV_HINT),))
    faults = tuple(
        Problem("BK120", f"required_env {message}", f"{where}[{index}]", REQUIRED_ENV_HINT)
        for index, message in required_env_faults(listed)
    )
    return Failure(faults) if faults else Success(tuple(listed))


REQUIRED_ENV_HINT = "list the variables your code reads, such as OPENAI_API_KEY; leave out what the platform sets"


def parse_dotenv(text: str) -> dict[str, str]:
    """The assignments of a dotenv file; a line that is none is ignored, the first assignment of a name wins.

    `NAME=value`, optionally after `export `; blanks around both sides do not count. A value in one pair of matching
    quotes is what stands between them, without escapes; of any other, what follows ` #` is a comment. No
    interpolation, no values over several lines.
    """
    found: dict[str, str] = {}
    for _, name, written in _dotenv_lines(text):
        if name:
            found.setdefault(name, _dotenv_value(written))
    return found


def dotenv_faults(text: str, where: str) -> tuple[tuple[str, Problem], ...]:
    """What a dotenv file says to no effect, or to another than it looks like: the name, `""` for none, and a BK147.

    Lines that are neither blank, a comment nor an assignment, values whose quote does not end on their line, and the
    second assignment of a name.
    """
    faults = []
    seen: dict[str, int] = {}
    for number, name, written in _dotenv_lines(text):
        if not name and written and not written.startswith("#"):
            hint = "write NAME=value; a value of several lines is set with --value-stdin"
            faults.append(("", Problem("BK147", "the line sets no variable", f"{where}:{number}", hint)))
        elif name and written[:1] in ("'", '"') and written[0] not in written[1:]:
            hint = "end it on the line; a value of several lines is set with --value-stdin"
            message = f"the quote that begins the value of {name} has no end"
            faults.append((name, Problem("BK147", message, f"{where}:{number}", hint)))
        elif name and seen.setdefault(name, number) != number:
            message = f"{name} is set a second time; line {seen[name]} sets it first"
            faults.append((name, Problem("BK147", message, f"{where}:{number}", "leave one of the lines")))
    return tuple(faults)


def _dotenv_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Each line: its number, the name and what stands behind `=`; of one that is no assignment, `""` and the line."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")), 1):
        name, separator, written = line.strip().removeprefix("export ").partition("=")
        name = name.strip()
        if separator and _DOTENV_NAME.match(name) and "\0" not in written:
            yield number, name, written.strip()
        else:
            yield number, "", line.strip()


def dotenv_supplies(assignments: Mapping[str, str], required_env: Iterable[str] = ()) -> dict[str, str]:
    """What of a repository's dotenv file counts: the agent key and the names of `required_env`.

    A name that steers this machine (`PATH`, `GIT_*`, a proxy, the API's address, ...) never does, declared or not.
    """
    wanted = {AGENT_KEY_VARIABLE, *required_env}
    return {name: text for name, text in assignments.items() if name in wanted and not _steers(name)}


def dotenv_warnings(assignments: Iterable[str], required_env: Iterable[str], where: str) -> Problems:
    """What to say of the names that a dotenv file, `where`, sets to no effect: a BK134 for each, in order.

    `required_env` are the names that any entry of the configuration lists.
    """
    granted = {AGENT_KEY_VARIABLE, *required_env}
    warnings = []
    for name in assignments:
        if _steers(name):
            message = f"{name} counts for nothing here: a file of a repository does not steer this machine"
            warnings.append(Problem("BK134", message, where, "set it in your own environment"))
        elif name not in granted:
            message = f"{name} counts for nothing here: no required_env lists it"
            warnings.append(Problem("BK134", message, where, "list it in required_env, or take it out"))
    return tuple(warnings)


def base_environment(environ: Mapping[str, str], granted: Iterable[str] = ()) -> dict[str, str]:
    """The part of the caller's environment that a child gets: the base list, proxies, and the names in `granted`."""
    return {name: environ[name] for name in (*BASE_ENVIRONMENT, *PROXY_VARIABLES, *granted) if name in environ}


def granted_environment(
    required_env: Iterable[str], *, secrets: Mapping[str, str], caller: Mapping[str, str], dotenv: Mapping[str, str]
) -> GrantedEnvironment:
    """The values of the declared names for a run on this machine.

    Each comes from the first of: the stored secrets, the caller's environment, the repository's dotenv file. A name
    set to nothing is set. The sources are named `secrets`, `environment` and `dotenv`.
    """
    names = tuple(required_env)
    places = {"secrets": secrets, "environment": caller, "dotenv": dotenv_supplies(dotenv, names)}
    values: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name in names:
        for source, place in places.items():
            if name in place:
                values[name], sources[name] = place[name], source
                break
    return GrantedEnvironment(values, sources, tuple(name for name in names if name not in values))


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that replaces every secret in a text, also where it stands escaped as in JSON, in JSON that
    is quoted in JSON, or in a `repr`."""
    hidden: set[str] = set()
    for secret in secrets:
        if len(secret.strip()) >= SHORTEST_SECRET:
            escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
            hidden |= {secret, secret.strip(), *escaped, *(json.dumps(text)[1:-1] for text in escaped)}
            hidden |= {repr(secret)[1:-1], *(line for line in secret.splitlines() if len(line) >= 2 * SHORTEST_SECRET)}
    if not hidden:
        return lambda text: text
    # The longest first, so that a secret that contains another is hidden whole.
    pattern = re.compile("|".join(map(re.escape, sorted(hidden, key=lambda secret: (-len(secret), secret)))))
    return lambda text: pattern.sub(REDACTED, text)


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret of at least `SHORTEST_SECRET` characters replaced. Use `redactor` for many texts."""
    return redactor(secrets)(text)


def names_credential(name: str) -> bool:
    """Whether the name of a variable says that its value is a credential, and not a folder, a region or a model.

    Among the values that a run keeps out of its output, only a credential has no place in a candidate either.
    """
    return _CREDENTIAL.search(name.upper()) is not None


_CREDENTIAL = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH")
_DOTENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_STEERING_PREFIXES = ("BEAKER_", "PYTHON", "LD_", "DYLD_", "GIT_")
_STEERING_NAMES = RESERVED_ENVIRONMENT_NAMES | {name.upper() for name in PROXY_VARIABLES} | {"BROWSER"}


def _dotenv_value(written: str) -> str:
    if len(written) >= 2 and written[0] in "\"'" and written[-1] == written[0]:
        return written[1:-1]
    return written.partition(" #")[0].rstrip()


def _steers(name: str) -> bool:
    spelled = name.upper()
    return name != AGENT_KEY_VARIABLE and (spelled.startswith(_STEERING_PREFIXES) or spelled in _STEERING_NAMES)
