"""A Spec as an Integration: what becomes of its targets, rows, hooks, results and scores, and what is refused."""

import asyncio
import os
import warnings
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from beaker import RetryableCaseError, RolloutRuntime, sdk
from beaker.core import cases as today
from beaker.core.targets import DocumentTargets, RepositoryTargets
from beaker.sdk.json_safe import to_json_safe
from beaker.sdk.loading import load_entry, origin_of
from beaker.sdk.row_place import CURRENT_ROW, RowPlace
from beaker.sdk.spec04 import (
    CandidateRejected,
    CaseFailure,
    DatasetSchema,
    OptimizationTargets,
    Spec,
    SpecContextRequiredError,
    spec,
)
from beaker.sdk.spec04.adapted_cases import SpecCaseFailed, scored_case, todays_score
from beaker.sdk.spec04.adapted_inputs import class_of_input
from beaker.sdk.spec04.adapter import as_integration
from beaker.sdk.spec04.cases import Case, CaseResult, CaseScore, FieldDiff
from beaker.sdk.trace import NOOP_TRACE


class Loader:
    """Makes a case of every word of a row."""

    dataset_schema = DatasetSchema({"type": "object"})

    def parse_row(self, raw: dict[str, Any], context: Any) -> Any:
        self.context = context
        return raw

    def iter_cases(self, row: Any, context: Any) -> Any:
        assert context is self.context
        return [Case(word, f"c-{word}", {"kind": "k"}, "group", {"n": 1}) for word in row["words"]]


class Scorer:
    """Scores by whether the output is what was expected."""

    async def score_case(self, *, case: Case, result: CaseResult) -> CaseScore:
        right = result.output == case.ground_truth.get("kind")
        return CaseScore({"kind": float(right)}, float(right), "key", [FieldDiff("kind", result.output, {1, 2})])


async def run_case(*, case: Case, targets: Any, runtime: Any) -> CaseResult:
    return CaseResult(targets and targets.prompts["p"], {"n": 1}, {"case": case.case_id}, output_kind="value")


SEEDS = OptimizationTargets({"p": "k", "Über p": "x"}, resources={"kb": {"a/b.md": "text"}, "aa": {"c.md": "c"}})


def spec_of(**fields: Any) -> Spec:
    return Spec(**{"data_loader": Loader(), "run_case": run_case, "scorer": Scorer(), **fields})


def integration_of(**fields: Any) -> sdk.Integration:
    """The Integration of a factory without a decorator."""
    return as_integration(lambda context: spec_of(**{"seed_targets": SEEDS, **fields}))


def decorated(repository: Any, spec_made: Spec, **told: Any) -> Callable[[Any], Spec]:
    def factory(context: Any) -> Spec:
        return spec_made

    factory.__qualname__ = "factory"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return spec(repository=repository, **told)(factory)


def runtime_of(folder: Path, **told: Any) -> RolloutRuntime[Any]:
    return RolloutRuntime(case_files_dir=folder, trace=NOOP_TRACE, **told)


def seeded(integration: sdk.Integration, folder: Path) -> dict[str, str]:
    """Write the seeds below `folder`; what they are, by path."""

    async def enter() -> Any:
        async with integration.run_setup().prepare_run(runtime=None) as results:  # type: ignore[arg-type]
            return results["documents"]

    texts = {f"{one.group}/{one.name}": one.content for one in asyncio.run(enter()).target_documents}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return texts


def loaded(integration: sdk.Integration, row: dict[str, Any]) -> list[today.Case]:
    async def load() -> list[today.Case]:
        return [case async for case in integration.run_setup().load_cases(row, runtime=None)]  # type: ignore[arg-type]

    return asyncio.run(load())


def ran(integration: sdk.Integration, case: today.Case, runtime: RolloutRuntime[Any]) -> today.CaseResult:
    return asyncio.run(integration.run_case(case_input=case.input, runtime=runtime))


def opened(integration: sdk.Integration, folder: Path, use: Callable[[Any], Any]) -> Any:
    async def enter() -> Any:
        assert integration.open_candidate is not None
        async with integration.open_candidate(targets_dir=folder / "targets", scratch_dir=folder) as candidate:
            return use(candidate)

    return asyncio.run(enter())


@pytest.mark.parametrize(
    "repository, seeds, expected",
    [
        ("all", None, RepositoryTargets(None)),
        (["src/", " lib\\a "], None, RepositoryTargets(("src", "lib/a"))),
        (None, SEEDS, DocumentTargets(("aa", "kb", "prompts"))),
        (None, OptimizationTargets({"p": "k"}), DocumentTargets(("prompts",))),
        (None, OptimizationTargets(resources={"kb": {"a": "b"}}), DocumentTargets(("kb",))),
    ],
)
def test_as_integration__targets__are_those_of_the_decorator_or_the_seeds(
    repository: Any, seeds: Any, expected: Any
) -> None:
    """Paths of the repository, or one group of documents per resource and one for prompts."""
    assert as_integration(decorated(repository, spec_of(seed_targets=seeds))).targets == (expected,)


def test_as_integration__undecorated__is_about_its_seeds() -> None:
    """A factory without a decorator has no repository; without seeds there is nothing to optimize, which is said."""
    assert integration_of().targets == (DocumentTargets(("aa", "kb", "prompts")),)
    with pytest.raises(TypeError, match="nothing to optimize: give it seed_targets"):
        integration_of(seed_targets=None)


def test_as_integration__seeds__are_documents_by_resource_and_path(tmp_path: Path) -> None:
    """Prompts have a file each, named by the prompt where that is safe; resources keep their paths."""
    texts = seeded(integration_of(), tmp_path)
    (odd,) = (path for path in texts if path.startswith("prompts/prompt-"))
    assert texts == {"aa/c.md": "c", "kb/a/b.md": "text", "prompts/p.md": "k", odd: "x"}


def test_as_integration__declared_surface__leaves_other_resources_as_they_are(tmp_path: Path) -> None:
    """Only resources that the decorator names may change; one that the seeds lack is refused."""
    made = as_integration(decorated(None, spec_of(seed_targets=SEEDS), resource_names=["kb"]))

    async def enter() -> Any:
        async with made.run_setup().prepare_run(runtime=None) as results:  # type: ignore[arg-type]
            return results["documents"]

    editable = {one.source_id: one.editable for one in asyncio.run(enter()).target_documents}
    assert editable["aa/c.md"] is False
    assert sum(editable.values()) == 3
    with pytest.raises(ValueError, match=r"resource_names has 'gone', .*resources there: aa, kb"):
        as_integration(decorated(None, spec_of(seed_targets=SEEDS), resource_names=["kb", "gone"]))


def test_as_integration__row__becomes_cases_that_keep_what_the_hooks_are_given(tmp_path: Path) -> None:
    """The input carries id, group and metadata, what is expected stays out of it, and the loader is told its place."""
    loader = Loader()
    made = integration_of(data_loader=loader)
    (case,) = loaded(made, {"words": ["w"]})
    assert case.id == "c-w"
    assert case.input == {"case_id": "c-w", "group_key": "group", "input": "w", "metadata": {"n": 1}}
    assert case.expected == {"kind": "k"}
    assert case.metadata == {"n": 1, "group_key": "group"}
    assert (loader.context.split, loader.context.label()) == ("train", "train")
    token = CURRENT_ROW.set(RowPlace("test", "test.jsonl:7"))
    try:
        loaded(made, {"words": []})
        assert (loader.context.split, loader.context.label()) == ("test", "test.jsonl:7")
        CURRENT_ROW.set(RowPlace("test"))
        loaded(made, {"words": []})
        assert loader.context.label() == "test"
    finally:
        CURRENT_ROW.reset(token)


@pytest.mark.parametrize(
    "cases, error, said",
    [
        (["case"], TypeError, "must yield Case values, not str"),
        ([Case("i", "", {})], ValueError, "case_id that is not empty"),
        ([Case("i", None, {})], ValueError, "case_id that is not empty"),  # type: ignore[arg-type]
    ],
)
def test_load_cases__what_is_no_case__is_refused(cases: Any, error: type[Exception], said: str) -> None:
    """Ids were not checked then; they are now."""
    loader = Loader()
    loader.iter_cases = lambda row, context: cases  # type: ignore[method-assign]
    with pytest.raises(error, match=said):
        loaded(integration_of(data_loader=loader), {})


@dataclass
class Word:
    text: str


def test_load_cases__what_is_no_json__becomes_it_with_a_warning() -> None:
    """An object, which then reached the hooks as it was, reaches them as JSON, and that is told once, at the loader."""

    class Objects(Loader):
        def iter_cases(self, row: Any, context: Any) -> Any:
            yield Case({"word": Word("w")}, 7, {"letters": {"b", "a"}}, metadata=None)  # type: ignore[arg-type]
            yield Case(("w", 1), 8, None)  # type: ignore[arg-type]

    made = integration_of(data_loader=Objects())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = loaded(made, {})
        loaded(made, {})
    assert (first.id, first.input["case_id"], first.input["input"]) == ("7", 7, {"word": {"text": "w"}})
    assert first.expected == {"letters": ["a", "b"]}
    assert second.input["input"] == ["w", 1]
    assert scored_case(second).ground_truth == {}
    assert ["input of a Case" in str(one.message) for one in caught] == [True, False]
    assert all(one.filename == __file__ and "deprecated" in str(one.message) for one in caught)


class Pair(NamedTuple):
    left: Word
    right: int = 0


@dataclass
class Lossy:
    letters: Any


@pytest.mark.parametrize("given", [Word("w"), Pair(Word("l"), 2)])
def test_run_case__input_of_a_class__is_of_that_class_again(tmp_path: Path, given: Any) -> None:
    """What its JSON can be read back from travels with the name of its class; hooks and scorer get what was yielded."""
    seen: list[Any] = []

    def looking(*, case: Case, **rest: Any) -> CaseResult:
        seen.append(case.input)
        return CaseResult(None)

    loader = Loader()
    loader.iter_cases = lambda row, context: [Case(given, "i", {})]  # type: ignore[method-assign]
    made = as_integration(decorated("all", spec_of(data_loader=loader, run_case=looking)))
    (case,) = loaded(made, {})
    assert case.input["input_class"] == f"{__name__}:{type(given).__name__}"
    ran(made, case, runtime_of(tmp_path))
    assert [*seen, scored_case(case).input] == [given, given]
    assert type(seen[0]) is type(given)


@pytest.mark.parametrize("given", [Lossy({1, 2}), object(), Path("p"), {"a": Word("w")}])
def test_class_of_input__what_does_not_come_back__has_none(given: Any) -> None:
    """A class whose JSON says less than the object, and one that JSON cannot be read as, stay JSON."""
    assert class_of_input(given, to_json_safe(given)) is None


def test_class_of_input__class_that_has_no_name__has_none() -> None:
    """One that was made inside a function is found nowhere else."""

    @dataclass
    class Inner:
        text: str

    assert class_of_input(Inner("t"), {"text": "t"}) is None


def test_load_cases__todays_case__is_taken_as_it_is() -> None:
    """A module half way between the generations may yield today's cases."""
    loader = Loader()
    loader.iter_cases = lambda row, context: [today.Case("i", 1, 2)]  # type: ignore[method-assign]
    (case,) = loaded(integration_of(data_loader=loader), {})
    assert (case.id, case.input["input"], case.expected) == ("i", 1, 2)
    made = asyncio.run(integration_of().score_case(case=case, result=today.CaseResult("x"), case_files_dir=Path()))
    assert made.objective == 0.0


def test_run_case__documents__are_targets_again(tmp_path: Path) -> None:
    """Prompts and resources are read from the candidate's documents; context is kept, metrics are not."""
    made = integration_of()
    seeded(made, tmp_path / "targets")
    (tmp_path / "targets" / "prompts" / "p.md").write_text("better")
    (case,) = loaded(made, {"words": ["w"]})
    candidate = opened(made, tmp_path, lambda one: one)
    assert candidate.targets == OptimizationTargets({**SEEDS.prompts, "p": "better"}, resources=SEEDS.resources)
    assert candidate.candidate_id == candidate.targets.candidate_id != SEEDS.candidate_id
    expected = today.CaseResult("better", "value", {"case": "c-w"})
    assert ran(made, case, runtime_of(tmp_path, candidate=candidate)) == expected
    # Where nobody opened the candidate, its folder will do.
    assert ran(made, case, runtime_of(tmp_path, targets_dir=tmp_path / "targets")) == expected
    with pytest.raises(RuntimeError, match="no targets_dir"):
        ran(made, case, runtime_of(tmp_path))


def test_run_case__repository__has_no_targets(tmp_path: Path) -> None:
    """`targets` is `None`, nothing is opened, and a plain function is a hook too."""

    def plain(*, case: Case, targets: Any, runtime: Any) -> CaseResult:
        return CaseResult([targets, case.ground_truth, runtime.provider, runtime.canonical_model_id, runtime.model])

    made = as_integration(decorated("all", spec_of(run_case=plain)))
    assert made.open_candidate is None
    (case,) = loaded(made, {"words": ["w"]})
    result = ran(made, case, runtime_of(tmp_path, model="openai:gpt-x"))
    assert result == today.CaseResult([None, {}, "openai", "openai:gpt-x", "openai:gpt-x"])
    assert ran(made, case, runtime_of(tmp_path)).output == [None, {}, None, None, None]


@pytest.mark.parametrize(
    "returned, error, said",
    [
        (CaseResult.failed("busy", retryable=True), RetryableCaseError, "busy"),
        (CaseResult.failed("broken"), SpecCaseFailed, "broken"),
        (CaseResult(None, failure=CaseFailure("gone")), SpecCaseFailed, "gone"),
        ({"output": 1}, TypeError, "must return a CaseResult, not dict"),
    ],
)
def test_run_case__failure__is_an_error_of_the_case(
    tmp_path: Path, returned: Any, error: type[Exception], said: str
) -> None:
    """A case that did not run is no score of zero; another attempt is asked for where that was said."""

    async def failing(**given: Any) -> Any:
        return returned

    made = as_integration(decorated("all", spec_of(run_case=failing)))
    with pytest.raises(error, match=said):
        ran(made, loaded(made, {"words": ["w"]})[0], runtime_of(tmp_path))


def test_run_case__todays_result__is_taken_as_it_is(tmp_path: Path) -> None:
    """What is no JSON in an old result becomes it; today's result needs nothing."""

    async def given(*, case: Case, **rest: Any) -> Any:
        return today.CaseResult(1) if case.input == "t" else CaseResult({1, 2}, context={"path": Path("p")})

    made = as_integration(decorated("all", spec_of(run_case=given)))
    new, old = (ran(made, case, runtime_of(tmp_path)) for case in loaded(made, {"words": ["t", "o"]}))
    assert new == today.CaseResult(1)
    assert old == today.CaseResult([1, 2], context={"path": "p"})


def scored(score: Any) -> today.CaseScore:
    class Fixed:
        def score_case(self, *, case: Case, result: CaseResult) -> Any:
            assert (case.input, case.ground_truth, case.case_id, case.group_key) == ("w", {"kind": "k"}, "c-w", "group")
            assert (result.output, result.context, result.output_kind, result.failure) == (1, {"a": 1}, "value", None)
            return score

    made = integration_of(scorer=Fixed())
    (case,) = loaded(made, {"words": ["w"]})
    result = today.CaseResult(1, "value", {"a": 1})
    return asyncio.run(made.score_case(case=case, result=result, case_files_dir=Path()))


def test_score_case__old_score__is_todays() -> None:
    """Fields have another order, `key` is dropped, and what rounding did is taken back."""
    check = today.Check("c", "pass")
    diff = FieldDiff(7, {2, 1}, None)  # type: ignore[arg-type]
    made = scored(CaseScore({"a": True, "b": -1e-12}, 1.0000000000000002, "key", [diff], (check,)))
    assert made == today.CaseScore(1.0, {"a": 1.0, "b": 0.0}, (today.FieldDiff("7", [1, 2], None),), (check,))
    assert todays_score(made) is made
    mixed: Any = made.field_diffs
    assert todays_score(CaseScore({}, 0, field_diffs=mixed)).field_diffs == made.field_diffs


@pytest.mark.parametrize(
    "score, error, said",
    [
        (CaseScore({}, 2), ValueError, r"objective must be a number from 0 to 1, not 2.0"),
        (CaseScore({"a": -0.1}, 0), ValueError, r"field_scores\['a'\] must be a number from 0 to 1"),
        (CaseScore({}, float("nan")), ValueError, "not nan"),
        (0.5, TypeError, "must return a CaseScore, not float"),
    ],
)
def test_score_case__number_out_of_range__is_refused(score: Any, error: type[Exception], said: str) -> None:
    """Scores of another scale are never cut down to look perfect."""
    with pytest.raises(error, match=said):
        scored(score)


class Environment:
    """An environment that remembers the workspace, and opens with a context manager of the given kind."""

    def __init__(self, open_with: Any = None) -> None:
        self.workspaces: list[Any] = []
        if open_with is not None:
            self.open = open_with

    def prepare(self, workspace: Any) -> None:
        self.workspaces.append(workspace)


@contextmanager
def plainly(workspace: Any) -> Any:
    yield workspace.candidate_id


@asynccontextmanager
async def waiting(workspace: Any) -> Any:
    yield workspace.candidate_id


@pytest.mark.parametrize("kind", [plainly, waiting])
def test_open_candidate__environment__is_given_files_and_changes(tmp_path: Path, kind: Any) -> None:
    """`prepare` sees every folder and what changed against the seeds; what `open` yields reaches `run_case`."""
    environment = Environment(kind)
    seen: list[Any] = []

    async def looking(*, case: Case, targets: Any, runtime: Any) -> CaseResult:
        seen.append((runtime.candidate_runtime, runtime.resource_root("kb"), runtime.candidate_id))
        return CaseResult(None)

    made = integration_of(candidate_environment=environment, run_case=looking)
    seeded(made, tmp_path / "targets")
    (tmp_path / "targets" / "kb" / "new.md").write_text("n")
    (tmp_path / "targets" / "prompts" / "p.md").write_text("better")
    candidate = opened(made, tmp_path, lambda one: one)
    (workspace,) = environment.workspaces
    assert workspace.resource_root("kb") == tmp_path / "targets" / "kb"
    assert workspace.scratch_dir == tmp_path
    changes = [(one.op, one.resource, one.path, one.before, one.after) for one in workspace.diff.changes]
    assert changes == [("create", "kb", "new.md", None, "n"), ("update", "prompts", "p.md", "k", "better")]
    ran(made, loaded(made, {"words": ["w"]})[0], runtime_of(tmp_path, candidate=candidate))
    assert seen == [(candidate.candidate_id, tmp_path / "targets" / "kb", candidate.candidate_id)]


def test_open_candidate__repository__has_an_environment_without_files(tmp_path: Path) -> None:
    """An environment without `open` only prepares, whatever changes."""
    environment = Environment()
    made = as_integration(decorated("all", spec_of(candidate_environment=environment)))
    candidate = opened(made, tmp_path, lambda one: one)
    assert (candidate.targets, candidate.runtime, dict(candidate.resources)) == (None, None, {})
    (workspace,) = environment.workspaces
    assert (dict(workspace.resources), workspace.diff.changes) == ({}, ())


def test_open_candidate__rejection__fails_every_case(tmp_path: Path) -> None:
    """A candidate that `prepare` refuses cannot be opened, and neither can one whose `open` gives nothing to enter."""

    class Refusing(Environment):
        async def prepare(self, workspace: Any) -> None:  # type: ignore[override]
            raise CandidateRejected("the book is empty")

    made = integration_of(candidate_environment=Refusing())
    seeded(made, tmp_path / "targets")
    with pytest.raises(CandidateRejected, match="the book is empty"):
        opened(made, tmp_path, lambda one: one)
    made = integration_of(candidate_environment=Environment(lambda workspace: 7))
    with pytest.raises(TypeError, match="must return a context manager, not int"):
        opened(made, tmp_path, lambda one: one)


def empty_prompt(folder: Path) -> None:
    (folder / "prompts" / "p.md").write_text(" \n")


def missing_prompt(folder: Path) -> None:
    (folder / "prompts" / "p.md").unlink()


def unknown_prompt(folder: Path) -> None:
    (folder / "prompts" / "q.md").write_text("q")


def no_resource(folder: Path) -> None:
    (folder / "kb" / "a" / "b.md").unlink()


@pytest.mark.parametrize(
    "spoil, said",
    [
        (empty_prompt, "'p' has no text: prompts/p.md is empty or missing"),
        (missing_prompt, "'p' has no text"),
        (unknown_prompt, "prompts/q.md is the file of no prompt"),
        (no_resource, "at least one file"),
    ],
)
def test_open_candidate__documents_that_are_no_targets__are_refused(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    """A candidate that could not have existed then does not run now."""
    made = integration_of()
    seeded(made, tmp_path / "targets")
    spoil(tmp_path / "targets")
    with pytest.raises(ValueError, match=said):
        opened(made, tmp_path, lambda one: one)


def test_as_integration__factory_that_needs_a_run__is_called_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a run the context says so first; a factory that insists is given one."""
    seen: list[tuple[Any, Any]] = []

    def insisting(context: Any) -> Spec:
        seen.append((context.run_id, context.workspace_dir is None))
        if context.workspace_dir is None:
            raise SpecContextRequiredError
        return spec_of(seed_targets=SEEDS)

    monkeypatch.delenv("BEAKER_RUN_ID", raising=False)
    as_integration(insisting)
    monkeypatch.setenv("BEAKER_RUN_ID", "r-1")
    as_integration(insisting)
    assert seen == [(None, True), ("local", False), ("r-1", True), ("r-1", False)]


def test_as_integration__what_has_no_successor__is_ignored_with_a_warning() -> None:
    """Each is told once, at the line of the factory."""

    class Evidence:
        def evidence_for(self, **given: Any) -> Any:
            raise AssertionError

    idle = spec_of(evidence_provider=Evidence(), result_finalizer=lambda context: None, seed_targets=SEEDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = as_integration(decorated("all", idle))
    assert made.targets == (RepositoryTargets(None),)
    assert made.open_candidate is None
    (case,) = loaded(made, {"words": ["w"]})
    assert ran(made, case, runtime_of(Path())).output is None  # as `targets` is
    said = [str(one.message).partition(" of a Spec")[0] for one in caught]
    assert said == ["evidence_provider", "result_finalizer", "seed_targets"]
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert {lines[one.lineno - 1].strip() for one in caught} == {"def factory(context: Any) -> Spec:"}
    assert all("deprecated" in str(one.message) for one in caught)


def test_origin_of__spec__knows_its_judge_and_what_its_author_wrote() -> None:
    """The judge is not set in this process; who scores asks for it. An Integration of its own was made of no Spec."""
    before = dict(os.environ)
    made = integration_of(llm_scorer_model="openai:judge")
    origin = origin_of(made)
    assert origin is not None
    assert origin.judge == "openai:judge"
    assert list(origin.parts) == ["the factory <lambda>", "run_case", "the loader Loader", "the scorer Scorer"]
    assert dict(os.environ) == before
    plain = sdk.Integration(
        targets=sdk.repository(), run_setup=made.run_setup, run_case=today_runs, score_case=made.score_case
    )
    assert origin_of(plain) is None


async def today_runs(*, case_input: Any, runtime: Any) -> today.CaseResult:
    return today.CaseResult(None)


def test_load_entry__decorated_factory__stands_for_its_integration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry of either kind may name a decorated factory; an undecorated one only the entry of a Spec."""
    code = """
from beaker.sdk.spec04 import CaseResult, CaseScore, DatasetSchema, Spec, spec

class Parts:
    dataset_schema = DatasetSchema({})
    def parse_row(self, raw, context): ...
    def iter_cases(self, row, context): ...
    def score_case(self, *, case, result): ...

def run_case(*, case, targets, runtime): ...

@spec()
def build(context):
    return Spec(Parts(), run_case, Parts())

class Plain:
    def build(context):
        return Spec(Parts(), run_case, Parts())
"""
    (tmp_path / "made_of_a_spec.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for is_spec in (False, True):
            assert load_entry("made_of_a_spec:build", is_spec=is_spec).targets == (RepositoryTargets(None),)
    with pytest.raises(TypeError, match="must be an Integration, not the class Plain"):
        load_entry("made_of_a_spec:Plain", is_spec=False)
    with pytest.raises(TypeError, match="nothing to optimize"):
        load_entry("made_of_a_spec:Plain.build", is_spec=True)
