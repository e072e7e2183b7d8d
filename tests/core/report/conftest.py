"""Answers of an API as reports read them, and a reader of the pages made from them."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """A page taken apart: its elements with their attributes, the text in each, and whether every one was closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.styles: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        (self.styles if self.open[-1:] == ["style"] else self.texts).append(data)

    @property
    def text(self) -> str:
        """All text, in order, with single blanks."""
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str, class_: str | None = None) -> list[dict[str, str | None]]:
        """The attributes of every element of a kind, with a class if one is given."""
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and (class_ is None or class_ in (attributes.get("class") or "").split())
        ]


@pytest.fixture
def read() -> Callable[[str], Page]:
    """Takes a page, or a piece of markup, apart; every element in it must be closed."""

    def take(page: str) -> Page:
        taken = Page(page)
        assert taken.open == []
        return taken

    return take


def case(name: str, objective: float | None, **more: Any) -> dict[str, Any]:
    error = {"kind": "raised", "message": "ValueError: no", "traceback": "..."} if objective is None else None
    fields = {} if objective is None else {"kind": objective, "tone": 1.0}
    return {
        "id": name, "objective": objective, "field_scores": fields, "checks": [], "error": error, "duration_ms": 12.5,
        "attempts": 1, **more,
    }  # fmt: skip


def report(n: int, split: str, cases: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "id": f"run_1.{n}.{split}", "candidate_id": f"run_1.{n}", "split": split,
        "set": "selection" if split == "train" else "test", "objective": 0.5, "objective_scored": 0.5,
        "cases_total": len(cases), "scored": len(cases), "failed": 0,
        "field_scores": {"kind": {"mean": 0.25 + n / 4, "n": 2}},
        "usage": {"input_tokens": 1200, "output_tokens": 30, "cost_usd": 0.0042},
        "latency_ms": {"p50": 12.5, "p95": 61_000.0}, "cases": cases, **more,
    }  # fmt: skip


def candidate(n: int, parent: int | None, train: float | None, **more: Any) -> dict[str, Any]:
    status = "baseline" if parent is None else "accepted" if train is not None else "rejected"
    mean = (
        None if train is None else {"objective": train, "objective_scored": train, "cases": 2, "scored": 2, "failed": 0}
    )
    return {
        "id": f"run_1.{n}", "tree": "0" * 64, "parent_id": None if parent is None else f"run_1.{parent}",
        "origin": "command", "proposal": n or None, "status": status, "reason": f"reason {n}", "rollouts": 10 * (n + 1),
        "created_at": None, "summary": {"created": [], "updated": [f"book/{n}.md"] if n else [], "deleted": []},
        "scores": {"train": mean, "test": None}, **more,
    }  # fmt: skip


def answers() -> dict[str, Any]:
    """A completed run with four candidates, of which number 2 wins."""
    first, last = candidate(0, None, 0.25), candidate(2, 1, 0.75)
    for one, test in ((first, 0.3), (last, 0.8)):
        one["scores"]["test"] = {"objective": test}
    return {
        "run": {
            "id": "run_1", "status": "COMPLETED", "created_at": "2026-03-01T10:00:00Z",
            "started_at": "2026-03-01T10:00:01Z", "completed_at": "2026-03-01T10:02:04Z", "finish_reason": "proposals",
            "error_message": None,
            "github_source": {"repository": "a/b", "ref": "HEAD", "commit": "c" * 40, "integration_id": "words"},
            "dataset": {"name": "letters", "revision": "sha256:" + "d" * 64},
            "targets": {"kind": "documents", "groups": ["book"]},
            "settings": {"harness_optimization": {"seed": 1, "proposer_env": []}, "extra": {}, "max_concurrency": 4},
            "attempts": 1, "warnings": [],
            "progress": {
                "rollouts": {"issued": 60, "done": 60, "failed": 1, "retried": 0, "lost": 0, "limit": 500},
                "proposals": {"made": 3, "accepted": 2, "rejected": 1, "failed": 0, "limit": 3},
                "best": {"candidate_id": "run_1.2", "train": 0.75}, "spend_usd": 1.5, "tokens": 20_000_000,
            },
            "selection": {"cases": 2, "shared_with_evidence": False},
            "result": {
                "baseline_id": "run_1.0", "winner_id": "run_1.2",
                "test": {"baseline": 0.3, "winner": 0.8, "difference": 0.5, "low": 0.2, "high": 0.7, "n": 30,
                         "failed_baseline": 1, "failed_winner": 0, "method": "paired bootstrap"},
            },
        },
        "candidates": {
            "candidates": [first, candidate(1, 0, 0.5), last, candidate(3, 1, None)],
            "winner_id": "run_1.2",
            "proposals": [
                {"n": 1, "parent_id": "run_1.0", "outcome": "accepted", "candidate_id": "run_1.1", "message": ""},
                {"n": 2, "parent_id": "run_1.1", "outcome": "timed_out", "candidate_id": None, "message": "too slow"},
            ],
        },
        "reports": {
            "eval_reports": [
                report(0, "train", [case("a", 0.5), case("b", 0.5)]),
                report(0, "test", [case("t1", None), case("t2", 1.0), case("t3", 0.5)]),
                report(2, "train", [case("a", 0.5), case("b", 1.0)]),
                report(2, "test", [case("t1", 0.5), case("t2", 1.0), case("t3", 0.25)]),
            ]
        },
    }  # fmt: skip


@pytest.fixture
def sample() -> dict[str, Any]:
    """Answers of a completed run, for a test to change."""
    return answers()


@pytest.fixture
def make_case() -> Callable[..., dict[str, Any]]:
    """Makes a case of an eval report."""
    return case


@pytest.fixture
def make_report() -> Callable[..., dict[str, Any]]:
    """Makes an eval report."""
    return report


@pytest.fixture
def make_candidate() -> Callable[..., dict[str, Any]]:
    """Makes a candidate."""
    return candidate
