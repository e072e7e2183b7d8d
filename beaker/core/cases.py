"""Cases, what running one gave, and what scoring it gave: the values a customer's hooks take and return."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from beaker.core.fields import count, labelled, named, optional_str, score_value, truth, tuple_of
from beaker.core.strict_json import canonical, json_object, json_value
from beaker.core.text import optional_sha256_hex, plain, relative_path, sha256_hex, shown, text
from beaker.core.values import ReadOnlyDict, read_only, value

OutputKind: TypeAlias = Literal["record", "value", "text", "none"]
"""How a result is displayed: `record` field by field beside what was expected, `value` as one brief answer, `text` as
prose, `none` when nothing is answered and the end state is graded."""

Verdict: TypeAlias = Literal["pass", "fail"] | float

_VERDICTS: dict[str, Verdict] = {"pass": "pass", "fail": "fail"}
_OUTPUT_KINDS = ("record", "value", "text", "none")


def _optional_count(value: object, label: str) -> int | None:
    return None if value is None else count(value, label)


def _local_path(value: Any, label: str) -> Path:
    try:
        return Path(value)
    except TypeError:
        raise TypeError(f"{label} must be a path or a string, not {type(value).__name__}") from None


def _check_name(value: object, label: str) -> str:
    if not issubclass(type(value), str):
        raise TypeError(f"{label} must be a string, not {type(value).__name__}")
    return text(value, label)


def _verdict(value: object, label: str) -> Verdict:
    given = plain(value)
    if type(given) is str and given in _VERDICTS:
        return _VERDICTS[given]
    if type(given) is not int and type(given) is not float:
        raise TypeError(f"{label} must be 'pass', 'fail' or a score in [0, 1], not {shown(value)}")
    return score_value(given, label)


def _field_scores(value: Any, label: str) -> ReadOnlyDict[str, float]:
    return read_only(_named_scores(value, label))


def _context(value: object, label: str) -> ReadOnlyDict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{label} must be a mapping, not {type(value).__name__}")
    return json_object(value, label)


_named_scores = named(score_value, "field")


@value
class CaseFile:
    """A file that belongs to a case.

    `name` is the relative path under which scoring and rollouts see it; `path` is where it lies now, inside the case's
    staging directory. `expected_sha256` (64 hex digits) and `expected_size_bytes` must match, where given, when the
    file is captured. Nothing is read at construction.
    """

    name: str = attrs.field(converter=labelled(relative_path, "CaseFile.name"))
    path: Path = attrs.field(converter=labelled(_local_path, "CaseFile.path"))
    expected_sha256: str | None = attrs.field(
        default=None, converter=labelled(optional_sha256_hex, "CaseFile.expected_sha256")
    )
    expected_size_bytes: int | None = attrs.field(
        default=None, converter=labelled(_optional_count, "CaseFile.expected_size_bytes")
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            path: Path | str,
            expected_sha256: str | None = None,
            expected_size_bytes: int | None = None,
        ) -> None: ...


@value
class Case:
    """One thing to run and score.

    `id` is non-empty text, unique over both splits of a run; it is stripped and never used as a path. `input` and
    `expected` are JSON values, copied; `run_case` sees only `input`. `files` are `CaseFile` values. `metadata` is a
    read-only JSON mapping.

    Raises `ValueError` for a bad id, a non-finite number, a lone surrogate or nesting deeper than 200; `TypeError` for
    what is not JSON or not a `CaseFile`.
    """

    id: str = attrs.field(converter=labelled(text, "Case.id"))
    input: Any = attrs.field(converter=labelled(json_value, "Case.input"))
    expected: Any = attrs.field(default=None, converter=labelled(json_value, "Case.expected"))
    files: tuple[CaseFile, ...] = attrs.field(default=(), converter=labelled(tuple_of(CaseFile), "Case.files"))
    metadata: Mapping[str, Any] = attrs.field(factory=dict, converter=labelled(json_object, "Case.metadata"))

    if TYPE_CHECKING:

        def __init__(
            self,
            id: str,
            input: Any,
            expected: Any = None,
            files: Iterable[CaseFile] = (),
            metadata: Mapping[str, Any] | Iterable[tuple[str, Any]] = ...,
        ) -> None: ...


@value
class CaseResult:
    """What `run_case` returns.

    `output` is a JSON value and the answer itself; `output_kind` says how to display it (inferred when `None`);
    `context` is a JSON mapping of evidence for the scorer alone and is never stored.

    Raises `ValueError` for an unknown `output_kind`, `TypeError` for what is not JSON or not a mapping; `output_kind`
    is judged first.
    """

    output: Any = attrs.field(converter=labelled(json_value, "CaseResult.output"))
    output_kind: OutputKind | None = None
    context: Mapping[str, Any] = attrs.field(factory=dict, converter=labelled(_context, "CaseResult.context"))

    def __attrs_pre_init__(self, output: object, output_kind: object = None, context: object = None) -> None:
        hash(output_kind)  # an unhashable value is a TypeError, not merely an unknown kind
        if output_kind is not None and plain(output_kind) not in _OUTPUT_KINDS:
            raise ValueError(
                f"CaseResult.output_kind must be one of {', '.join(_OUTPUT_KINDS)} or None, not {shown(output_kind)}"
            )


@value
class FieldDiff:
    """One field whose prediction is shown beside what was expected.

    `field` is text; `predicted` and `expected` are JSON values, and may be equal. Name the arguments, since `Check`
    takes them the other way round:

        >>> FieldDiff(field="team", predicted="billing", expected="accounts")
        FieldDiff(field='team', predicted='billing', expected='accounts')
    """

    field: str = attrs.field(converter=labelled(text, "FieldDiff.field"))
    predicted: Any = attrs.field(converter=labelled(json_value, "FieldDiff.predicted"))
    expected: Any = attrs.field(converter=labelled(json_value, "FieldDiff.expected"))


@value
class Check:
    """One named check on a result, shown with its case and never aggregated.

    `name` is text. `verdict` is `"pass"`, `"fail"` or a score in [0, 1]. `expected` and `predicted` are JSON, `None`
    meaning not set. `message` says why, `description` what is checked, and `group` what it is shown below; each is text
    or `None`. An `informational` check does not count as a failure. Name the arguments, since `FieldDiff` takes
    `predicted` first:

        >>> Check(name="team", verdict="fail", expected="accounts", predicted="billing", message="no rule fits").verdict
        'fail'

    Raises `TypeError` for a wrong type, `ValueError` for a blank name or a score outside [0, 1].
    """

    name: str = attrs.field(converter=labelled(_check_name, "Check.name"))
    verdict: Verdict = attrs.field(converter=labelled(_verdict, "Check.verdict"))
    expected: Any = attrs.field(default=None, converter=labelled(json_value, "Check.expected"))
    predicted: Any = attrs.field(default=None, converter=labelled(json_value, "Check.predicted"))
    message: str | None = attrs.field(default=None, converter=labelled(optional_str, "Check.message"))
    group: str | None = attrs.field(default=None, converter=labelled(optional_str, "Check.group"))
    informational: bool = attrs.field(default=False, converter=labelled(truth, "Check.informational"))
    description: str | None = attrs.field(default=None, converter=labelled(optional_str, "Check.description"))


@value
class CaseScore:
    """What `score_case` returns.

    `objective`, in [0, 1], is what the optimization maximises. `field_scores` maps field names to scores in [0, 1] and
    is averaged over cases by name. `field_diffs` and `checks` explain the score and stay with their case.

    Raises `TypeError` for a wrong type (`AttributeError` when `field_scores` is no mapping) and `ValueError` for a
    score outside [0, 1] or a name that stands twice after trimming blanks.
    """

    objective: float = attrs.field(converter=labelled(score_value, "CaseScore.objective"))
    field_scores: Mapping[str, float] = attrs.field(converter=labelled(_field_scores, "CaseScore.field_scores"))
    field_diffs: tuple[FieldDiff, ...] = attrs.field(
        default=(), converter=labelled(tuple_of(FieldDiff), "CaseScore.field_diffs")
    )
    checks: tuple[Check, ...] = attrs.field(default=(), converter=labelled(tuple_of(Check), "CaseScore.checks"))

    if TYPE_CHECKING:

        def __init__(
            self,
            objective: float,
            field_scores: Mapping[str, float],
            field_diffs: Iterable[FieldDiff] = (),
            checks: Iterable[Check] = (),
        ) -> None: ...


@value
class CapturedFile:
    """A case file as it was captured: its name, size in bytes and SHA-256."""

    name: str = attrs.field(converter=labelled(relative_path, "CapturedFile.name"))
    size: int = attrs.field(converter=labelled(count, "CapturedFile.size"))
    sha256: str = attrs.field(converter=labelled(sha256_hex, "CapturedFile.sha256"))


def case_fingerprint(
    cases: Mapping[str, Sequence[Case]], *, captured: Mapping[str, Sequence[CapturedFile]] | None = None
) -> str:
    """SHA-256 over every case of every split: identifies the inputs of a run across its attempts.

    `captured` holds the captured files of each case id, in declaration order. A case that declares files which were
    not captured is a `ValueError`. The order of splits does not matter, the order of cases does; `1`, `1.0` and `True`
    differ.
    """
    from hashlib import sha256

    hashed = sha256(b"[")
    for position, split in enumerate(sorted(cases)):
        hashed.update(b',{"cases":[' if position else b'{"cases":[')
        for number, case in enumerate(cases[split]):
            if number:
                hashed.update(b",")
            hashed.update(canonical(_identity(case, (captured or {}).get(case.id, ()))))
        hashed.update(b'],"split":' + canonical(split) + b"}")
    hashed.update(b"]")
    return hashed.hexdigest()


def _identity(case: Case, captured: Sequence[CapturedFile]) -> dict[str, Any]:
    if [file.name for file in case.files] != [file.name for file in captured]:
        raise ValueError(f"the files of case {case.id!r} were not captured as declared")
    return {
        "id": case.id,
        "input": case.input,
        "expected": case.expected,
        "metadata": case.metadata,
        "files": [{"name": file.name, "size": file.size, "sha256": file.sha256} for file in captured],
    }
