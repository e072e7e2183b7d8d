"""Names with two meanings: which one a module gets, told by what it imports or by how it was loaded, never by calls."""

import asyncio
import importlib
import py_compile
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

import beaker
import beaker.sdk
import beaker.sdk.integration
from beaker.sdk import spec04, spec_names
from beaker.sdk.generations import DEPRECATED, INTEGRATIONS_ONLY
from beaker.sdk.runtimes import RolloutRuntime
from beaker.sdk.spec04 import as_integration, load_factory, load_spec_from_target
from beaker.sdk.trace import NOOP_TRACE

TODAY = {name: getattr(beaker, name) for name in sorted(beaker.sdk.TWO_MEANINGS)}
THEN = {name: getattr(spec04, name) for name in TODAY}
ALL_NAMES = f"{', '.join(TODAY)}\n"

MANY = "".join(f"name{number} = 'constant {number}'\n" for number in range(300))
INDENTED = "".join(f"    {line}\n" for line in MANY.splitlines())
"""More names than an instruction can count without a second one."""

Write = Callable[..., None]
Warned = list[warnings.WarningMessage]

FACTORY = """\
import apart
import helper
from beaker import DatasetSchema, Spec, spec


class Loader:
    dataset_schema = DatasetSchema({})

    def parse_row(self, raw, context):
        return raw

    def iter_cases(self, row, context):
        return []

    async def score_case(self, *, case, result):
        return None


async def run_case(*, case, targets, runtime):
    return helper.late()(case.input)


class Built:
    @staticmethod
    @spec()
    def build(context):
        import lazy
        return Spec(Loader(), run_case, Loader(), llm_scorer_model=lazy.kind(context))
"""


@pytest.fixture(autouse=True)
def caught() -> Iterator[Warned]:
    """Every warning that comes, as often as it comes."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes modules by name, which can be imported until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def call(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(dedent(text))
        importlib.invalidate_caches()

    yield call
    for name in set(sys.modules) - before:
        if not name.startswith("beaker"):
            del sys.modules[name]


def names_of(module: ModuleType | dict[str, Any]) -> dict[str, Any]:
    """Those of the names with two meanings that a module has."""
    namespace = module if isinstance(module, dict) else vars(module)
    return {name: namespace[name] for name in TODAY if name in namespace}


def told(caught: Warned) -> list[tuple[str, int]]:
    """File and line of the warnings, each of which says the one thing there is to say."""
    assert {str(one.message) for one in caught} <= {DEPRECATED}
    assert all(one.category is DeprecationWarning for one in caught)
    return [(Path(one.filename).name, one.lineno) for one in caught]


def test_names__tables__agree() -> None:
    """Seven names have two meanings; every name of the generation is in `spec04` and says so."""
    assert set(spec_names.BY_GENERATION) == beaker.sdk.TWO_MEANINGS == set(TODAY)
    assert set(TODAY) == {
        *("Case", "CaseResult", "CaseScore", "FieldDiff", "RunCase"),
        *("inference_target", "objective_score"),
    }
    assert all(TODAY[name] is not THEN[name] for name in TODAY)
    assert not set(spec_names.SDK_SPEC_ONLY) & set(beaker.__all__)
    assert {*spec_names.SDK_SPEC_ONLY, *TODAY} <= set(spec04.__all__)
    for name in spec04.__all__:
        assert getattr(spec04, name) is not None


def test_names__of_the_generation__are_in_both_packages() -> None:
    """`beaker` hands out each, `spec` as the module that can be called; a few are in `beaker.sdk` alone."""
    for name in spec_names.SPEC_ONLY:
        assert getattr(beaker.sdk, name) is getattr(spec04, name)
        assert getattr(beaker, name) is (sys.modules["beaker.spec"] if name == "spec" else getattr(spec04, name))
    for name in set(spec_names.SDK_SPEC_ONLY) - set(spec_names.SPEC_ONLY):
        assert getattr(beaker.sdk, name) is getattr(spec04, name)
        with pytest.raises(AttributeError, match=f"module 'beaker' has no attribute '{name}'"):
            getattr(beaker, name)


@pytest.mark.parametrize(
    "text",
    [
        "from beaker import Spec\nfrom beaker import ",
        "from beaker import RolloutContext as Context, ",
        "from beaker.sdk import CandidateRejected\nfrom beaker import ",
        "from beaker.sdk import Spec\nfrom beaker.sdk import ",
        "from beaker.spec import get_registration\nfrom beaker import ",
        "import beaker.spec\nfrom beaker import ",
        "import beaker\nbeaker.Spec\nfrom beaker import ",
        "import beaker as b\ndef build(context):\n    return b.Spec(1, 2, 3)\nfrom beaker import ",
        "def build(context):\n    return b.Spec(1, 2, 3)\nimport beaker as b\nfrom beaker import ",
        "def build(context):\n    import beaker\n    return beaker.Spec(1, 2, 3)\nfrom beaker import ",
        "def build(context):\n    import beaker.sdk as s, os\n    return s.Spec(1, 2, 3)\nfrom beaker import ",
        "def build(context):\n    from beaker import sdk\n    return [sdk.Spec for _ in '']\nfrom beaker import ",
        "import beaker.sdk\nclass A:\n    def f(self):\n        return beaker.sdk.spec()\nfrom beaker import ",
        "from beaker import *\nfrom beaker import Trajectory, ",
        f"{MANY}def build(context):\n{INDENTED}    import beaker.sdk as s\n    return s.Spec\nfrom beaker import ",
        f"{MANY}import beaker\nbeaker.sdk.Spec\nfrom beaker import ",
        "if not __name__:\n    def build(context):\n        from beaker import Evidence\nfrom beaker.sdk import ",
    ],
)
def test_module__takes_a_name_of_the_generation__gets_its_meanings(write: Write, text: str) -> None:
    """Wherever the name stands in the module, and whether it is executed or not."""
    write(old=text + ALL_NAMES)
    assert names_of(importlib.import_module("old")) == THEN


@pytest.mark.parametrize(
    "text",
    [
        "from beaker import ",
        "from beaker.sdk import ",
        "from beaker import Check, RunSetup, InferenceTarget, DatasetSchema, ",
        "from returns.result import Result\nimport beaker\nfrom beaker import ",
        "from beaker import RunSetup\nclass Evidence:\n    Result = RunSetup\nEvidence.Result\nfrom beaker import ",
        "import beaker, types\nbeaker.sdk.__name__\nspec = types\nspec.__name__\nfrom beaker import ",
        "import beaker.dataset_schema as d\nd.STANDARD_JSONL_CASE_SCHEMA\nfrom beaker import ",
        "from beaker.sdk.spec04 import Spec, Case as OldCase\nfrom beaker import ",
        "from beaker.sdk.integration import ",
        "from beaker import Spec\nfrom beaker.sdk.integration import ",
    ],
)
def test_module__takes_no_such_name__gets_todays_meanings(write: Write, text: str) -> None:
    """Such a name of another library or object counts nothing, and `spec04` and `sdk.integration` have no rule."""
    write(new=text + ALL_NAMES)
    assert names_of(importlib.import_module("new")) == TODAY


def test_module__relative_imports__are_none_of_beaker(write: Write, tmp_path: Path) -> None:
    """A package may have modules called as Beaker's are."""
    package = tmp_path / "pack"
    package.mkdir()
    for name, text in {
        "__init__": "",
        "beaker": "Spec = spec = 1\n",
        "new": f"from .beaker import Spec, spec\nfrom beaker import {ALL_NAMES}",
        "older": f"from . import beaker\nbeaker.Spec\nfrom beaker import {ALL_NAMES}",
    }.items():
        (package / f"{name}.py").write_text(text)
    write()
    assert names_of(importlib.import_module("pack.new")) == TODAY
    assert names_of(importlib.import_module("pack.older")) == TODAY


def test_module__without_its_source__is_told_by_its_code(write: Write, tmp_path: Path) -> None:
    """What is shipped compiled has its imports all the same."""
    write(old="import beaker\ndef late():\n    return beaker.Case\ndef build():\n    return beaker.Spec\n")
    py_compile.compile(str(tmp_path / "old.py"), str(tmp_path / "old.pyc"), doraise=True)
    (tmp_path / "old.py").unlink()
    importlib.invalidate_caches()
    assert importlib.import_module("old").late() is spec04.Case


@pytest.mark.parametrize("name", sorted(INTEGRATIONS_ONLY))
def test_loader__module_of_an_integration__stays_one(write: Write, name: str) -> None:
    """What takes a name that only Integrations have is of today even where a Spec's module imports it."""
    write(factory="import apart\ndef build(context): ...\n", apart=f"from beaker import Case, {name}\n")
    load_factory("factory:build")
    assert sys.modules["apart"].Case is TODAY["Case"]


def test_modules__of_two_generations__do_not_disturb_each_other(write: Write, caught: Warned) -> None:
    """Whichever comes first, nothing is kept in the packages, and the classes take the forms of their time."""
    write(
        old="""\
            import beaker
            from beaker import Case, CaseResult, CaseScore, FieldDiff
            from beaker import Check, OptimizationTargets

            def late():
                return beaker.Case

            case = Case({"q": 1}, "c1", {"a": 2}, "group")
            keyed = Case(input=1, case_id="c", ground_truth={}, metadata={"m": 1})
            result = CaseResult("out", {"seconds": 1}, {"page": "text"})
            score = CaseScore({"f": 7}, 3.0, field_diffs=[FieldDiff("f", object, {1})], checks=[Check("c", "pass")])
            """,
        new="""\
            import beaker
            from beaker import Case, CaseResult, CaseScore, FieldDiff

            def late():
                return beaker.Case

            case = Case("c1", {"q": 1}, {"a": 2})
            result = CaseResult("out", "text", {"page": "text"})
            score = CaseScore(0.5, {"f": 1.0}, [FieldDiff("f", 1, 2)])
            """,
    )
    for order in (("old", "new"), ("new", "old")):
        old, new = sorted((importlib.import_module(name) for name in order), key=lambda module: module.__name__)[::-1]
        assert (old.late(), new.late()) == (spec04.Case, TODAY["Case"])
        assert (old.case.case_id, old.case.ground_truth, old.case.group_key) == ("c1", {"a": 2}, "group")
        assert (new.case.id, new.case.expected) == ("c1", {"a": 2})
        assert (old.result.run_metrics, new.result.output_kind) == ({"seconds": 1}, "text")
        assert (old.score.objective, old.score.field_scores) == (3.0, {"f": 7})
        assert (new.score.objective, new.score.field_scores) == (0.5, {"f": 1.0})
        del sys.modules["old"], sys.modules["new"]
    assert not beaker.sdk.TWO_MEANINGS & (set(vars(beaker)) | set(vars(beaker.sdk)))
    assert told(caught) == [("old.py", 2)] * 2


def test_forms__of_todays_classes_in_an_old_call__are_not_guessed(write: Write) -> None:
    """A module without a name of the generation gets today's class, and its old call fails."""
    write(new="from beaker import Case\nCase(input=1, case_id='c', ground_truth={})")
    with pytest.raises(TypeError, match="case_id"):
        importlib.import_module("new")


def test_loader__spec_entry__tells_the_generation_of_what_it_imports(write: Write, caught: Warned) -> None:
    """Modules without a name of the generation are of it when a factory's loading imports them, also later on."""
    write(
        factory=FACTORY,
        helper="import beaker\nfrom beaker import Case\ndef late():\n    return beaker.CaseResult\n",
        apart="from beaker import Case, RunSetup\n",
        lazy="def kind(context):\n    from beaker import Case\n    return f'p:{Case.__module__}'\n",
        unasked="import beaker\ndef late():\n    return beaker.Case\n",
        other="from beaker import Case\n",
    )
    importlib.import_module("unasked")
    spec = load_spec_from_target(" factory : Built.build ")
    helper, apart = sys.modules["helper"], sys.modules["apart"]
    assert (helper.Case, helper.late(), apart.Case) == (spec04.Case, spec04.CaseResult, TODAY["Case"])
    assert spec.llm_scorer_model == "p:beaker.sdk.spec04.cases"
    other, unasked = importlib.import_module("other"), sys.modules["unasked"]
    assert (other.Case, unasked.late()) == (TODAY["Case"], TODAY["Case"])
    assert sorted(told(caught)) == [("factory.py", 3), ("helper.py", 2), ("lazy.py", 2)]


def test_loader__module_first_asked_after_loading__keeps_its_generation(write: Write) -> None:
    """A module that was imported with a factory is of its generation even if it takes its first name much later."""
    odd = "import sys, types\nclass Odd(types.ModuleType):\n    __hash__ = None\nsys.modules['odd'] = Odd('odd')\n"
    write(
        factory=f"{odd}sys.modules['none'] = None\nimport helper\ndef build(context): ...\n",
        helper="def late():\n    from beaker import Case\n    return Case\n",
    )
    load_factory("factory:build")
    assert sys.modules["helper"].late() is spec04.Case


def test_hook__imports_a_module__that_is_of_the_generation(write: Write) -> None:
    """What a hook of a Spec imports when it is called belongs to the Spec, and what it imported before does not."""
    write(
        factory=FACTORY.replace("import helper\n", "").replace("helper.late()(case.input)", "hooked(case.input)")
        + "\n\ndef hooked(value):\n    import helper, other\n    return helper.Case, other.Case\n",
        apart="",
        lazy="def kind(context): ...\n",
        helper="from beaker import Case\n",
        other="from beaker import Case\n",
    )
    importlib.import_module("other")
    found: list[Any] = []
    integration = as_integration(load_factory("factory:Built.build"))
    hooked = sys.modules["factory"].hooked
    sys.modules["factory"].hooked = lambda value: found.extend(hooked(value))  # type: ignore[attr-defined]  # its own
    runtime = RolloutRuntime[Any](case_files_dir=Path(), trace=NOOP_TRACE)
    told = {"case_id": "c", "group_key": "g", "input": 1, "metadata": {}}
    with pytest.raises(TypeError):  # it gives no result
        asyncio.run(integration.run_case(case_input=told, runtime=runtime))
    assert found == [spec04.Case, TODAY["Case"]]


def test_loader__failed_entry__leaves_no_generation_behind(write: Write) -> None:
    """What is imported after a factory could not be loaded is of no entry."""
    write(factory="raise RuntimeError('broken')\n", other="from beaker import Case\n")
    with pytest.raises(RuntimeError, match="broken"):
        load_factory("factory:build")
    assert importlib.import_module("other").Case is TODAY["Case"]


def test_function__asks_first__is_answered_by_its_whole_module(write: Write, tmp_path: Path) -> None:
    """The module's code is found through its loader, or its source where the loader has none."""
    write(
        old="import beaker\ndef late():\n    return beaker.Case\ndef build():\n    return beaker.Spec\n",
        new="import beaker\ndef late():\n    return beaker.Case\n",
    )
    old, new = importlib.import_module("old"), importlib.import_module("new")
    assert (old.late(), new.late(), old.late()) == (spec04.Case, TODAY["Case"], spec04.Case)
    for broken in ("None", "object()"):
        namespace: dict[str, Any] = {"__name__": "exec", "__file__": str(tmp_path / "old.py")}
        exec(compile((tmp_path / "old.py").read_text() + f"__loader__ = {broken}\n", "old.py", "exec"), namespace)
        assert namespace["late"]() is spec04.Case
    functions = """
        import beaker
        def late():
            return beaker.Case
        def old():
            import beaker
            return beaker.Spec, beaker.Case
        """
    bare: dict[str, Any] = {}
    exec(dedent(functions), bare)
    assert (bare["late"](), bare["old"]()[1]) == (TODAY["Case"], spec04.Case)  # nobody has the code of their module


def test_module__reloaded_after_a_change__is_looked_at_again(write: Write) -> None:
    """What a module was before does not matter."""
    write(changing="from beaker import Case\n")
    module = importlib.import_module("changing")
    assert module.Case is TODAY["Case"]
    write(changing="from beaker import Case, Evidence\n")
    assert importlib.reload(module).Case is spec04.Case
    write(changing="from beaker import Case\n# no more\n")
    assert importlib.reload(module).Case is TODAY["Case"]


def test_notebook__cells__are_one_module() -> None:
    """In a namespace without a file, a name of the generation counts for what is executed behind it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = ("from beaker import Case", "first = Case", "from beaker import Case, Evidence", "from beaker import Case")
    for number, cell in enumerate(cells):
        exec(compile(cell, f"<cell {number}>", "exec"), namespace)
    assert (namespace["first"], namespace["Case"]) == (TODAY["Case"], spec04.Case)


def test_warning__module_of_the_generation__is_told_once_at_its_first_line(write: Write, caught: Warned) -> None:
    """Several names, statements, calls of the decorator and of `beaker.spec` make one warning of each module."""
    write(
        one="""\
            from beaker import (
                Check,
                Spec, Case,
            )
            from beaker import spec, Evidence
            import beaker

            @spec(metadata={})
            def build(context): ...

            @beaker.spec(metadata={})
            def other(context): ...
            """,
        two="import beaker\n\n@beaker.spec()\ndef build(context): ...\n",
        three="from beaker.sdk.spec04 import spec\n\n@spec()\ndef build(context): ...\n",
        none="from beaker.sdk.spec04 import Spec\nfrom beaker import Case\n",
    )
    for name in ("one", "two", "three", "none", "one"):
        importlib.import_module(name)
    assert told(caught) == [("one.py", 1), ("two.py", 3), ("three.py", 3)]
    assert "as_integration(build_spec)" in DEPRECATED


def test_warning__made_an_error__is_raised_where_the_name_is_taken(write: Write) -> None:
    """`-W error` stops the module, and does so again when it is imported again."""
    write(old="from beaker import Spec\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(DeprecationWarning, match="Spec API is deprecated"):
                importlib.import_module("old")


def test_spec__is_a_decorator_and_a_module(write: Write) -> None:
    """`beaker.spec` can be called before and after the module of that name is imported."""
    script = """
        import warnings; warnings.simplefilter("ignore")
        import beaker
        @beaker.spec()
        def build(context): ...
        from beaker.spec import get_registration, iter_registered_specs
        from beaker import spec
        @spec(repository=["src/"])
        def other(context): ...
        assert spec is beaker.spec and callable(spec)
        assert get_registration(build).repository == "all"
        assert [one.entrypoint for one in iter_registered_specs()] == ["__main__:build", "__main__:other"]
        def function():
            from beaker import Case
            return Case
        print(function().__module__)
    """
    done = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("beaker.sdk.spec04.cases", "")
