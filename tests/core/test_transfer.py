"""Uploading: the machine is its table, order of arrival does not matter, a faulty place is no success."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from returns.pipeline import is_successful

from beaker.core.datasets import DatasetDeclaration, DatasetFile, declare_dataset
from beaker.core.problems import Problem
from beaker.core.transfer import (
    TRANSITIONS,
    Announce,
    Announced,
    CallFailed,
    Complete,
    Completed,
    FileSent,
    SendFile,
    Transfer,
    TransferCommand,
    TransferEvent,
    TransferMove,
    TransferPhase,
    begin,
    content_type,
    step,
)

FILES = [
    DatasetFile("train.jsonl", 51, "a" * 64),
    DatasetFile("test.jsonl", 7, "b" * 64),
    DatasetFile("manifest.json", 0, "c" * 64),
]
DATASET: DatasetDeclaration = declare_dataset("invoices", FILES, splits={"train": 1, "test": 1}).unwrap()
NO_ANSWER = CallFailed(Problem("BK803", "no answer"))


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
        self.arrived.append(path)
        self.take(FileSent(path))

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
    assert {end for row in TRANSITIONS.values() for end in row.values()} == set(TRANSITIONS) - {"planned"}


def test_repr__signed_url__is_not_shown() -> None:
    """Whoever has an upload URL may write, so it is in no text."""
    assert "sig" not in repr(after(answer("train.jsonl")))
