"""Proposers that are no command, and engines of other packages, in whole runs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

PLUGIN = '''\
"""A package that brings proposers and an engine."""
import os

import attrs

from beaker.core.search import start, step
from beaker.core.usage import ModelUsage
from beaker.engine.engines import Engine


def learn(task):
    """Adds what the minibatch shows, as many as the options say."""
    rules = task.workspace / "documents" / "book" / "rules.txt"
    known = dict(line.split("=") for line in rules.read_text().splitlines())
    shown = [case for case in task.cases if case["minibatch"]][: task.options["most"]]
    known |= {case["input"][0]: case["expected"] for case in shown}
    rules.write_text("".join(f"{letter}={kind}\\n" for letter, kind in sorted(known.items())))
    assert (task.project / "words.py").is_file()
    print("learned", len(shown), "LAB" in os.environ, task.summary["format"], task.seed, task.source_dir, task.targets)
    return [ModelUsage("teacher:one", 7, 3)]


async def fail(task):
    raise ValueError("no idea " + os.environ.get("TOKEN", "without a token"))


def only_one(options):
    """The search of Beaker, but no proposal after the first."""

    def began(settings, *arguments):
        return start(attrs.evolve(settings, max_proposals=options["proposals"]), *arguments)

    return Engine(began, step)


def broken(options):
    raise RuntimeError("it never worked")
'''

ENTRY_POINTS = """\
[beaker.proposers]
learn = lab_plugin:learn
fail = lab_plugin:fail
gone = lab_plugin:nothing_here

[beaker.engines]
only-one = lab_plugin:only_one
broken = lab_plugin:broken
"""


@pytest.fixture
def plugged(laboratory: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Laboratories beside an installed package that registers proposers and engines."""
    site = tmp_path / "site"
    (site / "lab_plugin-1.dist-info").mkdir(parents=True)
    (site / "lab_plugin.py").write_text(PLUGIN)
    (site / "lab_plugin-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-plugin\nVersion: 1\n")
    (site / "lab_plugin-1.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)

    def make(name: str = "lab", **options: Any) -> Any:
        lab = laboratory(name, **options)
        lab.environ["PYTHONPATH"] = str(site)
        return lab

    return make


def test_registered_proposer__in_its_own_process__makes_children(plugged: Callable[..., Any]) -> None:
    """It gets working copy, evidence, options and a checkout, and no more variables; what it used is counted."""
    lab = plugged(train=5, test=2)
    run_id = lab.launch(command=None, proposer="learn", proposer_options={"most": 2}, proposer_env=[], max_proposals=2)
    run = lab.run(run_id)
    assert run["status"] == "COMPLETED"
    first, second = lab.candidates(run_id)["proposals"]
    assert first["outcome"] == "accepted"
    assert re.match(
        r"learned [12] False beaker.evidence/1 \d+ \. \{'kind': 'documents', 'groups': \['book'\]\}", first["stdout"]
    )
    assert first["usage"] == [{"model": "teacher:one", "calls": 1, "input_tokens": 7, "output_tokens": 3}]
    assert second["usage"] == first["usage"]
    assert {one["origin"] for one in lab.candidates(run_id)["candidates"]} == {"baseline", "learn"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fail", r"the proposer 'fail' ended with exit status 1: ValueError: no idea without a token"),
        ("gone", r"the proposer 'gone' ended with exit status 1: .*nothing_here"),
    ],
)
def test_registered_proposer__that_fails__costs_its_proposal_alone(
    plugged: Callable[..., Any], name: str, message: str
) -> None:
    """A raise and a broken package are crashes that say why; the run completes."""
    lab = plugged(train=2, test=1)
    run_id = lab.launch(command=None, proposer=name, max_proposals=1)
    assert lab.run(run_id)["status"] == "COMPLETED"
    (proposal,) = lab.candidates(run_id)["proposals"]
    assert proposal["outcome"] == "crashed"
    assert re.search(message, proposal["message"])


def test_registered_engine__with_options__decides_the_search(plugged: Callable[..., Any]) -> None:
    """It runs, and everybody who looks at the run replays its log with it."""
    lab = plugged(train=5, test=1)
    run_id = lab.launch(engine="only-one", engine_options={"proposals": 1}, max_proposals=5)
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("COMPLETED", "proposals")
    assert len(lab.candidates(run_id)["proposals"]) == 1


def test_registered_engine__that_cannot_be_made__fails_the_run(plugged: Callable[..., Any]) -> None:
    """With what is wrong with it."""
    lab = plugged(train=2, test=1)
    run = lab.run(lab.launch(engine="broken"))
    assert run["status"] == "FAILED"
    assert "it never worked" in run["error_message"]


def reflect(body: dict[str, Any], number: int) -> str:
    """A model that adds the rules of the cases it is told to improve."""
    told = body["messages"][1]["content"]
    (text,) = re.findall(r'<file path="documents/book/rules.txt">\n(.*?)</file>', told, re.DOTALL)
    known = dict(line.split("=") for line in text.splitlines())
    cases = re.findall(r"must improve\)\ninput: (\w)\w*\nexpected: (\w+)", told)
    rules = "".join(f"{letter}={kind}\n" for letter, kind in sorted({**known, **dict(cases)}.items()))
    return f'I add what is missing.\n<edit path="documents/book/rules.txt">\n{rules}</edit>'


def test_reflection__a_whole_run__improves_and_shows_what_was_said(
    laboratory: Callable[..., Any], model_server: Callable[..., Any], conforms: Callable[..., None], tmp_path: Path
) -> None:
    """A model behind a URL writes the winner; tokens are counted, prompts and answers come with `run pull`; the key is
    nowhere; no TEST case is ever told.
    """
    from beaker.client.flows import download_artifacts

    server = model_server(reflect)
    lab = laboratory(train=20, test=6)
    lab.environ["MODEL_KEY"] = "sesame-open-8841"
    reflection = {"base_url": server.base_url, "model": "tiny", "api_key_env": "MODEL_KEY"}
    run_id = lab.launch(
        command=None, proposer_env=[], reflection=reflection, max_proposals=4, max_proposals_in_flight=2,
        prices={"openai:tiny": {"input": 1.0, "output": 2.0}},
    )  # fmt: skip
    run = lab.run(run_id)
    assert run["status"] == "COMPLETED"
    assert run["result"]["test"]["difference"] > 0
    api = lab.open()
    answered = api.call("list_candidates", run_id=run_id).unwrap()
    conforms(answered, "candidates.json")
    proposals = answered["proposals"]
    assert {proposal["outcome"] for proposal in proposals} <= {"accepted", "rejected"}
    assert all(proposal["usage"][0]["model"] == "openai:tiny" for proposal in proposals)
    assert sum(proposal["usage"][0]["input_tokens"] for proposal in proposals) == 100 * len(server.requests)
    assert run["progress"]["spend_usd"] > 0
    pulled = download_artifacts(api, answered, tmp_path / "proposals").unwrap()
    assert sorted(pulled) == sorted(f"{n}/{name}.md" for n in (1, 2, 3, 4) for name in ("answer", "prompt"))
    assert "documents/book/rules.txt" in (tmp_path / "proposals/1/prompt.md").read_text()
    assert (tmp_path / "proposals/1/answer.md").read_text().startswith("I add what is missing.")
    assert all(headers["authorization"] == "Bearer sesame-open-8841" for headers in server.headers)
    assert not re.search(r"[a-p]test\d", json.dumps([request["messages"] for request in server.requests]))
    kept = [path.read_bytes() for path in (lab.project / ".beaker" / "local").rglob("*") if path.is_file()]
    assert not any(b"sesame-open-8841" in data for data in kept)


def test_reflection__an_endpoint_that_is_gone__ends_the_run_saying_so(
    laboratory: Callable[..., Any], model_server: Callable[..., Any]
) -> None:
    """Ten refusals in a row, and none that worked: the run fails with the endpoint's words."""
    server = model_server(lambda body, number: (401, {"error": {"message": "wrong key"}}))
    lab = laboratory(train=4, test=2)
    reflection = {"base_url": server.base_url, "model": "tiny"}
    run = lab.run(lab.launch(command=None, proposer_env=[], reflection=reflection, max_proposals=20))
    assert run["status"] == "FAILED"
    assert "wrong key" in run["error_message"]
    assert len(server.requests) == 10


def test_gateway__of_the_caller__reaches_cases_and_scorer_and_no_proposer(laboratory: Callable[..., Any]) -> None:
    """`inference_target` works where the caller has a gateway; its key is stored nowhere, and no proposer sees it."""
    lab = laboratory(train=2, test=1)
    lab.environ |= {
        "BEAKER_INFERENCE_BASE_URL": "http://127.0.0.1:9/v1",
        "BEAKER_INFERENCE_API_KEY": "sesame-open-8841",
    }
    code = (lab.project / "words.py").read_text()
    target = "__import__('beaker').inference_target(__import__('types').SimpleNamespace(model='local:m'))"
    code = code.replace("    behaviour = ", f"    note('target ' + {target}.api_key)\n    behaviour = ")
    code = code.replace("    right = ", "    note('scorer ' + os.environ['BEAKER_INFERENCE_BASE_URL'])\n    right = ")
    lab.write("words.py", code)
    proposer = (lab.project / "propose.py").read_text()
    lab.write("propose.py", f"{proposer}print([name for name in os.environ if 'INFERENCE' in name])\n")
    run_id = lab.launch(max_proposals=1)
    assert lab.run(run_id)["status"] == "COMPLETED"
    assert {words[1] for words in lab.notes("target")} == {"sesame-open-8841"}
    assert {words[1] for words in lab.notes("scorer")} == {"http://127.0.0.1:9/v1"}
    assert lab.candidates(run_id)["proposals"][0]["stdout"].endswith("[]\n")
    kept = [path.read_bytes() for path in (lab.project / ".beaker" / "local").rglob("*") if path.is_file()]
    assert not any(b"sesame-open-8841" in data for data in kept)
