"""Bringing modules of 0.5 to 0.6.4 up to date: what is edited, what is left, and that it is done in one go."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.migration_code import Migrated, migrate_module, names_handed_on

SPEC_NAMES = ("Spec", "spec", "RolloutContext")


def migrated(source: str) -> Migrated:
    return migrate_module(dedent(source), "m.py", spec_names=SPEC_NAMES).unwrap()


def check(before: str, after: str, *by_hand: str) -> None:
    """A module becomes another, with these words of what is left; that one is left alone."""
    found = migrated(before)
    assert found.source == dedent(after)
    assert [f"{problem.where.partition(':')[2]} {problem.message}" for problem in found.by_hand] == [*by_hand]
    assert all(problem.code == "BK161" and problem.hint for problem in found.by_hand)
    assert bool(found.changes) == (found.source != dedent(before))
    again = migrated(found.source)
    assert (again.source, again.changes) == (found.source, ())


RENAMES = {
    "base": (
        "from beaker import RepositoryRunSetup\nclass S(RepositoryRunSetup[Row]): ...\n",
        "from beaker import RunSetup\nclass S(RunSetup[Row]): ...\n",
    ),
    "base with a candidate": (
        "from beaker import DocumentRunSetup\nclass S(DocumentRunSetup[Row, Candidate]): ...\n",
        "from beaker import RunSetup\nclass S(RunSetup[Row]): ...\n",
    ),
    "base beside one with parameters of its own": (
        "from beaker import DocumentRunSetup\nclass S(DocumentRunSetup[R, C,], Generic[A, B]): ...\n",
        "from beaker import RunSetup\nclass S(RunSetup[R], Generic[A, B]): ...\n",
    ),
    "base without parameters": (
        "from beaker import DocumentRunSetup\nclass S(Mixin, DocumentRunSetup): ...\n",
        "from beaker import RunSetup\nclass S(Mixin, RunSetup): ...\n",
    ),
    "one parameter of a base that had two": (
        "from beaker import DocumentRunSetup\nclass S(DocumentRunSetup[Row]): ...\n",
        "from beaker import RunSetup\nclass S(RunSetup[Row]): ...\n",
    ),
    "both bases": (
        "from beaker import RepositoryRunSetup, DocumentRunSetup\n"
        "class A(RepositoryRunSetup[R]): ...\nclass B(DocumentRunSetup[R, C]): ...\n",
        "from beaker import RunSetup\nclass A(RunSetup[R]): ...\nclass B(RunSetup[R]): ...\n",
    ),
    "both bases and today's": (
        "from beaker import (\n    DocumentRunSetup,\n    RunSetup,  # kept\n    RepositoryRunSetup,\n)\n"
        "class A(RepositoryRunSetup[R]): ...\n",
        "from beaker import (\n    RunSetup,  # kept\n)\nclass A(RunSetup[R]): ...\n",
    ),
    "one of two that stand in a line": (
        "from beaker import (RunSetup,\n    RepositoryRunSetup, Case)\n",
        "from beaker import (RunSetup,\n    Case)\n",
    ),
    "behind a backslash": (
        "from beaker import RunSetup, \\\n    RepositoryRunSetup\n\nx\n",
        "from beaker import RunSetup\n\nx\n",
    ),
    "with a comment of its own": (
        "from beaker import (\n    RunSetup,\n    RepositoryRunSetup  # goes\n)\n",
        "from beaker import (\n    RunSetup,\n)\n",
    ),
    "several that go at the end": (
        "from beaker import RunSetup, DocumentRunSetup, RepositoryRunSetup\n",
        "from beaker import RunSetup\n",
    ),
    "of the package": (
        "import beaker as b\nclass S(b.RepositoryRunSetup[Row]): ...\ndef f(c: b.ChangeSet): ...\n",
        "import beaker as b\nclass S(b.RunSetup[Row]): ...\ndef f(c: b.DocumentChangeSet): ...\n",
    ),
    "of the package, with a candidate": (
        "import beaker\nclass S(beaker.DocumentRunSetup[Row, C]): ...\n",
        "import beaker\nclass S(beaker.RunSetup[Row]): ...\n",
    ),
    "under another name": (
        "from beaker.sdk import RepositoryRunSetup as Base, ChangeSet as C\nclass S(Base[Row]): ...\nx = C\n",
        "from beaker.sdk import RunSetup as Base, DocumentChangeSet as C\nclass S(Base[Row]): ...\nx = C\n",
    ),
    "change set": (
        'from beaker import ChangeSet\n\n\ndef apply(c: ChangeSet):\n    """A ChangeSet."""\n'
        "    return ChangeSet([])\n",
        "from beaker import DocumentChangeSet\n\n\ndef apply(c: DocumentChangeSet):\n"
        '    """A ChangeSet."""\n    return DocumentChangeSet([])\n',
    ),
    "imports that are others' stay": (
        "from beaker import ChangeSet\nfrom other import RepositoryRunSetup\nfrom . import DocumentRunSetup\n",
        "from beaker import DocumentChangeSet\nfrom other import RepositoryRunSetup\nfrom . import DocumentRunSetup\n",
    ),
    "line ends and wide characters": (
        "# é\r\nfrom beaker import ChangeSet  # ü\r\né = ChangeSet\r\n",
        "# é\r\nfrom beaker import DocumentChangeSet  # ü\r\né = DocumentChangeSet\r\n",
    ),
}


@pytest.mark.parametrize("name", RENAMES)
def test_migrate_module__earlier_name__becomes_todays(name: str) -> None:
    """Imports, bases and uses are renamed together, everything else stays as it is."""
    check(*RENAMES[name])


KEPT = {
    "a text says the name": (
        "from beaker import ChangeSet\n__all__ = ['ChangeSet']\n",
        "2 ChangeSet is not renamed: a text says it too",
    ),
    "an annotation in quotes": (
        "from beaker import ChangeSet\ndef f(c: 'list[ChangeSet]'): ...\n",
        "2 ChangeSet is not renamed: a text says it too",
    ),
    "the module binds it": (
        "from beaker import ChangeSet\ndef f():\n    ChangeSet = 1\n",
        "3 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "a parameter": (
        "from beaker import ChangeSet\ndef f(ChangeSet): ...\n",
        "2 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "a class of that name": (
        "from beaker import ChangeSet\nclass ChangeSet: ...\n",
        "2 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "a function of that name": (
        "from beaker import ChangeSet\ndef ChangeSet(): ...\n",
        "2 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "a capture": (
        "from beaker import ChangeSet\nmatch x:\n    case ChangeSet: ...\n",
        "3 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "an exception of that name": (
        "from beaker import ChangeSet\ntry: ...\nexcept E as ChangeSet: ...\n",
        "3 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "rest of a sequence": (
        "from beaker import ChangeSet\nmatch x:\n    case [*ChangeSet]: ...\n",
        "3 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "a class of the new name": (
        "from beaker import ChangeSet\nclass DocumentChangeSet: ...\n",
        "2 ChangeSet is not renamed: the module binds the name DocumentChangeSet itself",
    ),
    "another import of the new name": (
        "from beaker import ChangeSet\nfrom other import DocumentChangeSet\n",
        "2 ChangeSet is not renamed: the module imports another DocumentChangeSet",
    ),
    "Beaker's under the new name": (
        "from beaker import ChangeSet\nfrom beaker import Case as DocumentChangeSet\n",
        "2 ChangeSet is not renamed: the module imports another DocumentChangeSet",
    ),
    "a package of the new name": (
        "from beaker import ChangeSet\nimport DocumentChangeSet\n",
        "2 ChangeSet is not renamed: the module imports another DocumentChangeSet",
    ),
    "a module of ours with the new name": (
        "from beaker import ChangeSet\nfrom .beaker import DocumentChangeSet\n",
        "2 ChangeSet is not renamed: the module imports another DocumentChangeSet",
    ),
    "deleted": (
        "from beaker import ChangeSet\ndel ChangeSet\n",
        "2 ChangeSet is not renamed: the module binds the name ChangeSet itself",
    ),
    "a base that is used otherwise": (
        "from beaker import RepositoryRunSetup\nclass S(RepositoryRunSetup[R]): ...\nB = RepositoryRunSetup\n",
        "3 RepositoryRunSetup is not renamed: it is used for something else than as a base",
    ),
    "its base's hook is called": (
        "from beaker import RepositoryRunSetup\nclass S(RepositoryRunSetup[R]):\n"
        "    def prepare_run(self, *, runtime):\n        return super().prepare_run(runtime=runtime)\n",
        "4 RepositoryRunSetup is not renamed: its prepare_run is called, and gives another result than that of "
        "RunSetup",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_migrate_module__name_that_cannot_go__is_left_whole(name: str) -> None:
    """A name is renamed everywhere or nowhere; why not is told with its line."""
    source, said = KEPT[name]
    check(source, source, said)


def test_migrate_module__name_that_others_take_from_it__stays() -> None:
    """What a module hands on to others of its project is not renamed in one of them."""
    other = "import a, beaker\nfrom a import DocumentRunSetup as D\nfrom .b import ChangeSet, x\n"
    other += "y = a.RepositoryRunSetup, beaker.ChangeSet, a.z\n"
    assert names_handed_on(other, "o.py").unwrap() == {"DocumentRunSetup", "ChangeSet", "RepositoryRunSetup"}
    assert (
        names_handed_on("from beaker import ChangeSet\nimport beaker\nx = beaker.ChangeSet\n", "o.py").unwrap() == set()
    )
    assert names_handed_on("(", "o.py").failure().code == "BK160"
    source = "import os\nfrom beaker import ChangeSet, RepositoryRunSetup\nclass S(RepositoryRunSetup[R]): ...\n"
    found = migrate_module(source, "m.py", handed_on=("ChangeSet",)).unwrap()
    assert found.source == source.replace("RepositoryRunSetup", "RunSetup")
    assert [str(problem) for problem in found.by_hand] == [
        "m.py:1: ChangeSet is not renamed: a module takes it from another one of the project"
    ]


def test_migrate_module__one_base_stays__the_other_goes_on_its_own() -> None:
    """What is left to the author does not keep the rest of the module back."""
    before = (
        "from beaker import RepositoryRunSetup, DocumentRunSetup\nX = RepositoryRunSetup\n"
        "class S(DocumentRunSetup[R, C]): ...\nclass T(Other):\n    def f(self): super().prepare_run()\n"
    )
    after = before.replace("DocumentRunSetup[R, C]", "RunSetup[R]").replace("DocumentRunSetup", "RunSetup")
    check(before, after, "2 RepositoryRunSetup is not renamed: it is used for something else than as a base")


def test_migrate_module__comment_beside_an_import__is_not_lost() -> None:
    """A name that is imported for nothing stays where taking it out would take a comment along."""
    source = "from beaker import (RunSetup,  # today's\n    RepositoryRunSetup)\n"
    check(source, source, "2 RepositoryRunSetup stays imported: a comment would go with it")


RESULTS = {
    "a call": ("yield RepositoryRunSetupResult(x)", 'yield {"repository": RepositoryRunSetupResult(x)}'),
    "in brackets": ("yield (DocumentRunSetupResult())", 'yield ({"documents": DocumentRunSetupResult()})'),
    "a variable": (
        "r = DocumentRunSetupResult(\n            a,\n        )\n        yield r",
        'r = DocumentRunSetupResult(\n            a,\n        )\n        yield {"documents": r}',
    ),
    "an annotated variable": (
        "r: Any = DocumentRunSetupResult()\n        yield r",
        'r: Any = DocumentRunSetupResult()\n        yield {"documents": r}',
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_migrate_module__bare_result__is_put_into_its_mapping(name: str) -> None:
    """What is known to be one result is yielded under its kind."""
    head = "from beaker import DocumentRunSetupResult, RepositoryRunSetupResult\n"
    head += "class S:\n    async def prepare_run(self):\n"
    before, after = RESULTS[name]
    check(f"{head}        {before}\n", f"{head}        {after}\n")


@pytest.mark.parametrize(
    "body",
    [
        'yield {"repository": RepositoryRunSetupResult()}',
        "yield",
        "yield other(1)",
        "yield unknown",
        "r = RepositoryRunSetupResult()\n        r = other\n        yield r",
        "r = RepositoryRunSetupResult()\n        for r in x: ...\n        yield r",
        "r: Any\n        yield r",
        "r = 1\n        yield r",
        "def inner(): yield RepositoryRunSetupResult()\n        yield x",
        "f = lambda: (yield RepositoryRunSetupResult())\n        yield x",
        "async with super().prepare_run() as r:\n            yield r",
    ],
)
def test_migrate_module__anything_else_that_is_yielded__stays(body: str) -> None:
    """A mapping is one already; what cannot be seen to be a bare result is not touched."""
    source = (
        f"from beaker import RepositoryRunSetupResult\nclass S:\n    async def prepare_run(self):\n        {body}\n"
        "def elsewhere():\n    yield RepositoryRunSetupResult()\n"
    )
    check(source, source)


def test_migrate_module__candidate_of_the_runtime__has_its_new_name() -> None:
    """In hooks, and where a test makes a runtime; not in a module of Specs, whose context still has the old one."""
    source = (
        "from beaker import RolloutRuntime\n"
        "def run_case(runtime): return runtime.candidate_runtime.x + runtime.model\n"
        "r = RolloutRuntime[int](model='m', candidate_runtime=1)\n"
        "other(candidate_runtime=1, **x)\n"
        "def one(r: RolloutRuntime[int], *a, **k): return lambda x: r.candidate_runtime\n"
        "def two(r: 'RolloutRuntime', runtime: object): return r.candidate_runtime, runtime.candidate_runtime\n"
    )
    after = source.replace(".candidate_runtime", ".candidate").replace(
        "model='m', candidate_runtime=1", "model='m', candidate=1"
    )
    check(source, after)
    specs = "from beaker import Case, RolloutContext\ndef run_case(runtime): return runtime.candidate_runtime\n"
    check(specs, specs)
    attribute = "import beaker\nx = beaker.RolloutContext\ndef run_case(runtime): return runtime.candidate_runtime\n"
    check(attribute, attribute)


@pytest.mark.parametrize(
    "place",
    [
        "def f(box): return box.candidate_runtime",
        "def f(self): return self.candidate_runtime",
        "def f(self): self.candidate_runtime = 1",
        "def f(): return g().candidate_runtime",
        "def f(runtime): return lambda runtime=1, *x: [runtime for runtime in x][0].candidate_runtime",
        "def f(runtime: Box): return runtime.candidate_runtime",
        "def f(runtime):\n    runtime = 1; return runtime.candidate_runtime",
        "def f(runtime):\n    def g(*runtime): return runtime.candidate_runtime",
        "runtime.candidate_runtime",
    ],
)
def test_migrate_module__attribute_of_another_object__is_left_to_the_author(place: str) -> None:
    """What `candidate_runtime` is asked of must be known to be a runtime of Beaker's."""
    source = f"from beaker import Case\n{place}\n"
    found = migrate_module(source, "m.py").unwrap()
    assert (found.source, found.changes) == (source, ())
    assert [problem.message for problem in found.by_hand] == [
        "candidate_runtime is not renamed: this may be no runtime of Beaker's"
    ]


def test_migrate_module__inside_of_texts__is_renamed_too() -> None:
    """What an f-string evaluates is code like any other."""
    source = (
        "from beaker import ChangeSet\n"
        "x = lambda runtime: ('a' f'''\n{runtime.candidate_runtime} {ChangeSet}'''\n"
        "     f'{runtime.candidate_runtime}')\n"
    )
    check(source, source.replace("ChangeSet", "DocumentChangeSet").replace("candidate_runtime", "candidate"))


def test_migrate_module__text_that_cannot_be_edited__is_left_with_its_line() -> None:
    """Edits with which the module could not be read any more are not made; others are."""
    source = (
        "from beaker import DocumentRunSetup, RolloutRuntime\nclass S(DocumentRunSetup[((Row)), C]): ...\n"
        "x = lambda runtime: runtime.candidate_runtime\n"
    )
    said = "1 DocumentRunSetup becomes RunSetup: the text around it cannot be edited safely"
    check(source, source.replace("candidate_runtime", "candidate"), said)


@pytest.mark.parametrize(
    "source", ["", "x = runtime.candidate_runtime\n", "from other import ChangeSet\nx = ChangeSet\n"]
)
def test_migrate_module__without_beaker__is_left_alone(source: str) -> None:
    """A module that takes nothing from Beaker is nobody's business."""
    check(source, source)


def test_migrate_module__no_python__is_a_problem() -> None:
    """What cannot be read cannot be edited."""
    assert migrate_module("def (", "m.py").failure().where == "m.py:1"


@given(
    st.permutations(["ChangeSet", "RunSetup", "RepositoryRunSetup", "DocumentRunSetup", "Case"]),
    st.booleans(),
    st.data(),
)
def test_migrate_module__any_import__still_gives_every_name(names: list[str], lines: bool, data: st.DataObject) -> None:
    """However names are listed, afterwards each of today's is imported once, and no earlier one."""
    chosen = names[: data.draw(st.integers(1, len(names)))]
    joint = ",\n    " if lines else ", "
    listed = f"(\n    {joint.join(chosen)},\n)" if lines else joint.join(chosen)
    found = migrated(f"from beaker import {listed}\n")
    namespace: dict[str, list[str]] = {}
    imported = found.source.removeprefix("from beaker import ").strip().strip("()").replace("\n", " ").split(",")
    namespace["names"] = [name.strip() for name in imported if name.strip()]
    today = {"ChangeSet": "DocumentChangeSet", "RepositoryRunSetup": "RunSetup", "DocumentRunSetup": "RunSetup"}
    assert sorted(namespace["names"]) == sorted({today.get(name, name) for name in chosen})
    assert found.by_hand == ()
