"""Laws of change sets: derivation, planning, application, inversion, and their JSON form."""

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from returns.pipeline import is_successful

from beaker.core.changesets import (
    FORMAT,
    Conflict,
    apply,
    change_set_from_json,
    change_set_to_json,
    derive,
    invert,
    plan,
    render_diff,
)
from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    Place,
    TargetDocument,
    UpdateDocumentChange,
    check_candidate_files,
    check_documents,
    document_key,
)
from beaker.core.strict_json import dumps, parse

VECTORS = Path(__file__).parent.parent / "vectors"
DOCUMENTS = json.loads((VECTORS / "documents.json").read_text(encoding="utf-8"))
PLANS = json.loads((VECTORS / "change_plans.json").read_text(encoding="utf-8"))["cases"]
HASH = "0" * 64
GROUPS = ("faq", "kb")

NAMES = ["a", "a/b", "a/c/d", "b.md", "B.md", "é", "e\u0301", "x/y"]
places = st.tuples(st.sampled_from(GROUPS), st.sampled_from(NAMES))
contents = st.sampled_from(["", "one", "one\n", "one\r\n", "\ufefftwo", "zwölf\n"])
versions = st.sampled_from([None, "1", "2"])


def document(place: Place, content: str, version: str | None = None, editable: bool = True) -> TargetDocument:
    group, name = place
    return TargetDocument(
        source_id=f"{group}:{name}", group=group, name=name, content=content, version=version, editable=editable
    )


def by_place(documents: Iterable[TargetDocument]) -> dict[Place, str]:
    return {(one.group, one.name): one.content for one in documents}


def sha(content: str) -> str:
    return sha256(content.encode()).hexdigest()


def fits(taken: Iterable[Place], place: Place) -> bool:
    """Whether a document may stand at `place` beside others; naive on purpose."""
    group, name = document_key(*place)
    for other in taken:
        other_group, other_name = document_key(*other)
        if other_group == group and (
            name == other_name or name.startswith(f"{other_name}/") or other_name.startswith(f"{name}/")
        ):
            return False
    return True


def tree(drawn: dict[Place, Any]) -> dict[Place, Any]:
    """As many of the drawn places as fit beside each other."""
    kept: dict[Place, Any] = {}
    for place, item in drawn.items():
        if fits(kept, place):
            kept[place] = item
    return kept


@st.composite
def stores(draw: st.DrawFn) -> tuple[TargetDocument, ...]:
    drawn = tree(draw(st.dictionaries(places, st.tuples(contents, versions, st.booleans()), max_size=7)))
    return tuple(document(place, content, version, editable) for place, (content, version, editable) in drawn.items())


@st.composite
def candidates(draw: st.DrawFn, seeds: Sequence[TargetDocument]) -> dict[Place, str]:
    """A candidate that may be made from `seeds`: edits, deletions and creations, no respelling, no protected one."""
    files: dict[Place, str] = {}
    for seed in seeds:
        action = draw(st.sampled_from(["keep", "edit", "delete"])) if seed.editable else "keep"
        if action != "delete":
            files[seed.group, seed.name] = seed.content if action == "keep" else draw(contents)
    spelled = {document_key(seed.group, seed.name): (seed.group, seed.name) for seed in seeds}
    for place, content in draw(st.dictionaries(places, contents, max_size=4)).items():
        if fits(files, place) and spelled.get(document_key(*place), place) == place:
            files[place] = content
    return files


@st.composite
def derived(draw: st.DrawFn) -> tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet]:
    seeds = draw(stores())
    files = draw(candidates(seeds))
    return seeds, files, derive("run-1", GROUPS, seeds, files).unwrap()


changes: st.SearchStrategy[DocumentChange] = st.one_of(
    st.builds(
        lambda place, content: CreateDocumentChange(group=place[0], name=place[1], content=content), places, contents
    ),
    st.builds(
        lambda place, content, base, version: UpdateDocumentChange(
            source_id="p", group=place[0], name=place[1], content=content, base_sha256=sha(base), base_version=version
        ),
        places,
        contents,
        contents,
        versions,
    ),
    st.builds(
        lambda place, base, version: DeleteDocumentChange(
            source_id="p", group=place[0], name=place[1], base_sha256=sha(base), base_version=version
        ),
        places,
        contents,
        versions,
    ),
)
change_sets = st.builds(
    lambda listed, groups: DocumentChangeSet("run-1", HASH, HASH, tuple(listed), groups=groups),
    st.lists(changes, max_size=6),
    st.sampled_from([(), GROUPS]),
)


def expected(change: DocumentChange, store: dict[Place, TargetDocument]) -> str:
    """The decision for one operation, written a second time as naively as the contract reads."""
    mine = store.get((change.group, change.name))
    spelled_otherwise = [
        place
        for place in store
        if document_key(*place) == document_key(change.group, change.name) and place != (change.group, change.name)
    ]
    if spelled_otherwise:
        return "content_conflict"
    if change.op == "delete":
        if mine is None:
            return "already_applied"
    elif mine is not None and mine.content == change.content:
        return "already_applied"
    if change.op == "create":
        return "applies" if mine is None else "content_conflict"
    if mine is None:
        return "content_conflict"
    if None not in (change.base_version, mine.version) and change.base_version != mine.version:
        return "version_conflict"
    return "applies" if sha(mine.content) == change.base_sha256 else "content_conflict"


def naive(store: tuple[TargetDocument, ...], change_set: DocumentChangeSet) -> dict[Place, str] | str:
    """The store's contents after the set, or `"conflict"` or `"refused"`."""
    keys = [document_key(change.group, change.name) for change in change_set.changes]
    if len(set(keys)) != len(keys):
        return "refused"
    found = {(one.group, one.name): one for one in store}
    conflict = any(expected(change, found).endswith("conflict") for change in change_set.changes)
    after = {document_key(*place): (place, content) for place, content in by_place(store).items()}
    for key, change in zip(keys, change_set.changes, strict=True):
        if isinstance(change, DeleteDocumentChange):
            after.pop(key, None)
        else:
            after[key] = ((change.group, change.name), change.content)
    for key, change in zip(keys, change_set.changes, strict=True):
        if change.op != "delete" and not fits([other for other in after if other != key], key):
            return "refused"
    return "conflict" if conflict else dict(after.values())


class Stores(RuleBasedStateMachine):
    """A store that changes under change sets derived at different times, beside a naive second implementation."""

    sets = Bundle("sets")

    @initialize(store=stores())
    def begin(self, store: tuple[TargetDocument, ...]) -> None:
        self.store = store

    @rule(target=sets, data=st.data())
    def run_ends(self, data: st.DataObject) -> DocumentChangeSet:
        files = data.draw(candidates(self.store))
        assume(is_successful(check_documents(self.store)))
        return derive("run-1", GROUPS, self.store, files).unwrap()

    @rule(target=sets, change_set=change_sets)
    def someone_writes_a_set(self, change_set: DocumentChangeSet) -> DocumentChangeSet:
        return change_set

    @rule(target=sets, change_set=sets)
    def set_travels(self, change_set: DocumentChangeSet) -> DocumentChangeSet:
        travelled = change_set_from_json(parse(dumps(change_set_to_json(change_set))).unwrap()).unwrap()
        assert travelled == change_set
        return travelled

    @rule(target=sets, change_set=sets)
    def set_is_inverted(self, change_set: DocumentChangeSet) -> DocumentChangeSet:
        inverse = invert(self.store, change_set)
        applied = apply(self.store, change_set)
        assert is_successful(inverse) == is_successful(applied)
        if not is_successful(inverse):
            return change_set
        restored = apply(applied.unwrap(), inverse.unwrap()).unwrap()
        assert by_place(restored) == by_place(self.store)
        return inverse.unwrap()

    @rule(change_set=sets, data=st.data())
    def set_is_applied(self, change_set: DocumentChangeSet, data: st.DataObject) -> None:
        before = self.store
        judged = naive(before, change_set)
        shuffled = attrs.evolve(change_set, changes=tuple(data.draw(st.permutations(change_set.changes))))
        outcome, other = apply(before, change_set), apply(before, shuffled)
        assert is_successful(outcome) == is_successful(other) == isinstance(judged, dict)
        assert self.store == before
        if is_successful(outcome):
            self.store = outcome.unwrap()
            assert set(other.unwrap()) == set(self.store)
            assert by_place(self.store) == judged
            assert apply(self.store, change_set).unwrap() == self.store
        else:
            conflicts = all(isinstance(problem, Conflict) for problem in outcome.failure())
            assert conflicts == (judged == "conflict")

    @rule(place=places, content=contents, version=versions)
    def someone_saves(self, place: Place, content: str, version: str | None) -> None:
        others = tuple(one for one in self.store if (one.group, one.name) != place)
        if fits(by_place(others), place):
            self.store = (*others, document(place, content, version))

    @rule(data=st.data())
    def someone_deletes(self, data: st.DataObject) -> None:
        if self.store:
            gone = data.draw(st.sampled_from(self.store))
            self.store = tuple(one for one in self.store if one != gone)

    @invariant()
    def store_is_a_tree(self) -> None:
        if hasattr(self, "store"):
            taken = by_place(self.store)
            assert len(taken) == len(self.store)
            assert all(fits([other for other in taken if other != place], place) for place in taken)


TestStores = Stores.TestCase


@pytest.mark.parametrize("case", PLANS, ids=lambda case: f"{case['op']}: {case['why']}")
def test_plan__decision_table(case: dict[str, Any]) -> None:
    """Every row of the decision table holds, and the naive implementation reads it the same way."""
    base = {"source_id": "p", "base_sha256": sha(case.get("base", "")), "base_version": case.get("base_version")}
    place = {"group": "faq", "name": case["name"]}
    change: DocumentChange
    if case["op"] == "create":
        change = CreateDocumentChange(content=case["content"], **place)
    elif case["op"] == "update":
        change = UpdateDocumentChange(content=case["content"], **base, **place)
    else:
        change = DeleteDocumentChange(**base, **place)
    there = case["store"]
    store = () if there is None else (document(("faq", there["name"]), there["content"], there.get("version")),)
    planned = plan(store, DocumentChangeSet("r", HASH, HASH, (change,))).unwrap()
    assert [step.outcome for step in planned.steps] == [case["outcome"]]
    assert expected(change, {(one.group, one.name): one for one in store}) == case["outcome"]
    assert bool(planned.conflicts) == bool(planned.steps[0].reason) == case["outcome"].endswith("conflict")


def test_derive__vector(conforms: Callable[[object, str], None]) -> None:
    """The published change set comes out, with its hashes, in the JSON shape of the contract."""
    seeds = [TargetDocument(**one) for one in DOCUMENTS["seeds"]]
    files = {(group, name): content for group, name, content in DOCUMENTS["files"]}
    made = derive("run-1", ["faq"], seeds, files).unwrap()
    conforms(change_set_to_json(made), "document_changes.json")
    assert change_set_to_json(made) == {
        "format": FORMAT,
        "run_id": "run-1",
        "seed_hash": DOCUMENTS["seed_hash"],
        "candidate_hash": DOCUMENTS["candidate_hash"],
        "changes": DOCUMENTS["changes"],
        "groups": ["faq"],
    }


@given(derived())
def test_apply__derived_set_to_its_seeds__gives_the_candidate(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet],
) -> None:
    """Applying a derived set to the seeds gives exactly the candidate's files, as a valid tree."""
    seeds, files, change_set = made
    after = apply(seeds, change_set).unwrap()
    assert by_place(after) == files
    assert is_successful(check_documents(after))


@given(derived())
def test_derive__order__is_that_of_the_keys(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet],
) -> None:
    """Operations come in key order, one per difference, whatever the order of the seeds and files."""
    seeds, files, change_set = made
    keys = [document_key(change.group, change.name) for change in change_set.changes]
    assert keys == sorted(keys)
    assert derive("run-1", GROUPS[::-1], seeds[::-1], dict(reversed(files.items()))).unwrap() == change_set
    before = by_place(seeds)
    assert len(keys) == sum(before.get(place) != files.get(place) for place in before.keys() | files.keys())


@given(derived())
def test_apply__again__changes_nothing_more(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet],
) -> None:
    """A set that was applied finds everything done already."""
    seeds, _, change_set = made
    after = apply(seeds, change_set).unwrap()
    planned = plan(after, change_set).unwrap()
    assert {step.outcome for step in planned.steps} <= {"already_applied"}
    assert planned.applying == ()
    assert apply(after, change_set).unwrap() == after


@given(derived(), st.data())
def test_apply__foreign_edit__is_a_conflict_and_leaves_the_store_untouched(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet], data: st.DataObject
) -> None:
    """An edit to a touched document refuses the whole set, unless it is what the change would have made of it."""
    seeds, _, change_set = made
    edited = [change for change in change_set.changes if not isinstance(change, CreateDocumentChange)]
    assume(edited)
    change = data.draw(st.sampled_from(edited))
    content = data.draw(contents)
    store = tuple(
        attrs.evolve(one, content=content) if (one.group, one.name) == (change.group, change.name) else one
        for one in seeds
    )
    outcome = apply(store, change_set)
    own_result = isinstance(change, UpdateDocumentChange) and content == change.content
    unchanged = sha(content) == change.base_sha256
    assert is_successful(outcome) == (own_result or unchanged)
    if not is_successful(outcome):
        (problem,) = outcome.failure()
        assert isinstance(problem, Conflict)
        assert problem.planned is not None
        assert problem.planned.change == change
        assert problem.where == f"{change.group}/{change.name}"


@given(derived(), stores())
def test_plan__untouched_documents__never_matter(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet], others: tuple[TargetDocument, ...]
) -> None:
    """Documents that a set leaves alone change no decision and stay as they are."""
    seeds, files, change_set = made
    taken = [*files, *by_place(seeds)]
    beside = tuple(one for one in others if fits(taken, (one.group, one.name)))
    alone, together = plan(seeds, change_set).unwrap(), plan((*beside, *seeds), change_set).unwrap()
    assert alone == together
    assert set(apply((*beside, *seeds), change_set).unwrap()) >= set(beside)


@given(derived(), st.data())
def test_plan__order_of_operations__never_matters(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet], data: st.DataObject
) -> None:
    """A set with its operations in another order decides and does the same."""
    seeds, _, change_set = made
    shuffled = attrs.evolve(change_set, changes=tuple(data.draw(st.permutations(change_set.changes))))
    assert set(plan(seeds, shuffled).unwrap().steps) == set(plan(seeds, change_set).unwrap().steps)
    assert apply(seeds, shuffled) == apply(seeds, change_set)


@given(derived())
def test_apply__another_version__is_a_conflict_unless_done_already(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet],
) -> None:
    """A store that calls the same bytes by another version refuses; one that has the result does not ask."""
    seeds, _, change_set = made
    moved = tuple(attrs.evolve(one, version=None if one.version is None else f"{one.version}+") for one in seeds)
    versioned = {(one.group, one.name) for one in seeds if one.version is not None}
    for step in plan(moved, change_set).unwrap().steps:
        stated = (step.change.group, step.change.name) in versioned and step.change.op != "create"
        assert step.outcome == ("version_conflict" if stated else "applies")
    done = tuple(attrs.evolve(one, version="9") for one in apply(moved, strip_versions(change_set)).unwrap())
    assert apply(done, change_set).unwrap() == done


def strip_versions(change_set: DocumentChangeSet) -> DocumentChangeSet:
    bare = tuple(
        one if isinstance(one, CreateDocumentChange) else attrs.evolve(one, base_version=None)
        for one in change_set.changes
    )
    return attrs.evolve(change_set, changes=bare)


@given(derived())
def test_invert__applied_set__restores_content(
    made: tuple[tuple[TargetDocument, ...], dict[Place, str], DocumentChangeSet],
) -> None:
    """The inverse leads from the candidate back to the seeds' content, and is itself a derived-looking set."""
    seeds, files, change_set = made
    inverse = invert(seeds, change_set).unwrap()
    after = apply(seeds, change_set).unwrap()
    assert by_place(apply(after, inverse).unwrap()) == by_place(seeds)
    assert len(inverse.changes) == len(change_set.changes)
    assert inverse.groups == change_set.groups
    twice = invert(after, inverse).unwrap()
    assert by_place(apply(seeds, strip_versions(twice)).unwrap()) == files


def test_invert__conflict__is_refused() -> None:
    """A set that does not fit has no inverse."""
    update = UpdateDocumentChange(source_id="p", group="faq", name="a", content="x", base_sha256=sha("old"))
    change_set = DocumentChangeSet("r", HASH, HASH, (update,))
    assert [one.code for one in invert((), change_set).failure()] == ["BK616"]
    twice = DocumentChangeSet("r", HASH, HASH, (update, update))
    assert [one.code for one in invert((), twice).failure()] == ["BK613"]


@given(change_sets)
def test_codec__decode_of_encode__is_the_identity(change_set: DocumentChangeSet) -> None:
    """A change set survives its JSON form, through text and back."""
    encoded = change_set_to_json(change_set)
    assert change_set_from_json(encoded).unwrap() == change_set
    assert change_set_from_json(parse(dumps(encoded)).unwrap()).unwrap() == change_set


json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_codec__any_json__is_judged(data: Any) -> None:
    """Nothing that is JSON makes the decoder raise."""
    assert not is_successful(change_set_from_json(data))


@given(change_sets, st.data())
def test_codec__one_value_replaced__is_judged(change_set: DocumentChangeSet, data: st.DataObject) -> None:
    """A change set with anything at one place is either read or refused with that place named."""
    encoded = json.loads(dumps(change_set_to_json(change_set)))
    spots: list[tuple[Any, Any]] = [(encoded, key) for key in encoded]
    spots += [(change, key) for change in encoded["changes"] for key in change]
    holder, key = data.draw(st.sampled_from(spots))
    holder[key] = data.draw(json_values)
    outcome = change_set_from_json(encoded)
    if not is_successful(outcome):
        assert all(problem.code == "BK612" and problem.where.startswith("$") for problem in outcome.failure())


@pytest.mark.parametrize(
    "edit, where",
    [
        (lambda data: data.pop("format"), "$.format"),
        (lambda data: data.update(format="beaker.document-changes/2"), "$.format"),
        (lambda data: data.update(format=7), "$.format"),
        (lambda data: data.update(extra=1), "$.extra"),
        (lambda data: data.pop("run_id"), "$.run_id"),
        (lambda data: data.update(seed_hash="xyz"), "$"),
        (lambda data: data.update(groups="faq"), "$.groups"),
        (lambda data: data.update(groups=[1]), "$.groups[0]"),
        (lambda data: data.pop("changes"), "$.changes"),
        (lambda data: data.update(changes={}), "$.changes"),
        (lambda data: data.update(changes=[[]]), "$.changes[0]"),
        (lambda data: data["changes"][0].pop("op"), "$.changes[0].op"),
        (lambda data: data["changes"][0].update(op="move"), "$.changes[0].op"),
        (lambda data: data["changes"][0].update(op=["create"]), "$.changes[0].op"),
        (lambda data: data["changes"][0].update(mode=7), "$.changes[0].mode"),
        (lambda data: data["changes"][0].update(content=None), "$.changes[0].content"),
        (lambda data: data["changes"][0].update(name="../x"), "$.changes[0]"),
        (lambda data: data["changes"][0].update(group=".ssh"), "$.changes[0]"),
        (lambda data: data["changes"][1].update(base_sha256="00"), "$.changes[1]"),
        (lambda data: data["changes"][0].update(name=" new.md"), "$.changes[0].name"),
        (lambda data: data["changes"][0].update(name="a\\b.md"), "$.changes[0].name"),
        (lambda data: data["changes"][0].update(group="faq\n"), "$.changes[0].group"),
        (lambda data: data["changes"][1].update(source_id="p-2 "), "$.changes[1].source_id"),
        (lambda data: data["changes"][1].update(base_version="\u00a07"), "$.changes[1].base_version"),
        (lambda data: data.update(run_id=" r"), "$.run_id"),
        (lambda data: data.update(groups=["faq", "kb "]), "$.groups[1]"),
    ],
)
def test_codec__fault__is_named_with_its_path(edit: Any, where: str) -> None:
    """A malformed change set is refused at the place of its fault."""
    seeds = [TargetDocument(**one) for one in DOCUMENTS["seeds"]]
    files = {(group, name): content for group, name, content in DOCUMENTS["files"]}
    data = json.loads(dumps(change_set_to_json(derive("run-1", ["faq"], seeds, files).unwrap())))
    edit(data)
    assert where in [problem.where for problem in change_set_from_json(data).failure()]


def test_codec__several_faults__come_together() -> None:
    """Every fault of a change set is reported at once."""
    data = {"format": FORMAT, "run_id": "r", "seed_hash": HASH, "changes": [1, {"op": "create", "group": "g"}]}
    where = [problem.where for problem in change_set_from_json(data).failure()]
    assert "$.changes[0]" in where
    assert "$.candidate_hash" in where
    assert len([one for one in where if one.startswith("$.changes[1]")]) == 2


def test_codec__set_from_before_groups__is_read() -> None:
    """A set without `groups` and versions is read with none."""
    data = {
        "format": FORMAT,
        "run_id": "r",
        "seed_hash": HASH,
        "candidate_hash": HASH,
        "changes": [{"op": "delete", "source_id": "p", "group": "faq", "name": "a", "base_sha256": HASH}],
    }
    made = change_set_from_json(data).unwrap()
    assert made.groups == ()
    assert made.changes == (DeleteDocumentChange(source_id="p", group="faq", name="a", base_sha256=HASH),)


@given(st.lists(places, max_size=5), change_sets)
def test_plan__any_store__is_judged(stored: list[Place], change_set: DocumentChangeSet) -> None:
    """Stores that are no valid tree (twice a place, a document beside its own directory) get an answer too."""
    store = tuple(document(place, "one") for place in stored)
    outcome = plan(store, change_set)
    if is_successful(outcome):
        after = apply(store, change_set)
        touched = {document_key(change.group, change.name) for change in change_set.changes}
        if is_successful(after):
            left = [one for one in store if document_key(one.group, one.name) not in touched]
            kept = [one for one in after.unwrap() if document_key(one.group, one.name) not in touched]
            assert kept == left


@pytest.mark.parametrize(
    "store, listed, code",
    [
        ([], [("create", "a"), ("create", "A")], "BK613"),
        ([], [("create", "é"), ("create", "e\u0301")], "BK613"),
        (["a"], [("delete", "a"), ("create", "a")], "BK613"),
        ([], [("create", "a"), ("create", "a/b")], "BK614"),
        (["a"], [("create", "a/b")], "BK614"),
        (["a/b/c"], [("create", "a")], "BK614"),
        (["A/b"], [("create", "a")], "BK614"),
        (["a", "a/b"], [("update", "a")], "BK614"),
        (["a", "A"], [("update", "a")], "BK614"),
        ([], [("create", "n" * 300)], "BK600"),
        ([], [("create", "a/" * 600 + "b")], "BK600"),
        ([], [("create", "b"), ("create", ".git/hooks/post-checkout")], "BK600"),
        ([], [("create", "a/.Git./config")], "BK600"),
        ([], [("create", "git~1/config")], "BK600"),
        ([], [("create", ".g\u200cit/config")], "BK600"),
        ([".git/config"], [("update", ".git/config")], "BK600"),
        ([".git/config"], [("delete", ".git/config"), ("create", "b")], "BK600"),
        ([], [("create", "a/.beaker/beaker.yaml")], "BK600"),
    ],
)
def test_plan__impossible_set__is_refused_whole(store: list[str], listed: list[tuple[str, str]], code: str) -> None:
    """Two operations on one document and an impossible tree refuse the set, in any order, before anything else."""
    made: list[DocumentChange] = []
    for op, name in listed:
        if op == "create":
            made.append(CreateDocumentChange(group="faq", name=name, content="new"))
        elif op == "update":
            made.append(
                UpdateDocumentChange(source_id="p", group="faq", name=name, content="new", base_sha256=sha("x"))
            )
        else:
            made.append(DeleteDocumentChange(source_id="p", group="faq", name=name, base_sha256=sha("x")))
    documents = [document(("faq", name), "x") for name in store]
    for ordered in itertools.permutations(made):
        outcome = plan(documents, DocumentChangeSet("r", HASH, HASH, ordered))
        assert {problem.code for problem in outcome.failure()} == {code}


def test_plan__file_becomes_folder_and_back__applies() -> None:
    """A deletion makes room for documents below or above it."""
    down = derive("r", ["faq"], [document(("faq", "a"), "x")], {("faq", "a/b"): "y"}).unwrap()
    assert by_place(apply([document(("faq", "a"), "x")], down).unwrap()) == {("faq", "a/b"): "y"}
    up = derive("r", ["faq"], [document(("faq", "a/b"), "x")], {("faq", "a"): "y"}).unwrap()
    assert by_place(apply([document(("faq", "a/b"), "x")], up).unwrap()) == {("faq", "a"): "y"}


def test_plan__operation_outside_the_groups__is_refused() -> None:
    """A set touches the groups it names and no other."""
    create = CreateDocumentChange(group="kb", name="a", content="x")
    outcome = plan((), DocumentChangeSet("r", HASH, HASH, (create,), groups=("faq",)))
    assert [problem.code for problem in outcome.failure()] == ["BK617"]
    assert is_successful(plan((), DocumentChangeSet("r", HASH, HASH, (create,))))


def test_derive__document_below_git__is_refused_as_seed_and_as_candidate() -> None:
    """A value may carry any relative path; no tree may hold one that leads into `.git`."""
    seed = document(("faq", ".git/x"), "x")
    assert [problem.code for problem in derive("r", ["faq"], [seed], {}).failure()] == ["BK600"]
    assert [problem.code for problem in derive("r", ["faq"], [], {("faq", "a/.git/x"): "x"}).failure()] == ["BK600"]


def test_plan__document_too_large__is_refused() -> None:
    """A set cannot bring a document larger than any candidate may hold."""
    create = CreateDocumentChange(group="kb", name="a", content="é" * 500_001)
    outcome = plan((), DocumentChangeSet("r", HASH, HASH, (create,)))
    assert [problem.code for problem in outcome.failure()] == ["BK602"]


def test_plan__large_store__is_no_obstacle() -> None:
    """A store may hold more documents than a target, and a set may change all of them."""
    store = tuple(document(("faq", f"{number}"), "old") for number in range(3_000))
    updates = tuple(
        UpdateDocumentChange(source_id="p", group="faq", name=one.name, content="new", base_sha256=sha("old"))
        for one in store
    )
    after = apply(store, DocumentChangeSet("r", HASH, HASH, updates)).unwrap()
    assert {one.content for one in after} == {"new"}


def test_apply__all_conflicts__are_reported() -> None:
    """Every conflict of a set is named with the kind of its operation."""
    update = UpdateDocumentChange(source_id="p", group="faq", name="a", content="x", base_sha256=HASH)
    delete = DeleteDocumentChange(source_id="p", group="faq", name="b", base_sha256=HASH, base_version="1")
    store = [document(("faq", "b"), "old", "2")]
    problems = apply(store, DocumentChangeSet("r", HASH, HASH, (update, delete))).failure()
    assert [(problem.code, problem.where) for problem in problems] == [("BK616", "faq/a"), ("BK615", "faq/b")]
    assert "cannot update" in problems[0].message
    assert "version 2 here" in problems[1].message


def test_apply__created_document__gets_a_free_source_id() -> None:
    """A created document is known by its place, or by a numbered form of it when that is taken."""
    store = [attrs.evolve(document(("faq", "a"), "x"), source_id="faq/b"), document(("faq", "c"), "x")]
    create = CreateDocumentChange(group="faq", name="b", content="y")
    after = apply(store, DocumentChangeSet("r", HASH, HASH, (create,))).unwrap()
    assert after[-1].source_id == "faq/b#2"
    assert is_successful(check_documents(after))


def test_apply__updated_document__states_no_version() -> None:
    """Only the store can say what an updated document's version is; everything else about it is kept."""
    seed = document(("faq", "a"), "x", "7")
    change_set = derive("r", ["faq"], [seed], {("faq", "a"): "y"}).unwrap()
    assert apply([seed], change_set).unwrap() == (attrs.evolve(seed, content="y", version=None),)


@pytest.mark.parametrize(
    "seeds, files, expected_codes",
    [
        ([("a", "x", True)], {("faq", "A"): "x"}, ["BK610"]),
        ([("é", "x", True)], {("faq", "e\u0301"): "y"}, ["BK610"]),
        ([("a", "x", False)], {("faq", "a"): "y"}, ["BK611"]),
        ([("a", "x", False)], {}, ["BK611"]),
        ([("a", "x", False)], {("faq", "a"): "x"}, []),
        ([("a", "x", True)], {("faq", "a"): "x", ("FAQ", "b"): "x"}, ["BK607"]),
        ([("a", "x", True)], {("faq", "c:d.md"): "x"}, ["BK600"]),
        ([("a", "x", False), ("B", "x", True)], {("faq", "b"): "x"}, ["BK611", "BK610"]),
        ([("a", "x", True), ("a/b", "x", True)], {}, ["BK605"]),
    ],
)
def test_derive__invalid_candidate__is_refused(
    seeds: list[tuple[str, str, bool]], files: dict[Place, str], expected_codes: list[str]
) -> None:
    """Respelled, protected, undeclared and impossible documents make no change set; every fault is named."""
    documents = [document(("faq", name), content, editable=editable) for name, content, editable in seeds]
    outcome = derive("r", ["faq"], documents, files)
    found = [] if is_successful(outcome) else [problem.code for problem in outcome.failure()]
    assert found == expected_codes


def test_derive__seed_of_another_target__is_refused() -> None:
    """The seeds given must belong to the target's groups."""
    outcome = derive("r", ["faq"], [document(("kb", "a"), "x")], {})
    assert [problem.code for problem in outcome.failure()] == ["BK607"]


@given(
    st.dictionaries(st.tuples(st.sampled_from(["faq", "FAQ"]), st.text(max_size=6)), st.text(max_size=6), max_size=4)
)
def test_derive__anything__is_judged(files: dict[Place, str]) -> None:
    """Every mapping of files gives either a set that leads there, or problems."""
    seeds = (document(("faq", "a"), "x"), document(("faq", "b"), "y", editable=False))
    outcome = derive("r", ["faq"], seeds, files)
    if is_successful(outcome):
        assert by_place(apply(seeds, outcome.unwrap()).unwrap()) == files
    else:
        assert outcome.failure()
        assert not is_successful(check_candidate_files(["faq"], files)) or any(
            problem.code in ("BK610", "BK611") for problem in outcome.failure()
        )


def test_render_diff__with_documents__shows_old_and_new_lines() -> None:
    """Each operation is a section of a unified diff over what it changes."""
    seeds = [document(("faq", "a"), "one\ntwo\nthree\n"), document(("faq", "b"), "gone")]
    files = {("faq", "a"): "one\n2\nthree\n", ("faq", "c"): "new\n"}
    change_set = derive("r", ["faq"], seeds, files).unwrap()
    assert render_diff(seeds, change_set).splitlines() == [
        "update faq/a",
        "--- faq/a",
        "+++ faq/a",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "+2",
        " three",
        "delete faq/b",
        "--- faq/b",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-gone",
        "\\ No newline at end of file",
        "create faq/c",
        "--- /dev/null",
        "+++ faq/c",
        "@@ -0,0 +1 @@",
        "+new",
    ]


def test_render_diff__line_breaks_in_names__pass_for_no_line() -> None:
    """Whatever a name or a version holds, no line of the diff begins where it says; only contents have lines."""
    name = "a\n+++ faq/b\r\u2028\u202ex\t.md"
    seeds = [document(("faq", name), "one\n", "7\n-two"), document(("faq", f"d{name}"), "gone\n", "7\n-two")]
    change_set = derive("r", ["faq"], seeds, {("faq", name): "two\n", ("faq", f"c{name}"): "new\n"}).unwrap()
    shown = "a\\n+++ faq/b\\r\\u2028\\u202ex\\t.md"
    for documents in (seeds, None):
        diff = render_diff(documents, change_set)
        assert name not in diff
        lines = diff.splitlines()
        for op, mark in (("update", ""), ("create", "c"), ("delete", "d")):
            assert f"{op} faq/{mark}{shown}" in lines
        assert not any(line.startswith(("+++ faq/b", "-two")) for line in lines)


def test_render_diff__without_documents__shows_what_the_set_carries() -> None:
    """Without the old text an update shows its new text, and every operation its base."""
    seeds = [document(("faq", "a"), "one", "7"), document(("faq", "b"), "gone")]
    change_set = derive("r", ["faq"], seeds, {("faq", "a"): "two\n"}).unwrap()
    assert render_diff(None, change_set).splitlines() == [
        "update faq/a",
        f"(base sha256 {sha('one')[:16]}, version 7)",
        "+++ faq/a",
        "+two",
        "delete faq/b",
        f"(base sha256 {sha('gone')[:16]})",
    ]


def test_render_diff__document_that_does_not_fit__is_remarked() -> None:
    """What is done already, taken, or no longer the base is said beside the operation."""
    update = UpdateDocumentChange(source_id="p", group="faq", name="a", content="x", base_sha256=sha("old"))
    create = CreateDocumentChange(group="faq", name="a", content="x")
    for change, there, lines in (
        (update, "x", ["update faq/a", "(done already)"]),
        (create, "x", ["create faq/a", "(done already)"]),
        (create, "y", ["create faq/a", "(the name is taken by another document)", "--- /dev/null"]),
        (update, "y", ["update faq/a", "(not the document that the change was made from)", "--- faq/a"]),
        (update, "old", ["update faq/a", "--- faq/a"]),
    ):
        diff = render_diff([document(("faq", "a"), there)], DocumentChangeSet("r", HASH, HASH, (change,)))
        assert diff.splitlines()[: len(lines)] == lines
        assert len(diff.splitlines()) == 2 or "+++ faq/a" in diff


def test_render_diff__large_documents__are_replaced_whole() -> None:
    """Comparing is bounded: beyond it a document's lines are all removed and all added."""
    old, new = "".join(f"{n}\n" for n in range(3_000)), "".join(f"{-n}\n" for n in range(3_000))
    change_set = derive("r", ["faq"], [document(("faq", "a"), old)], {("faq", "a"): new}).unwrap()
    lines = render_diff([document(("faq", "a"), old)], change_set).splitlines()
    assert lines[3] == "@@ -1,3000 +1,3000 @@"
    assert len(lines) == 6_004


@given(contents, contents)
def test_render_diff__patched_by_hand__gives_the_new_text(old: str, new: str) -> None:
    """The kept and added lines of an update's diff, with all its context, are the new text."""
    assume(old != new)
    seed = document(("faq", "a"), old)
    change_set = derive("r", ["faq"], [seed], {("faq", "a"): new}).unwrap()
    body = render_diff([seed], change_set).split("@@\n", 1)[1]
    made = before = ""
    for line in body.split("\n")[:-1]:
        if line.startswith("\\") and before != "-":
            made = made[:-1]
        elif line[0] in "+ ":
            made += f"{line[1:]}\n"
        before = line[0]
    assert made == new


def test_render_diff__nothing_to_show__is_empty() -> None:
    """An empty set has an empty diff, and an empty document needs no lines."""
    assert render_diff([], DocumentChangeSet("r", HASH, HASH, ())) == ""
    create = CreateDocumentChange(group="faq", name="a", content="")
    assert render_diff([], DocumentChangeSet("r", HASH, HASH, (create,))) == "create faq/a\n"
