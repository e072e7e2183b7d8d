"""A Spec: nothing is checked when it is made, and everything, in order, when it is validated."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from beaker.sdk.spec04 import (
    CaseDataLoader,
    CaseScorer,
    DatasetSchema,
    EvidenceProvider,
    FieldConfig,
    OptimizationTargets,
    Spec,
    validate_spec,
)


class Loader:
    """A loader that is one."""

    dataset_schema = DatasetSchema({})

    def parse_row(self, raw: Any, context: Any) -> Any:
        """The row."""
        return raw

    def iter_cases(self, row: Any, context: Any) -> Any:
        """No case."""
        return []


class Scorer:
    """A scorer that is one, and a plain one."""

    def score_case(self, *, case: Any, result: Any) -> Any:
        """No score."""


class Provider:
    """A provider that is one."""

    def evidence_for(self, *, trajectory: Any, diff: Any) -> Any:
        """No evidence."""
        return []


def plain(**_: Any) -> None:
    """A hook that is not asynchronous."""


def spec(**other: Any) -> Spec:
    """A valid Spec, with other fields."""
    return Spec(**{"data_loader": Loader(), "run_case": plain, "scorer": Scorer(), **other})


def only(**attributes: Any) -> Any:
    """An object with these attributes."""
    return SimpleNamespace(**attributes)


def test_spec__made_of_anything__is_not_checked_and_frozen() -> None:
    """Eight fields by position; validation is another step."""
    made = Spec(1, 2, 3, 4, 5, 6, 7, 8)  # type: ignore[arg-type]  # nothing is checked
    assert [field.name for field in dataclasses.fields(made)] == [  # type: ignore[arg-type]  # answers as one
        "data_loader",
        "run_case",
        "scorer",
        "seed_targets",
        "evidence_provider",
        "result_finalizer",
        "llm_scorer_model",
        "candidate_environment",
    ]
    assert dataclasses.astuple(Spec(1, 2, 3))[3:] == (None,) * 5  # type: ignore[arg-type, call-overload]  # as above
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.scorer = 1  # type: ignore[misc, assignment]  # wrong on purpose


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"seed_targets": OptimizationTargets({"a": "A"})},
        {"seed_targets": OptimizationTargets(resources={"kb": {"x": ""}})},
        {"llm_scorer_model": "openai:gpt"},
        {"evidence_provider": Provider(), "result_finalizer": plain},
        {"candidate_environment": only(prepare=plain)},
        {"candidate_environment": only(prepare=plain, open=plain)},
    ],
)
def test_validate_spec__valid__is_returned_as_it_is(other: dict[str, Any]) -> None:
    """Hooks may be plain functions; an environment need not open anything."""
    made = spec(**other)
    assert validate_spec(made) is made


FAULTS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"seed_targets": {"a": "A"}}, TypeError, "seed_targets must be OptimizationTargets or None, not dict"),
    ({"seed_targets": OptimizationTargets()}, ValueError, "must hold a prompt or a resource"),
    ({"seed_targets": OptimizationTargets({"a": "A", "b": " "})}, ValueError, "the prompt 'b' is empty"),
    ({"data_loader": None}, TypeError, "data_loader must have a callable parse_row"),
    ({"data_loader": only(parse_row=plain)}, TypeError, "data_loader must have a callable iter_cases"),
    ({"data_loader": only(parse_row=1, iter_cases=plain)}, TypeError, "parse_row"),
    ({"data_loader": only(parse_row=plain, iter_cases=plain)}, TypeError, "a DatasetSchema, not NoneType"),
    (
        {"data_loader": only(parse_row=plain, iter_cases=plain, dataset_schema={})},
        TypeError,
        "a DatasetSchema, not dict",
    ),
    ({"run_case": 1}, TypeError, "run_case must be callable, not int"),
    ({"scorer": plain}, TypeError, "scorer must have a callable score_case; function has none"),
    ({"llm_scorer_model": "gpt"}, ValueError, "llm_scorer_model must read provider:model"),
    ({"llm_scorer_model": "OpenAI:gpt"}, ValueError, "lower-case provider"),
    ({"llm_scorer_model": 1}, ValueError, "llm_scorer_model"),
    ({"evidence_provider": plain}, TypeError, "evidence_provider must have a callable evidence_for"),
    ({"result_finalizer": only()}, TypeError, "result_finalizer must be callable"),
    ({"candidate_environment": only()}, TypeError, "candidate_environment must have a callable prepare"),
    ({"candidate_environment": only(prepare=plain, open=None)}, TypeError, "a callable open"),
]


@pytest.mark.parametrize("at", range(len(FAULTS)))
def test_validate_spec__fault__is_named_before_all_later_ones(at: int) -> None:
    """Each fault alone, and together with one of every later field, is the one that is told."""
    other, error, words = FAULTS[at]
    later = {name: wrong for fields, _, _ in reversed(FAULTS[at + 1 :]) for name, wrong in fields.items()}
    for fields in (other, {**later, **other}):
        with pytest.raises(error, match=words):
            validate_spec(spec(**fields))


def test_validate_spec__something_else__is_a_wrong_type() -> None:
    """What looks like a Spec is none."""
    with pytest.raises(TypeError, match="a factory must return a Spec, not SimpleNamespace"):
        validate_spec(only(data_loader=Loader(), run_case=plain, scorer=Scorer()))


def test_protocols__are_checkable_at_run_time() -> None:
    """Loaders, scorers, providers and fields are told by what they have."""
    assert isinstance(Loader(), CaseDataLoader)
    assert isinstance(Scorer(), CaseScorer)
    assert isinstance(Provider(), EvidenceProvider)
    assert isinstance(only(field_name="f", result_path="r", ground_truth_path="g"), FieldConfig)
    assert not any(isinstance(only(), kind) for kind in (CaseDataLoader, CaseScorer, EvidenceProvider, FieldConfig))
    assert CaseDataLoader[dict] is not None
