"""What 0.5 to 0.6.4 had: it works as it did, and each use warns once, at the line of whoever uses it."""

import asyncio
import dataclasses
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

import beaker
import beaker.sdk
import beaker.sdk.integration
from beaker import (
    Case,
    CaseResult,
    CaseScore,
    DocumentChangeSet,
    DocumentRunSetupResult,
    Integration,
    RepositoryRunSetupResult,
    RolloutRuntime,
    RunSetup,
    TargetDocument,
    documents,
    load_integration,
    repository,
    validate_integration,
)
from beaker.sdk.earlier import DocumentRunSetup, RepositoryRunSetup, SetupOpener, named_results, setup_opener
from beaker.sdk.trace import NOOP_TRACE

NAMES = ("ChangeSet", "DocumentRunSetup", "RepositoryRunSetup")
DOCUMENTS, REPOSITORY = documents(groups=("kb",)), repository()
SEEDED = DocumentRunSetupResult(target_documents=[TargetDocument(source_id="1", group="kb", name="a", content="A")])

Warned = list[warnings.WarningMessage]
Execute = Callable[..., tuple[dict[str, Any], Warned]]


@pytest.fixture
def always() -> Iterator[Warned]:
    """Every warning, also one that came before."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


@pytest.fixture
def execute(tmp_path: Path) -> Execute:
    """Executes the text of a module, in which the names `given` are known; its names, and the warnings that came."""

    def call(text: str, *, action: Any = "always", **given: Any) -> tuple[dict[str, Any], Warned]:
        file = tmp_path / "customer.py"
        file.write_text(text)
        namespace: dict[str, Any] = {"__name__": "customer", "__file__": str(file), **given}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            exec(compile(text, str(file), "exec"), namespace)
        return namespace, caught

    return call


def places(caught: Warned) -> list[tuple[str, int]]:
    """File and line of every warning, all of which are of the right kind and say so."""
    for warning in caught:
        assert warning.category is DeprecationWarning
        assert "deprecated" in str(warning.message)
    return [(Path(warning.filename).name, warning.lineno) for warning in caught]


def here() -> tuple[str, int]:
    """The line that calls this."""
    return Path(__file__).name, sys._getframe(1).f_lineno


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("module", ["beaker", "beaker.sdk", "beaker.sdk.integration"])
def test_name__imported_or_looked_up__warns_once_there(execute: Execute, module: str, name: str) -> None:
    """Both ways to a name give the same class and one warning at the statement that took it."""
    text = f"import {module}\nfrom {module} import (\n    Case,\n    {name},\n)\nfound = {module}.{name}\n"
    namespace, caught = execute(text)
    assert places(caught) == [("customer.py", 2), ("customer.py", 6)]
    assert namespace["found"] is namespace[name]
    assert all(str(warning.message).startswith(f"{name} is deprecated") for warning in caught)


def test_name__same_line_again__is_told_once_by_default(execute: Execute) -> None:
    """Python's own rule holds: once per line, however often it is executed; another line is another use."""
    text = "import beaker\nfor _ in range(3):\n    beaker.ChangeSet\nbeaker.ChangeSet\n"
    assert places(execute(text, action="default")[1]) == [("customer.py", 3), ("customer.py", 4)]


def test_name__warnings_as_errors__stop_the_import(execute: Execute) -> None:
    """Who makes errors of warnings gets one, and no wrong `ImportError`."""
    with pytest.raises(DeprecationWarning, match="DocumentChangeSet"):
        execute("from beaker import ChangeSet", action="error")


@pytest.mark.parametrize("module", [beaker, beaker.sdk])
def test_name__earlier__is_no_part_of_the_surface(module: Any, always: Warned) -> None:
    """They are neither listed nor kept, so that asking warns again."""
    for name in NAMES:
        getattr(module, name)
        assert name not in module.__all__
        assert name not in dir(module)
        assert name not in vars(module)
    assert len(always) == len(NAMES)
    assert not hasattr(beaker.sdk.integration, "Nothing")


def test_change_set__is_the_document_change_set_without_groups(always: Warned) -> None:
    """One class under two names, so values of either are taken for the other."""
    made = beaker.ChangeSet("r", "0" * 64, "1" * 64, ())
    assert isinstance(made, DocumentChangeSet)
    assert made == DocumentChangeSet("r", "0" * 64, "1" * 64, ())
    assert made.groups == ()


class Loads:
    """The part of a setup that every one has."""

    row_model = dict

    async def load_cases(self, row: Any, *, runtime: Any) -> Any:
        yield Case(row["id"], None)


class InRepository(Loads, RepositoryRunSetup[dict[str, Any]]):
    pass


class OfDocuments(Loads, DocumentRunSetup[dict[str, Any], str]):
    @asynccontextmanager
    async def prepare_run(self, *, runtime: Any) -> Any:
        yield SEEDED


class Opening(OfDocuments):
    @asynccontextmanager
    async def open_candidate(self, *, targets_dir: Any, scratch_dir: Any) -> Any:
        yield self, targets_dir, scratch_dir


async def run_case(*, case_input: Any, runtime: Any) -> CaseResult:
    return CaseResult(runtime.candidate_runtime)


async def score_case(*, case: Any, result: Any, case_files_dir: Any) -> CaseScore:
    return CaseScore(1.0, {})


def integration(setup: type[RunSetup[Any]], targets: Any, **more: Any) -> Integration:
    return Integration(targets=targets, run_setup=setup, run_case=run_case, score_case=score_case, **more)


def test_type_parameters__are_one_and_two() -> None:
    """`RepositoryRunSetup[Row]` and `DocumentRunSetup[Row, Candidate]`, both subclasses of `RunSetup`."""
    assert issubclass(InRepository, RunSetup)
    assert issubclass(OfDocuments, RunSetup)
    with pytest.raises(TypeError):
        DocumentRunSetup[dict[str, Any]]  # type: ignore[misc]  # it is what is refused
    with pytest.raises(TypeError):
        RepositoryRunSetup[dict[str, Any], str]  # type: ignore[misc]  # as above


@pytest.mark.parametrize(
    "setup,targets,base",
    [
        (InRepository, DOCUMENTS, "RepositoryRunSetup"),
        (InRepository, (REPOSITORY, DOCUMENTS), "RepositoryRunSetup"),
        (OfDocuments, REPOSITORY, "DocumentRunSetup"),
        (OfDocuments, (DOCUMENTS, documents(groups=("more",))), "DocumentRunSetup"),
    ],
)
def test_setup__other_targets_than_its_one__are_refused(setup: Any, targets: Any, base: str) -> None:
    """The base says which one target there is."""
    with pytest.raises(TypeError, match=f"is a {base}"):
        integration(setup, targets)


def test_setup__without_a_valid_target__is_told_that_alone() -> None:
    """What the base asks for is no second fault of a target that is none."""
    with pytest.raises(TypeError) as caught:
        integration(InRepository, ())
    assert "\n" not in str(caught.value)


def test_setup__its_one_target__is_taken() -> None:
    """Without a warning of its own: the name was warned about where it was imported."""
    assert integration(InRepository, REPOSITORY).open_candidate is None
    assert integration(OfDocuments, [DOCUMENTS]).open_candidate is None


def test_setup__documents_without_prepare_run__are_refused() -> None:
    """As with `RunSetup`, somebody has to give the seeds."""

    class Unprepared(Loads, DocumentRunSetup[dict[str, Any], None]):
        pass

    with pytest.raises(TypeError, match="prepare_run must be overridden"):
        integration(Unprepared, DOCUMENTS)


def test_open_candidate__on_the_setup_class__is_the_hook(always: Warned) -> None:
    """It is called on a new instance; the warning stands at its `def`, once however often it is checked."""
    made = integration(Opening, DOCUMENTS)
    validate_integration(made)
    file, line = Path(__file__), Opening.open_candidate.__wrapped__.__code__.co_firstlineno + 1
    assert places(always) == [(file.name, line)]
    assert "async def open_candidate" in file.read_text().splitlines()[line - 1]

    async def entered() -> Any:
        assert made.open_candidate is not None
        async with made.open_candidate(targets_dir=Path("t"), scratch_dir=Path("s")) as candidate:
            return candidate

    first, second = asyncio.run(entered()), asyncio.run(entered())
    assert (first[1:], type(first[0])) == ((Path("t"), Path("s")), Opening)
    assert first[0] is not second[0]
    assert made == integration(Opening, DOCUMENTS)
    assert dataclasses.replace(made) == made


def test_open_candidate__default_of_the_base__yields_nothing() -> None:
    """A subclass may call what it overrides."""

    async def entered() -> Any:
        async with OfDocuments().open_candidate(targets_dir=None, scratch_dir=Path()) as candidate:
            return candidate

    assert asyncio.run(entered()) is None


def test_open_candidate__given_to_the_integration__wins() -> None:
    """What is said where it belongs counts, and there is nothing to warn about."""

    @asynccontextmanager
    async def open_candidate(*, targets_dir: Any, scratch_dir: Any) -> Any:
        yield None

    made = integration(Opening, DOCUMENTS, open_candidate=open_candidate)
    assert made.open_candidate is open_candidate


@pytest.mark.parametrize(
    "body,message",
    [
        ("open_candidate = 1", "must be None or a function"),
        ("async def open_candidate(self, *, targets_dir, scratch_dir): ...", "not a coroutine"),
        ("async def open_candidate(self, *, targets_dir, scratch_dir): yield", "must be decorated"),
        ("@asynccontextmanager\n    async def open_candidate(self): yield", "must be callable as"),
    ],
)
def test_open_candidate__of_a_wrong_form__is_refused_of_a_document_setup_only(
    execute: Execute, body: str, message: str
) -> None:
    """`DocumentRunSetup` gives the name a meaning, so a mistake is one; on `RunSetup` it is a method like any other."""
    text = (
        "from contextlib import asynccontextmanager\n"
        f"class Old(OfDocuments):\n    {body}\n"
        f"class New(Prepared):\n    {body}\n"
    )
    made, _ = execute(text, OfDocuments=OfDocuments, Prepared=Prepared)
    with pytest.raises(TypeError, match=message):
        integration(made["Old"], DOCUMENTS)
    assert integration(made["New"], DOCUMENTS).open_candidate is None


class Prepared(Loads, RunSetup[dict[str, Any]]):
    @asynccontextmanager
    async def prepare_run(self, *, runtime: Any) -> Any:
        yield {"documents": SEEDED}


def test_open_candidate__on_a_plain_setup__is_the_hook_when_it_can_be_called_as_one(always: Warned) -> None:
    """An Integration that changed its base first keeps its hook, static methods included."""

    class Half(Prepared):
        @staticmethod
        @asynccontextmanager
        async def open_candidate(*, targets_dir: Any, scratch_dir: Any) -> Any:
            yield 1

    assert integration(Half, DOCUMENTS).open_candidate == SetupOpener(Half)
    assert len(places(always)) == 1
    assert setup_opener(Prepared) is None


async def entered(manager: Any) -> Any:
    await type(manager).__aenter__(manager)
    return manager


def test_bare_result__of_a_generator__warns_at_its_yield(always: Warned) -> None:
    """The line that yields is the line to change."""
    lines: list[tuple[str, int]] = []

    @asynccontextmanager
    async def prepare_run() -> Any:
        lines.append(here())
        yield SEEDED

    async def named() -> Any:
        manager = await entered(prepare_run())
        try:
            return named_results(SEEDED, manager, prepare_run)
        finally:
            await manager.__aexit__(None, None, None)

    assert asyncio.run(named()) == {"documents": SEEDED}
    ((file, line),) = lines
    assert places(always) == [(file, line + 1)]
    assert "yield {'documents': DocumentRunSetupResult(...)}" in str(always[0].message)


def test_bare_result__of_another_context_manager__warns_at_the_method(always: Warned) -> None:
    """Where no generator waits at a `yield`, the method is what to look at."""

    def prepare_run() -> Any:
        return nullcontext(RepositoryRunSetupResult())

    assert named_results(RepositoryRunSetupResult(), prepare_run(), prepare_run) == {
        "repository": RepositoryRunSetupResult()
    }
    assert places(always) == [(Path(__file__).name, prepare_run.__code__.co_firstlineno)]


def test_bare_result__of_the_base__is_nobodys_fault(always: Warned) -> None:
    """`RepositoryRunSetup` yields its result bare, as it did, for subclasses that look at it."""

    async def named() -> Any:
        async with InRepository().prepare_run(runtime=None) as results:  # type: ignore[arg-type]  # it needs none
            manager = await entered(InRepository().prepare_run(runtime=None))  # type: ignore[arg-type]  # as above
            found = named_results(results, manager, InRepository.prepare_run)
            await manager.__aexit__(None, None, None)
            return results, found

    result = RepositoryRunSetupResult()
    assert asyncio.run(named()) == (result, {"repository": result})
    assert always == []


@pytest.mark.parametrize("results", [None, {}, {"documents": SEEDED}, [SEEDED]])
def test_results__not_bare__are_left_alone(results: Any, always: Warned) -> None:
    """Whatever else was yielded is judged as ever."""
    assert named_results(results, None, None) is results
    assert always == []


def test_candidate_runtime__is_the_candidate(always: Warned) -> None:
    """The same object under its old name, which is no field."""
    runtime = RolloutRuntime[str](case_files_dir=Path(), trace=NOOP_TRACE, candidate="opened")
    assert (runtime.candidate_runtime, here()) == ("opened", (Path(__file__).name, places(always)[0][1]))
    assert len(always) == 1
    assert "candidate_runtime" not in {field.name for field in dataclasses.fields(runtime)}


EARLIER = """\
from beaker import Case, CaseResult, CaseScore, Integration, RepositoryRunSetup, repository
class Setup(RepositoryRunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield Case(row["id"], None)
async def run_case(*, case_input, runtime):
    return CaseResult(runtime.candidate_runtime)
async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})
integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
"""
LATER = (
    EARLIER.replace("RepositoryRunSetup,", "RunSetup,")
    .replace("RepositoryRunSetup[", "RunSetup[")
    .replace("candidate_runtime", "candidate")
)


@pytest.mark.parametrize("order", [("earlier", "later"), ("later", "earlier")])
def test_generations__in_one_process__do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: Warned, order: tuple[str, str]
) -> None:
    """Whichever comes first, each module gets what it asks for, and only the earlier one is warned."""
    monkeypatch.syspath_prepend(tmp_path)
    runtime = RolloutRuntime[str](case_files_dir=Path(), trace=NOOP_TRACE, candidate="opened")
    for name in order:
        monkeypatch.delitem(sys.modules, f"generation_{name}", raising=False)
        (tmp_path / f"generation_{name}.py").write_text(EARLIER if name == "earlier" else LATER)
        loaded = load_integration(f"generation_{name}:integration")
        assert issubclass(loaded.run_setup, RepositoryRunSetup) == (name == "earlier")
        assert asyncio.run(loaded.run_case(case_input=None, runtime=runtime)) == CaseResult("opened")  # type: ignore[arg-type]  # a coroutine
        monkeypatch.delitem(sys.modules, f"generation_{name}")
    assert places(always) == [("generation_earlier.py", 1), ("generation_earlier.py", 7)]
