"""Reading an object of options: either spelling of a key, unknown keys with a suggestion, every fault at once."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias, TypeVar

import attrs

from beaker.core.problems import Problem
from beaker.core.values import value

T = TypeVar("T")

Rule: TypeAlias = Callable[[object], Any]
"""Returns the value an option stands for, or raises `ValueError` with what it must be."""


Homes: TypeAlias = Callable[[], Mapping[str, str]]
"""Makes the places to which known names belong: asked for late, since every place has to know of every other."""


@value
class UnknownOption(Problem):
    """A key that is no option here. Another place may know it."""


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, `None` when none is close."""
    names = {snake(one): one for one in known}
    found = get_close_matches(snake(name), names, n=1, cutoff=0.7)
    return names[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint naming the closest known name, else all of them."""
    listed = sorted(known)
    near = closest(name, listed)
    return f"did you mean {near!r}?" if near is not None else f"known here: {', '.join(listed)}"


def at_home(name: str, homes: Mapping[str, str]) -> str:
    """A hint that says where the option `name` belongs, when it is one of another place; empty otherwise.

    `homes` says of every name which place knows it, in the words that complete "it belongs ...".
    """
    home = homes.get(snake(name))
    return f"it belongs {home}" if home is not None else ""


def camel(name: str) -> str:
    """`max_rollouts` as `maxRollouts`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def snake(name: str) -> str:
    """`maxRollouts` (or `max-rollouts`) as `max_rollouts`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def read_options(
    given: object, rules: Mapping[str, Rule], *, where: str, code: str, advice: str = "", homes: Homes = dict
) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Read `given`, a JSON object whose keys are those of `rules` in either spelling.

    Returns the values by snake_case key, of the keys that were given, are not null and obey their rule, together with
    every fault, each a `Problem` with `code` and its place below `where`; `advice` ends the hint about an unknown key,
    unless `homes` knows where that key belongs. A rule that raises `OptionsRefused` hands on its own problems.
    """
    if not isinstance(given, Mapping):
        return {}, (Problem(code, f"must be an object, not {shown(given)}", where),)
    spellings = {spelled: name for name in rules for spelled in (name, camel(name))}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    spelled_as: dict[str, str] = {}
    for key, item in given.items():
        place = f"{where}.{key}"
        name = spellings.get(key)
        if name is None:
            home = at_home(str(key), homes())
            hint = home or "; ".join(filter(None, (did_you_mean(str(key), rules), advice)))
            problems.append(UnknownOption(code, "is not a known option", place, hint))
        elif name in spelled_as:
            both = f"is given twice, as {spelled_as[name]!r} and as {key!r}"
            problems.append(Problem(code, both, place, "keep one spelling"))
        else:
            spelled_as[name] = key
            if item is None:
                continue
            try:
                values[name] = rules[name](item)
            except OptionsRefused as error:
                problems.extend(error.below(place))
            except ValueError as error:
                problems.append(Problem(code, str(error), place))
    return values, tuple(problems)


class OptionsRefused(ValueError):
    """Raised by a rule that has problems of its own to report, with places relative to its option."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("; ".join(map(str, problems)))

    def below(self, place: str) -> tuple[Problem, ...]:
        """The problems, with their places put below `place`."""
        return tuple(
            attrs.evolve(one, where=f"{place}{one.where}")  # type: ignore[misc]  # a value is an attrs class
            for one in self.problems
        )


def nested(
    rules: Mapping[str, Rule], build: Callable[[dict[str, Any]], T], *, code: str, homes: Homes = dict
) -> Callable[[object], T]:
    """A rule for an object of options inside another; `build` makes its value of what was read."""

    def read(given: object) -> T:
        values, problems = read_options(given, rules, where="", code=code, homes=homes)
        if problems:
            raise OptionsRefused(*problems)
        return build(values)

    return read


LARGEST = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly."""


def whole_number(low: int, high: int = LARGEST) -> Callable[[object], int]:
    """An integer from `low` to `high`; `true` and `1.0` are none."""
    span = f"an integer from {low} to {high}"

    def read(given: object) -> int:
        if isinstance(given, bool) or not isinstance(given, int) or not low <= given <= high:
            # An upper end that nobody means to reach is only told to whoever went past it, or below an odd lower end.
            unbounded = high == LARGEST and low >= 0 and not (isinstance(given, int) and given > high)
            raise ValueError(f"must be {f'an integer of at least {low}' if unbounded else span}, not {shown(given)}")
        return given

    return read


def number(says: str, accepts: Callable[[float], bool]) -> Callable[[object], float]:
    """A finite number that `accepts` takes; `says` completes "must be ..."."""

    def read(given: object) -> float:
        try:
            if not isinstance(given, bool) and isinstance(given, int | float):
                found = float(given)
                if math.isfinite(found) and accepts(found):
                    return found
        except OverflowError:
            pass
        raise ValueError(f"must be {says}, not {shown(given)}")

    return read


def truth(given: object) -> bool:
    """`true` or `false`."""
    if not isinstance(given, bool):
        raise ValueError(f"must be true or false, not {shown(given)}")
    return given


def some_text(given: object) -> str:
    """Text that is more than blanks, as given."""
    if not isinstance(given, str) or not given.strip():
        raise ValueError(f"must be a non-empty text, not {shown(given)}")
    return given


def shown(given: object) -> str:
    """A value for a message, cut to a readable length; the kind of one that is long by nature."""
    if isinstance(given, Mapping):
        return "an object"
    if isinstance(given, list | tuple):
        return "a list"
    text = {None: "null", True: "true", False: "false"}.get(given) if isinstance(given, bool | None) else None
    try:
        text = text or repr(given)
    except ValueError:  # an integer too long to be written
        return "a very large number"
    return text if len(text) <= 60 else f"{text[:57]}..."
