"""The reflection proposer against a real endpoint on this machine: edits, failures, limits, what is kept."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from beaker.core.documents import TargetDocument
from beaker.core.reflection.settings import Reflection
from beaker.core.repository_tree import RepositoryFile, TrackedFile
from beaker.core.retry import RetryPolicy
from beaker.core.targets import documents, repository
from beaker.core.usage import ModelUsage
from beaker.engine.candidates import CandidateTree
from beaker.engine.evidence import Evidence
from beaker.engine.judging import Scope
from beaker.engine.proposal import Proposal, ProposalRequest
from beaker.engine.proposers.chat_client import ChatClient
from beaker.engine.proposers.reflection import ReflectionProposer

FAST = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002, passing=frozenset({429, 500, 503}))
RULES = "documents/book/rules.txt"
PARENT = CandidateTree({"book": {"rules.txt": "a=vowel\n", "locked.txt": "keep\n"}})
CASES: tuple[dict[str, Any], ...] = (
    {"id": "1", "input": "bee", "expected": "early", "output": "unknown", "objective": 0.0, "minibatch": True},
)
SEEDS = tuple(
    TargetDocument(source_id=name, group="book", name=name, content=text, editable=name != "locked.txt")
    for name, text in PARENT.documents["book"].items()
)


def edit(path: str, content: str) -> str:
    """An answer in the form that was asked for."""
    return f'I change it.\n<edit path="{path}">\n{content}</edit>'


class Asking:
    """Proposes once with the model behind `base_url`."""

    def __init__(self, base_url: str, **settings: Any) -> None:
        self.settings = Reflection(base_url=base_url, model="m", **settings)
        self.scope = Scope(targets=(documents(groups=("book",)),), seeds=SEEDS)
        self.files: dict[str, RepositoryFile] = {}
        self.timeout = 20.0
        self.key: str | None = None

    def track(self, path: str, content: bytes, *, mode: Any = "100644") -> None:
        """A file of the commit, which is a target from now on."""
        self.files[path] = RepositoryFile(mode, content)
        from hashlib import sha256

        commit = {**self.scope.commit, path: TrackedFile(mode, sha256(content).hexdigest())}
        targets = (documents(groups=("book",)), repository(("src",)))
        self.scope = Scope(targets=targets, seeds=SEEDS, commit=commit)

    def propose(self, parent: CandidateTree = PARENT, cases: tuple[dict[str, Any], ...] = CASES) -> Proposal:
        """What came of it."""
        proposer = ReflectionProposer(
            settings=self.settings,
            scope=self.scope,
            timeout=self.timeout,
            connect=lambda: ChatClient(self.settings, self.key, policy=FAST),
            file=lambda tree, path: tree.repository.get(path, self.files.get(path)),
            clean=lambda text: text.replace("sesame", "[redacted]"),
        )
        summary = {"objective": 0.0, "history": []}
        return asyncio.run(proposer.propose(ProposalRequest(1, 7, parent, Evidence(summary, cases))))


Serve = Callable[..., Any]


def test_propose__an_edit__is_a_child_with_its_usage_and_its_conversation(model_server: Serve) -> None:
    """The model sees the files and the case; counts are the endpoint's; prompt and answer are kept without secrets."""
    server = model_server(lambda body, number: edit(RULES, "a=vowel\nb=early\n") + "sesame")
    asking = Asking(server.base_url, temperature=0.5, max_output_tokens=300)
    asking.key = "key-123456"
    made = asking.propose()
    assert made.outcome == "child"
    assert made.tree is not None
    assert made.tree.documents["book"] == {"rules.txt": "a=vowel\nb=early\n", "locked.txt": "keep\n"}
    assert made.changed == ("book/rules.txt",)
    (request,) = server.requests
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("m", 0.5, 300)
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert "input: bee" in request["messages"][1]["content"]
    assert server.headers[0]["authorization"] == "Bearer key-123456"
    (usage,) = made.usage
    assert (usage.model, usage.calls, usage.input_tokens) == ("openai:m", 1, 100)
    assert list(made.artifacts) == ["prompt.md", "answer.md"]
    assert made.artifacts["prompt.md"].startswith("# system\n\n")
    assert request["messages"][1]["content"] in made.artifacts["prompt.md"]
    assert made.artifacts["answer.md"].endswith("[redacted]")
    assert "key-123456" not in str(made)


def test_propose__a_new_file_or_a_deletion__is_a_child(model_server: Serve) -> None:
    """One document at a time comes or goes."""
    answers = [edit("documents/book/new.txt", "new\n"), f'<delete path="{RULES}"/>']
    server = model_server(lambda body, number: answers[number - 1])
    created, deleted = Asking(server.base_url).propose(), Asking(server.base_url).propose()
    assert created.tree is not None
    assert created.tree.documents["book"]["new.txt"] == "new\n"
    assert deleted.tree is not None
    assert set(deleted.tree.documents["book"]) == {"locked.txt"}


def test_propose__a_file_of_the_repository__keeps_mode_and_line_ends(model_server: Serve) -> None:
    """A declared file is shown and rewritten; what is binary, or not declared, is not shown."""
    server = model_server(lambda body, number: edit("repository/src/run.sh", "echo 2\n"))
    asking = Asking(server.base_url)
    asking.track("src/run.sh", b"echo 1\r\n", mode="100755")
    asking.track("src/logo.png", b"\0\xff")
    asking.track("other.py", b"secret plan")
    made = asking.propose()
    assert made.tree is not None
    assert made.tree.repository == {"src/run.sh": RepositoryFile("100755", b"echo 2\r\n")}
    assert made.changed == ("src/run.sh",)
    told = server.requests[0]["messages"][1]["content"]
    assert "echo 1" in told
    assert "A new file may be made in: documents/book, repository/src\n" in told
    assert "logo.png" not in told
    assert "secret plan" not in told


def test_propose__from_a_parent_with_edits__builds_on_them(model_server: Serve) -> None:
    """The model sees the parent's files; deleting what the parent made leaves no trace of it."""
    server = model_server(lambda body, number: '<delete path="repository/src/new.py"/>')
    asking = Asking(server.base_url)
    asking.track("src/app.py", b"x = 1\n")
    edits = {"src/app.py": RepositoryFile("100644", b"x = 2\n"), "src/new.py": RepositoryFile("100644", b"y\n")}
    made = asking.propose(attrs.evolve(PARENT, repository=edits))  # type: ignore[misc]  # a value is an attrs class
    assert "x = 2" in server.requests[0]["messages"][1]["content"]
    assert made.tree is not None
    assert dict(made.tree.repository) == {"src/app.py": RepositoryFile("100644", b"x = 2\n")}


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (edit(RULES, "a=vowel\n"), "no_change", "leaves documents/book/rules.txt as it is"),
        (edit("documents/book/locked.txt", "mine\n"), "invalid_tree", "locked.txt"),
        (edit("documents/other/x.txt", "x\n"), "outside_targets", "documents/other/x.txt"),
        (edit("repository/src/x.py", "x\n"), "outside_targets", "no target"),
        (edit("documents/book/RULES.txt", "x\n"), "invalid_tree", "RULES.txt"),
        (f'{{"path": "{RULES}", "content": "\\ud800"}}', "invalid_tree", "UTF-8"),
    ],
)  # fmt: skip
def test_propose__an_edit_that_makes_no_candidate__is_named_by_its_kind(
    model_server: Serve, answer: str, outcome: str, words: str
) -> None:
    """The same outcomes as a command's, and the conversation is kept."""
    made = Asking(model_server(lambda body, number: answer).base_url).propose()
    assert made.outcome == outcome
    assert words in made.message
    assert made.tree is None
    assert made.usage[0].calls == 1
    assert made.artifacts["answer.md"] == answer


def test_propose__an_answer_without_an_edit__is_asked_for_once_more(model_server: Serve) -> None:
    """With what was said and what is wanted; both calls are counted, and both are kept."""
    answers = ["I would add a rule for b.", edit(RULES, "b=early\n")]
    server = model_server(lambda body, number: answers[number - 1])
    made = Asking(server.base_url).propose()
    assert made.outcome == "child"
    assert [message["role"] for message in server.requests[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert server.requests[1]["messages"][2]["content"] == answers[0]
    assert "there is none in it" in server.requests[1]["messages"][3]["content"]
    assert made.usage[0].calls == 2
    assert list(made.artifacts) == ["prompt.md", "answer.md", "prompt-2.md", "answer-2.md"]


def test_propose__two_answers_without_an_edit__are_no_change(model_server: Serve) -> None:
    """The proposer worked; it had no idea. That ends no run."""
    server = model_server(lambda body, number: "no idea")
    made = Asking(server.base_url).propose()
    assert (made.outcome, len(server.requests)) == ("no_change", 2)
    assert "holds no edit: there is none in it" in made.message


def test_propose__passing_trouble__is_waited_out(model_server: Serve) -> None:
    """Too many requests, a server error: asked again, and only what was answered counts."""
    refusals = {1: (429, {"error": {"message": "slow down"}}), 2: (503, b"<html>busy</html>")}
    server = model_server(lambda body, number: refusals.get(number, edit(RULES, "b=early\n")))
    made = Asking(server.base_url).propose()
    assert (made.outcome, len(server.requests), made.usage[0].calls) == ("child", 3, 1)


@pytest.mark.parametrize(
    ("status", "body", "asked", "words"),
    [
        (401, {"error": {"message": "wrong key"}}, 1, r"answered 401: wrong key; look at reflection.api_key_env"),
        (404, {"detail": "no model m"}, 1, r"answered 404: no model m; look at reflection.base_url"),
        (500, b"oops", 3, r"answered 500 \(3 attempts\): oops"),
        (302, b"", 1, r"answered 302"),
        (200, b"<html>", 1, r"no JSON"),
        (400, {"error": {"message": "Use 'max_completion_tokens'"}}, 2, r"answered 400: Use"),
        (400, {"error": {"message": "maximum context length is 10 tokens"}}, 1, r"no prompt is short enough"),
    ],
)
def test_propose__an_endpoint_that_refuses__crashes_the_proposal_saying_why(
    model_server: Serve, status: int, body: Any, asked: int, words: str
) -> None:
    """What cannot pass is not repeated; the prompt is kept, to be tried by hand."""
    server = model_server(lambda sent, number: (status, body))
    made = Asking(server.base_url).propose()
    assert made.outcome == "crashed"
    assert re.search(words, made.message)
    assert len(server.requests) == asked
    assert made.usage == ()
    assert "prompt.md" in made.artifacts


def test_propose__nobody_there__crashes_the_proposal(model_server: Serve) -> None:
    """A closed port is no answer."""
    server = model_server(lambda body, number: "")
    server.close()
    made = Asking(server.base_url).propose()
    assert made.outcome == "crashed"
    assert "no answer from http://127.0.0.1" in made.message
    assert "(3 attempts)" in made.message


def test_propose__the_bound_of_an_answer_called_otherwise__is_renamed(model_server: Serve) -> None:
    """Newer models know `max_completion_tokens` alone."""

    def answer(body: dict[str, Any], number: int) -> Any:
        if "max_tokens" in body:
            return 400, {"error": {"message": "Unsupported parameter: use 'max_completion_tokens'"}}
        return edit(RULES, f"b={body['max_completion_tokens']}\n")

    made = Asking(model_server(answer).base_url, max_output_tokens=99).propose()
    assert made.tree is not None
    assert made.tree.documents["book"]["rules.txt"] == "b=99\n"


def test_propose__a_context_that_is_smaller_than_said__gets_a_shorter_prompt(model_server: Serve) -> None:
    """Shortened until it fits; the instructions and the form of the answer stay."""

    def answer(body: dict[str, Any], number: int) -> Any:
        length = sum(len(message["content"]) for message in body["messages"]) // 3
        if length > 1500:
            return 400, {
                "error": {"message": "exceeds the available context size", "n_prompt_tokens": length, "n_ctx": 1500}
            }
        return edit(RULES, "b=early\n")

    server = model_server(answer)
    cases = tuple({**CASES[0], "id": str(number), "input": "word " * 300} for number in range(60))
    made = Asking(server.base_url).propose(cases=cases)
    assert made.outcome == "child"
    sizes = [len(request["messages"][1]["content"]) for request in server.requests]
    assert len(sizes) == 2
    assert sizes[1] < sizes[0] / 3
    assert "<edit path=" in server.requests[-1]["messages"][1]["content"]


def test_propose__a_slow_model__times_out(model_server: Serve) -> None:
    """The proposal's time covers everything."""
    import time

    server = model_server(lambda body, number: time.sleep(0.5) or "late")
    asking = Asking(server.base_url)
    asking.timeout = 0.05
    made = asking.propose()
    assert (made.outcome, made.message) == ("timed_out", "the model did not answer within 0.05 seconds")
    assert list(made.artifacts) == ["prompt.md"]


def test_propose__cut_off_answers__never_become_half_a_file(model_server: Serve) -> None:
    """A model that ran out of room gave no edit."""
    body = {"choices": [{"message": {"content": f'<edit path="{RULES}">\na=vo'}, "finish_reason": "length"}]}
    made = Asking(model_server(lambda sent, number: (200, body)).base_url).propose()
    assert made.outcome == "no_change"
    assert "cut off within the file" in made.message
    assert made.usage == (ModelUsage("openai:m", 0, 0, calls=2, uncounted=2),)
