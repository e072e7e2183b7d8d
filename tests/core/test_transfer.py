"""Uploading: the machine is its table, order of arrival does not matter, a faulty place is no success."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from returns.pipeline import is_successful

from beaker.core.api import ApiProblem
from beaker.core.datasets import DatasetDeclaration, DatasetFile, declare_dataset
from beaker.core.problems import Problem
from beaker.core.transfer import (
    TRANSITIONS,
    Announce,
    Announced,
    CallFailed,
    Complete,
    Completed,
    FileExpired,
    FileSent,
    SendFile,
    Transfer,
    TransferCommand,
    TransferEvent,
    TransferMove,
    TransferPhase,
    begin,
    begin_artifact,
    content_type,
    step,
    url_expired,
)

FILES = [
    DatasetFile("train.jsonl", 51, "a" * 64),
    DatasetFile("test.jsonl", 7, "b" * 64),
    DatasetFile("manifest.json", 0, "c" * 64),
]
DATASET: DatasetDeclaration = declare_dataset("invoices", FILES, splits={"train": 1, "test": 1}).unwrap()
NO_ANSWER = CallFailed(Problem("BK803", "no answer"))
TOO_LATE = Problem("BK469", "the time is over")


def artifact(**changes: Any) -> dict[str, Any]:
    made = {"artifact_id": "art", "status": "PENDING", "manifest_digest": DATASET.manifest_digest, **changes}
    return {key: item for key, item in made.items() if item != "absent"}


def target(path: str, **changes: Any) -> dict[str, Any]:
    return {"path": path, "upload_url": f"https://store/{path}?sig", "headers": {"X-A": 1}, **changes}


def answer(*paths: str, **changes: Any) -> Announced:
    """The place's answer, asking for these files."""
    return Announced({"artifact": artifact(), "files": [target(path) for path in paths], "reused": False, **changes})


DONE = Completed({"artifact": artifact(status="COMPLETE", artifact_key="invoices")})


def after(*events: TransferEvent) -> tuple[Transfer, tuple[TransferCommand, ...]]:
    """A transfer after these events, and the commands of the last one."""
    transfer, commands = begin(DATASET)
    for event in events:
        transfer, commands = step(transfer, event).unwrap()
    return transfer, commands


def test_begin__declaration__is_announced_whole() -> None:
    """Name, files with types, counts, metadata and the given options travel."""
    transfer, (announce,) = begin(DATASET, {"promote": False})
    assert isinstance(announce, Announce)
    assert transfer.phase == "planned"
    assert announce.arguments["files"][0] == {
        "path": "train.jsonl",
        "content_type": "application/octet-stream",
        "size_bytes": 51,
        "sha256": "a" * 64,
    }
    rest = {key: item for key, item in announce.arguments.items() if key != "files"}
    assert rest == {"name": "invoices", "metadata": {}, "splits": {"train": 1, "test": 1}, "promote": False}


def test_begin__types_given__win_over_names() -> None:
    """Paths are read as anywhere else; a file without a type of its own has that of its name."""
    _, (announce,) = begin(DATASET, content_types={"./train.jsonl": "text/x-rows"})
    assert isinstance(announce, Announce)
    types = [file["content_type"] for file in announce.arguments["files"]]
    assert types == ["text/x-rows", "application/octet-stream", "application/json"]


def test_begin__artifact__is_announced_and_completed_at_its_own_endpoints() -> None:
    """Any files, without name and splits; known by their manifest digest."""
    transfer, (announce,) = begin_artifact(
        iter(FILES), {"kind": "notes"}, content_types={"test.jsonl": "text/plain"}
    ).unwrap()
    assert isinstance(announce, Announce)
    assert announce.endpoint == "create_artifact_upload"
    assert announce.arguments.keys() == {"files", "kind"}
    assert announce.arguments["files"][1]["content_type"] == "text/plain"
    assert (transfer.files, transfer.manifest_digest) == (tuple(FILES), DATASET.manifest_digest)
    _, commands = step(transfer, answer()).unwrap()
    assert commands == (Complete("art", "complete_artifact_upload"),)


@pytest.mark.parametrize("files, code", [([], "BK213"), ([FILES[0], FILES[0]], "BK205")])
def test_begin__artifact_that_is_none__is_refused(files: list[DatasetFile], code: str) -> None:
    """No files, or one path twice."""
    assert begin_artifact(files).failure().code == code


def test_step__expired_url__asks_for_new_ones_once_all_others_ended() -> None:
    """What was under way ends first; then the rest is announced again and goes on, its bytes counted once."""
    asked = answer("train.jsonl", "test.jsonl")
    late = FileExpired("train.jsonl", TOO_LATE)
    transfer, commands = after(asked, late)
    assert (transfer.phase, transfer.lacking, commands) == ("sending", {"test.jsonl": 7}, ())
    transfer, commands = after(asked, late, FileSent("test.jsonl"))
    assert (transfer.phase, transfer.sent_bytes, commands) == ("planned", 7, (transfer.announcement,))
    assert (transfer.lacking, transfer.expired) == ({}, frozenset())
    transfer, commands = after(asked, late, FileSent("test.jsonl"), answer("train.jsonl"))
    assert [type(command) for command in commands] == [SendFile]
    assert (transfer.phase, transfer.sent_bytes, transfer.total_bytes) == ("sending", 7, 58)
    transfer, _ = after(asked, late, FileSent("test.jsonl"), answer("train.jsonl"), FileSent("train.jsonl"), DONE)
    assert (transfer.phase, transfer.sent_bytes) == ("complete", 58)
    transfer, _ = after(asked, FileSent("test.jsonl"), late, answer("train.jsonl"), NO_ANSWER)
    assert transfer.outcome().failure().code == "BK803"


def test_step__new_urls_that_are_refused_too__end_it() -> None:
    """It is not for their age then; but as long as files arrive, new ones are asked for."""
    both = answer("train.jsonl", "test.jsonl")
    late = [FileExpired(path, TOO_LATE) for path in ("train.jsonl", "test.jsonl")]
    transfer, _ = after(both, *late)
    assert transfer.phase == "planned"
    transfer, commands = after(both, *late, both, *late)
    assert (transfer.phase, transfer.outcome().failure(), commands) == ("failed", TOO_LATE, ())
    transfer, commands = after(both, *late, both, FileSent("test.jsonl"), late[0])
    assert (transfer.phase, commands) == ("planned", (transfer.announcement,))
    three = answer("train.jsonl", "test.jsonl", "manifest.json")
    transfer, _ = after(three, *late, FileSent("manifest.json"), both, late[0], FileSent("test.jsonl"))
    assert transfer.phase == "planned"


@pytest.mark.parametrize(
    "status, detail, expired",
    [(403, None, True), (400, "<Code>ExpiredToken</Code>", True), (400, "bad", False), (404, "expired", False)],
)
def test_url_expired__refusal__tells_by_status_and_words(status: int, detail: str | None, expired: bool) -> None:
    """403, or a 400 that says so; never what was not an answer."""
    assert url_expired(ApiProblem("BK805", "no", status=status, detail=detail)) is expired
    assert not url_expired(Problem("BK805", "403 expired"))


def test_content_type__by_ending() -> None:
    """As the contract's uploads call them."""
    assert content_type("train.jsonl") == content_type("x") == content_type("a.json/x") == "application/octet-stream"
    assert content_type("manifest.json") == "application/json"


def test_step__whole_upload__announces_sends_and_completes() -> None:
    """Only the files the place lacks are sent, with its headers as text; then it is confirmed."""
    transfer, commands = after(answer("train.jsonl", "test.jsonl"))
    assert commands == tuple(
        SendFile(file.path, f"https://store/{file.path}?sig", {"X-A": "1"}, file.size_bytes) for file in FILES[:2]
    )
    assert (transfer.phase, transfer.sent_bytes, transfer.total_bytes) == ("sending", 0, 58)
    transfer, commands = after(answer("train.jsonl", "test.jsonl"), FileSent("test.jsonl"))
    assert (transfer.phase, transfer.sent_bytes, commands) == ("sending", 7, ())
    sent = (answer("train.jsonl", "test.jsonl"), FileSent("test.jsonl"), FileSent("train.jsonl"))
    transfer, commands = after(*sent)
    assert (transfer.phase, transfer.sent_bytes, commands) == ("completing", 58, (Complete("art"),))
    transfer, commands = after(*sent, DONE)
    assert (transfer.phase, commands) == ("complete", ())
    assert transfer.outcome().unwrap() == artifact(status="COMPLETE", artifact_key="invoices") | {"reused": False}


@pytest.mark.parametrize(
    "events, phase, reused",
    [
        ([answer(artifact=artifact(status="COMPLETE"), reused=True)], "reused", True),
        ([answer(artifact=artifact(status="absent"), status="COMPLETE", reused=True)], "reused", True),
        ([answer(artifact=artifact(status="COMPLETE"))], "complete", False),
        ([answer(artifact=artifact(status="COMPLETE"), reused="yes")], "complete", False),
        ([answer(), DONE], "complete", False),
        ([answer(reused=True), DONE], "complete", True),
        ([answer("test.jsonl", artifact=artifact(status="COMPLETE")), FileSent("test.jsonl")], "complete", False),
        ([answer(artifact=artifact(artifact_id=None), artifact_id="art"), DONE], "complete", False),
        ([answer(files=[target("test.jsonl", headers=None)]), FileSent("test.jsonl"), DONE], "complete", False),
    ],
)
def test_step__place_that_knows_some__is_told_only_what_it_needs(
    events: list[TransferEvent], phase: TransferPhase, reused: bool
) -> None:
    """Nothing is sent that is there, nothing is confirmed that is complete; id and status may stand at the top."""
    transfer, _ = after(*events)
    assert transfer.phase == phase
    assert transfer.outcome().unwrap()["reused"] == reused


@pytest.mark.parametrize(
    "events, code",
    [
        ([NO_ANSWER], "BK803"),
        ([answer("test.jsonl"), NO_ANSWER], "BK803"),
        ([answer(), NO_ANSWER], "BK803"),
        ([answer(artifact=artifact(manifest_digest="0" * 64))], "BK810"),
        ([answer(artifact=artifact(manifest_digest=None), reused=True)], "BK810"),
        ([answer(artifact=None)], "BK811"),
        ([answer(files=None)], "BK811"),
        ([answer("other")], "BK811"),
        ([answer(files=["test.jsonl"])], "BK811"),
        ([answer(files=[target("test.jsonl", upload_url=None)])], "BK811"),
        ([answer(files=[target("test.jsonl", headers=[])])], "BK811"),
        ([answer(files=[{"path": 7}])], "BK811"),
        ([answer("test.jsonl", "test.jsonl")], "BK811"),
        ([answer(artifact=artifact(artifact_id=None))], "BK811"),
        ([answer(artifact=artifact(artifact_id=7))], "BK811"),
        ([answer("test.jsonl", artifact=artifact(artifact_id=""))], "BK811"),
        ([answer(), Completed({})], "BK811"),
        ([answer(), Completed({"artifact": artifact()})], "BK811"),
        ([answer(), Completed({"artifact": artifact(status="COMPLETE", manifest_digest="x")})], "BK810"),
    ],
)
def test_step__faulty_place__ends_with_a_problem(events: list[TransferEvent], code: str) -> None:
    """Another digest, an unknown file, a URL that is none, an upload that stays pending: never a success."""
    transfer, commands = after(*events)
    assert (transfer.phase, commands) == ("failed", ())
    assert transfer.outcome().failure().code == code


class Upload(RuleBasedStateMachine):
    """A transfer and a place that answers well; files arrive in any order, failures come at any time."""

    @initialize(
        lacking=st.lists(st.sampled_from([file.path for file in FILES]), unique=True),
        status=st.sampled_from(["PENDING", "COMPLETE"]),
        reused=st.booleans(),
    )
    def announce(self, lacking: list[str], status: str, reused: bool) -> None:
        self.transfer, _ = begin(DATASET)
        self.commands: list[TransferCommand] = []
        self.arrived: list[str] = []
        self.lacking = lacking
        self.take(answer(*lacking, artifact=artifact(status=status), reused=reused))

    def take(self, event: TransferEvent) -> None:
        before = self.transfer.phase
        self.transfer, commands = step(self.transfer, event).unwrap()
        self.commands += commands
        # `created` and `sent` are passed through within one step.
        hops = {before} | {end for phase in (before, "created", "sent") for end in TRANSITIONS[phase].values()}
        assert self.transfer.phase in hops

    @precondition(lambda self: self.transfer.phase == "sending")
    @rule(data=st.data())
    def arrive(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.transfer.lacking)))
        expired = self.transfer.expired
        self.arrived.append(path)
        self.take(FileSent(path))
        if self.transfer.phase == "planned":
            self.commands = [one for one in self.commands if isinstance(one, SendFile) and one.path not in expired]
            self.take(answer(*sorted(expired)))

    @precondition(lambda self: self.transfer.phase == "completing")
    @rule()
    def confirm(self) -> None:
        self.take(DONE)

    @precondition(lambda self: self.transfer.phase in ("sending", "completing"))
    @rule()
    def fail(self) -> None:
        self.take(NO_ANSWER)

    @precondition(lambda self: hasattr(self, "transfer"))
    @rule(event=st.sampled_from([answer(), FileSent("other"), FileSent("train.jsonl"), DONE, NO_ANSWER]))
    def misfit(self, event: TransferEvent) -> None:
        """What answers nothing is refused and changes nothing."""
        if self.transfer.ended or isinstance(event, Announced) or event == FileSent("other"):
            assert step(self.transfer, event).failure().code == "BK819"

    @precondition(lambda self: self.transfer.phase == "sending")
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        """A URL is no longer good; once nothing is under way, the rest gets new ones."""
        path = data.draw(st.sampled_from(sorted(self.transfer.lacking)))
        expired = self.transfer.expired | {path}
        self.take(FileExpired(path, TOO_LATE))
        if self.transfer.phase == "planned":
            self.commands = [one for one in self.commands if isinstance(one, SendFile) and one.path not in expired]
            self.take(answer(*sorted(expired)))

    @invariant()
    def accounts(self) -> None:
        if not hasattr(self, "transfer"):
            return
        sends = [command.path for command in self.commands if isinstance(command, SendFile)]
        assert sorted(sends) == sorted(self.lacking)
        sizes = {file.path: file.size_bytes for file in FILES}
        assert self.transfer.sent_bytes == sum(sizes[path] for path in self.arrived)
        assert self.transfer.total_bytes == sum(sizes[path] for path in sends)
        if self.transfer.phase in ("complete", "reused"):
            assert sorted(self.arrived) == sorted(self.lacking)
            assert is_successful(self.transfer.outcome())
        else:
            assert not is_successful(self.transfer.outcome())


TestUpload = Upload.TestCase


JSON = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())
ANSWERS = st.dictionaries(
    st.sampled_from(["artifact", "files", "reused", "artifact_id", "status"]),
    JSON
    | st.builds(artifact, status=JSON, artifact_id=JSON)
    | st.lists(st.builds(target, st.sampled_from(["test.jsonl", "x"]), upload_url=JSON, headers=JSON)),
)
EVENTS = st.one_of(
    st.builds(Announced, ANSWERS),
    st.builds(Completed, ANSWERS),
    st.builds(FileSent, st.sampled_from(["test.jsonl", "x"])),
    st.builds(FileExpired, st.sampled_from(["test.jsonl", "x"]), st.just(TOO_LATE)),
    st.just(NO_ANSWER),
)


@given(st.lists(EVENTS, max_size=8))
def test_step__any_events__lead_somewhere_or_are_refused(events: list[TransferEvent]) -> None:
    """Whatever a place answers in whatever order: the machine is total, and an end stays one."""
    transfer, _ = begin(DATASET)
    for event in events:
        moved = step(transfer, event)
        if is_successful(moved):
            assert not transfer.ended
            transfer, commands = moved.unwrap()
            assert not (transfer.ended and commands)
            assert transfer.phase not in ("created", "sent")
        else:
            assert moved.failure().code == "BK819"


def test_transitions__types_and_table__agree() -> None:
    """The table covers the types, and every phase can be reached."""
    assert set(TRANSITIONS) == set(get_args(TransferPhase))
    assert {move for row in TRANSITIONS.values() for move in row} == set(get_args(TransferMove))
    assert {end for row in TRANSITIONS.values() for end in row.values()} == set(TRANSITIONS)


def test_repr__signed_url__is_not_shown() -> None:
    """Whoever has an upload URL may write, so it is in no text."""
    assert "sig" not in repr(after(answer("train.jsonl")))
