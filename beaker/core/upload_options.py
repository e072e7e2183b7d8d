"""What the options of `dataset upload` say, and whether a run could use what they upload."""

from collections.abc import Iterable, Mapping

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Problems
from beaker.core.values import read_only, value
from beaker.core.wording import counted

MAX_COUNT_DIGITS = 15
"""No dataset has more rows, and Python does not read numbers of any length."""

CODE = "BK905"
"""The code of an option that cannot be read."""


@value(kw_only=True)
class UploadOptions:
    """The name of a dataset, the row counts that were given by split, and the notes kept with it."""

    name: str
    counts: Mapping[str, int]
    metadata: Mapping[str, str]


def read_upload_options(
    name: str, *, splits: Iterable[str] = (), metadata: Iterable[str] = ()
) -> Result[UploadOptions, Problems]:
    """The options: `splits` are texts `NAME=COUNT`, `metadata` texts `KEY=VALUE`, whose value begins behind the first
    `=`. BK905 for a blank name, for a text of another form, a name that stands twice and a count that is none.
    """
    problems = [] if name.strip() else [Problem(CODE, "the dataset needs a name", "--name")]
    declared = _pairs(splits, "--split", "NAME=COUNT", problems)
    notes = _pairs(metadata, "--metadata", "KEY=VALUE", problems)
    counts = {split: _count(split, text, problems) for split, text in declared.items()}
    if problems:
        return Failure(tuple(problems))
    return Success(UploadOptions(name=name.strip(), counts=read_only(counts), metadata=read_only(notes)))


def total_problem(given: int | None, splits: Mapping[str, int]) -> Problem | None:
    """BK905 when `--total-count` is not the number of rows in all `splits`."""
    total = sum(splits.values())
    if given is None or given == total:
        return None
    return Problem(CODE, f"is {given}, but the files have {counted(total, 'row')}", "--total-count")


def unfit_dataset(name: str, splits: Mapping[str, int]) -> Problem | None:
    """Why no run could use a dataset with these rows (BK907); `None` when one could."""
    lacking = [split for split in ("train", "test") if not splits.get(split)]
    if not lacking:
        return None
    hint = "a run learns on TRAIN and proves it on TEST; add rows and upload again"
    return Problem(
        "BK907", f"no run can use this dataset: it has no rows in {' and '.join(lacking)}", f"dataset {name}", hint
    )


def _pairs(texts: Iterable[str], option: str, form: str, problems: list[Problem]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        key, equals, said = text.partition("=")
        key = key.strip()
        if not equals or not key:
            problems.append(Problem(CODE, f"must read {form}, not {text!r}", option))
        elif key in found:
            problems.append(Problem(CODE, f"names {key!r} twice", option, "keep one of them"))
        else:
            found[key] = said
    return found


def _count(split: str, text: str, problems: list[Problem]) -> int:
    written = text.strip()
    if written.isascii() and written.isdigit() and len(written) <= MAX_COUNT_DIGITS:
        return int(written)
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    message = f"the count of {split!r} must be a whole number of at most {MAX_COUNT_DIGITS} digits, not {shown!r}"
    problems.append(Problem(CODE, message, "--split"))
    return 0
