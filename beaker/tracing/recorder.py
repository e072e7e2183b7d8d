"""Recording one case: what its operations are and did, put into messages that are sent as it happens.

Each operation is sent when it begins (models and tools at once, stages within moments) and again when it ends, so what
a case did is known although its process is killed. `core.traces.take` reads the messages.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from beaker.core.text import FOREIGN, class_name
from beaker.core.traces import LIMITS, LONGEST
from beaker.core.usage import TokenCounts, infer_usage
from beaker.sdk.json_safe import OMITTED
from beaker.sdk.trace import ArtifactRef
from beaker.tracing.contents import BUDGET, Contents, Cut
from beaker.tracing.guarding import guarded
from beaker.tracing.shelf import TOTAL_BYTES, EvidenceRefused, artifact_of, evidence_content, evidence_name, refusal
from beaker.tracing.spans import Span
from beaker.tracing.tally import Tally, counts_json, is_count, stated

Send = Callable[[dict[str, Any]], object]
Say = Callable[[BaseException], str]

SEND_SECONDS = 0.01
"""How long what ended may wait to be sent."""

SMALL = 32
"""Attributes, and events, that one operation keeps."""

NAME = 256
"""Characters that are kept of a name."""


def shortened(text: str) -> str:
    """A text that is too long, cut, for a recording in which no secrets are looked for."""
    return f"{text[:LONGEST]}[... {len(text) - LONGEST} characters left out ...]"


def said(error: BaseException) -> str:
    """The class and the text of an exception."""
    return f"{type(error).__name__}: {label(error)}"


class Recorder:
    """Records one case until it is closed.

    `send` takes a message; `cut` shortens a text that is too long and `say` puts an exception into words, both such
    that secrets in them can still be found; `budget` bounds the characters of content. Any thread may call; a copy of
    the process that was forked records nothing.
    """

    def __init__(self, send: Send, *, cut: Cut = shortened, say: Say = said, budget: int = BUDGET) -> None:
        self._send = send
        self._say = say
        self._contents = Contents(cut, budget=budget)
        self._tally = Tally()
        self._beside = Tally()  # what stages and tools say they used; counts when no model call was recorded
        self._counts: dict[str, int] = {}
        self._entered = 0
        self._told: BaseException | None = None  # the exception that is on its way out
        self._evidence: set[str] = set()
        self._evidence_left = TOTAL_BYTES
        self._dirty: dict[Span, None] = {}
        self._entries: list[Any] = []
        self._began = self._sent = time.perf_counter()
        self._open = True
        self._process = os.getpid()  # looked at before the lock, which a fork may have copied while it was held
        # Values are looked at while it is held, and what looks at them may itself record.
        self._lock = threading.RLock()

    @guarded
    def enter(self, kind: str, model: str | None, named: dict[str, Any], field: str, given: Any) -> Span | None:
        """Begin an operation of `kind`; `given` is what it was given, kept as `field` unless it is `None`."""
        if self._process != os.getpid():
            return None
        with self._lock:
            if not self._open:
                return None
            span = Span(self, kind, model)
            self._entered += 1
            span.n = self._entered
            span.place = self._place(kind)
            parent = span.nest()
            try:
                if span.place is not None:
                    span.fields = {"n": span.n, **({} if parent is None else {"parent": parent.n}), **named}
                    if given is not None:
                        span.fields[field] = self._given(kind, span.place, field, given)
                    span.fields["start_ms"] = self._milliseconds(self._began)
                    self._dirty[span] = None
                if kind != "stages":
                    self._flush()
            except BaseException:  # nothing will leave it
                span.ended = True
                span.unnest()
                raise
            span.began = time.perf_counter()
            return span

    def _given(self, kind: str, place: int, field: str, given: Any) -> Any:
        try:
            if field == "input":
                return self._contents.conversation(given, place)
            return self._contents.keep(given, f"/{kind}/{place}/{field}")
        except FOREIGN as error:  # the operation is counted nevertheless
            self.failed(field, error)
            return OMITTED

    @guarded
    def amend(self, span: Span, named: dict[str, Any], model: str | None, field: str, given: Any) -> None:
        """State of an operation that has begun how it is named, and what it was given unless that is `None`."""
        if self._process != os.getpid():
            return
        with self._lock:
            if not self._open or span.ended:
                return
            span.model = model
            if span.place is not None:
                span.fields.update(named)
                if given is not None:
                    span.fields[field] = self._given(span.kind, span.place, field, given)
                self._dirty[span] = None

    @guarded
    def leave(self, span: Span, error: BaseException | None) -> None:
        """End an operation, with the exception that leaves it."""
        ended = time.perf_counter()
        if self._process != os.getpid():
            return
        with self._lock:
            span.ended = True
            span.unnest()
            if not self._open:
                return
            self._contents.settle(span.later)
            span.later = {}
            if span.kind == "model_calls":
                self._tally.add(span.model, span.counts, answered=error is None)
            elif span.counts is not None:
                self._beside.add(None, span.counts, answered=True)
            if span.place is not None:
                span.fields["duration_ms"] = round((ended - span.began) * 1000, 3)
                self._dirty[span] = None
            if isinstance(error, Exception):
                self._fail(span, error)
            elif error is not None and span.place is not None:
                span.fields["interrupted"] = True
            if ended - self._sent > SEND_SECONDS:
                self._flush()

    @guarded
    def output(self, span: Span, value: Any) -> None:
        """What an operation gave; the last value counts. Of a model's response usage is read as well."""
        if self._process != os.getpid():
            return
        with self._lock:
            if not self._open or span.ended:
                return
            if span.kind == "model_calls":
                span.inferred = infer_usage(value)
                if not span.explicit:
                    self._count(span, span.inferred)
            if span.place is not None:
                span.later = {}
                pointer = f"/{span.kind}/{span.place}/output"
                span.fields["output"] = self._contents.keep(value, pointer, later=span.later)
                self._dirty[span] = None

    @guarded
    def usage(self, span: Span, given: Mapping[str, Any]) -> None:
        """Token counts that the application states; none at all: what the response says counts again."""
        if self._process != os.getpid():
            return
        with self._lock:
            if not self._open or span.ended:
                return
            counts = {name: count for name, count in given.items() if count is not None}
            wrong = [name for name, count in counts.items() if not is_count(count)]
            if wrong:
                self._warn(f"usage of operation {span.n}: {', '.join(wrong)} must be a whole number of at least 0")
            span.explicit = bool(counts)
            self._count(span, stated(counts, span.inferred) if counts else span.inferred)

    @guarded
    def attributes(self, span: Span, given: Mapping[str, Any] | None) -> None:
        """The attributes that an operation begins with."""
        for key, value in () if given is None else given.items():
            self.attribute(span, key, value)

    @guarded
    def attribute(self, span: Span, key: Any, value: Any) -> None:
        """One attribute of an operation; a later value replaces an earlier one."""
        if span.place is None or self._process != os.getpid():
            return
        with self._lock:
            if not self._open or span.ended:
                return
            if span.attributes is None:
                span.attributes = {}
            name = label(key)
            if name in span.attributes or len(span.attributes) < SMALL:
                span.attributes[name] = self._contents.keep(value, "", later={})
                span.fields["attributes"] = dict(span.attributes)
                self._dirty[span] = None
            else:
                self._contents.cut = True

    @guarded
    def event(self, span: Span, name: Any, attributes: Mapping[str, Any] | None) -> None:
        """Something that happened during an operation, now."""
        if span.place is None or self._process != os.getpid():
            return
        with self._lock:
            if not self._open or span.ended:
                return
            if span.events is None:
                span.events = []
            if len(span.events) < SMALL:
                told = {} if not attributes else {"attributes": self._contents.keep(attributes, "", later={})}
                span.events.append({"name": label(name), "at_ms": self._milliseconds(span.began), **told})
                span.fields["events"] = list(span.events)
                self._dirty[span] = None
            else:
                self._contents.cut = True

    @guarded
    def handoff(self, name: Any, value: Any, from_stage: Any, to_stage: Any) -> None:
        """What one stage hands to another."""
        if self._process != os.getpid():
            return
        with self._lock:
            if not self._open or (place := self._place("handoffs")) is None:
                return
            ends = {"from_stage": from_stage, "to_stage": to_stage}
            told = {key: label(stage) for key, stage in ends.items() if stage is not None}
            kept = self._contents.keep(value, f"/handoffs/{place}/value")
            self._add("handoffs", place, {"name": label(name), **told, "value": kept})

    @guarded
    def artifact(self, name: Any, content: Any, media_type: Any, filename: Any, required: bool) -> ArtifactRef | None:
        """Keep a small artifact; `None`, and a note of its size and digest, for one that is too large for a trace."""
        if self._process != os.getpid():
            return None
        with self._lock:
            if not self._open:
                return None
            try:
                reference, plain = artifact_of(
                    label(name),
                    content,
                    media_type=label(media_type),
                    filename=None if filename is None else label(filename),
                    required=bool(required),
                )
            except EvidenceRefused as refused:
                self._warn(f"the artifact {label(name)!r} was not kept: {refused}")
                return None
            place = self._place("artifacts")
            if place is not None:
                kept = {} if plain is None else {"content": self._contents.keep(plain, f"/artifacts/{place}/content")}
                self._add("artifacts", place, {**reference.to_dict(), **kept})
            if plain is not None and place is not None:
                return reference
            if required:
                self._warn(f"the artifact {reference.name!r} was not kept: {reference.size} bytes are too many")
            return None

    @guarded
    def evidence(self, name: Any, content: Any) -> None:
        """Keep evidence. What cannot be kept is warned of, never raised."""
        if self._process != os.getpid():
            return
        with self._lock:
            if not self._open:
                return
            try:
                known = evidence_name(name, self._evidence)
                plain, size = evidence_content(content, left=self._evidence_left)
                place = self._place("evidence")
                if place is None:
                    raise EvidenceRefused(f"at most {LIMITS['evidence']} pieces are kept of one case")
            except EvidenceRefused as refused:
                self._warn(refusal(name, str(refused)))
                return
            self._evidence.add(known)
            self._evidence_left -= size
            self._add("evidence", place, {"name": known, "content": plain})

    def failed(self, what: str, error: BaseException) -> None:
        """Warn that `what` of the application was not recorded."""
        with self._lock, suppress(*FOREIGN):
            if self._open:
                self._warn(f"{what} was not recorded: {class_name(error)}")

    def close(self) -> None:
        """Send what is left and record nothing more; operations still open stay without an end."""
        with self._lock:
            if self._open:
                self._flush()
            self._open = False

    def _place(self, kind: str) -> int | None:
        count = self._counts.get(kind, 0)
        self._counts[kind] = count + 1
        return count if count < LIMITS[kind] else None

    def _count(self, span: Span, counts: TokenCounts | None) -> None:
        span.counts = counts
        if span.place is not None:
            span.fields["usage"] = None if counts is None else counts_json(counts)
            self._dirty[span] = None

    def _fail(self, span: Span, error: Exception) -> None:
        try:
            said = self._say(error)
        except FOREIGN:  # the application's own __str__
            said = class_name(error)
        if span.place is not None:
            span.fields["error"] = said
        # It passes through every operation around; it happened once.
        if error is not self._told:
            self._told = error
            place = self._place("errors")
            if place is not None:
                self._add("errors", place, {"n": span.n, "message": said})

    def _warn(self, warning: str) -> None:
        place = self._place("warnings")
        if place is not None:
            self._add("warnings", place, {"message": warning})

    def _add(self, kind: str, place: int, fields: dict[str, Any]) -> None:
        self._entries.append([kind, place, fields])
        if time.perf_counter() - self._sent > SEND_SECONDS:
            self._flush()

    def _flush(self) -> None:
        entries = self._entries
        for span in self._dirty:
            entries.append([span.kind, span.place, span.fields])
            span.fields = {}
        self._dirty.clear()
        self._entries = []
        usages = self._tally if self._tally.calls else self._beside
        if entries or self._counts:
            self._send(
                {
                    "entries": entries,
                    "counts": dict(self._counts),
                    "usage": usages.to_json(),
                    "cut": self._contents.cut,
                }
            )
        self._sent = time.perf_counter()

    @staticmethod
    def _milliseconds(since: float) -> float:
        return round((time.perf_counter() - since) * 1000, 3)


def label(name: Any) -> str:
    """A name as text, cut to what is kept of one."""
    if type(name) is str and len(name) <= NAME and name.isascii():
        return name
    try:
        text = str.__str__(str(name))
        return text[:NAME].encode("utf-8", "backslashreplace").decode()
    except FOREIGN:  # the application's own __str__
        return class_name(name)
