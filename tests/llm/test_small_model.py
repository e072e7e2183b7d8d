"""A whole run with a real, very small language model: it does the task, and it reflects on how it did.

SmolLM2 (135 million parameters) on the CPU. Whether the score rises is reported, not asserted: the model is tiny.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beaker.files.git import commit_all, init_repository

pytestmark = pytest.mark.llm

LIMIT_SECONDS = 600

CONFIG = """\
integrations:
  reviews:
    entrypoint: reviews:integration
    targets: {kind: documents, groups: [prompts]}
config_defaults:
  dataset_ref: reviews
  max_concurrency: 2
"""

INTEGRATION = '''\
"""Says whether a review is positive or negative, with the instructions of a document."""
from contextlib import asynccontextmanager
from types import SimpleNamespace

import httpx

from beaker import (
    Case, CaseResult, CaseScore, Check, DocumentRunSetupResult, FieldDiff, Integration, RunSetup, TargetDocument,
    documents, inference_target,
)

SEED = "Is this review positive or negative?"


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        seed = TargetDocument(source_id="1", group="prompts", name="instructions.txt", content=SEED + "\\n")
        yield {"documents": DocumentRunSetupResult(target_documents=[seed])}

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["review"], expected=row["feeling"])


async def run_case(*, case_input, runtime):
    instructions = (runtime.targets_dir / "prompts" / "instructions.txt").read_text().strip()
    target = inference_target(SimpleNamespace(model="local:smollm2"))
    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": f"Review: {case_input}"}]
    with runtime.trace.model_call(
        operation="chat", provider="local", model=target.model, input_messages=messages
    ) as call:
        async with httpx.AsyncClient(timeout=120, trust_env=False) as client:
            answer = await client.post(
                f"{target.base_url}/chat/completions",
                headers={"authorization": f"Bearer {target.api_key}"},
                json={"model": target.model, "messages": messages, "max_tokens": 24, "temperature": 0},
            )
        answer.raise_for_status()
        said = answer.json()
        call.output(said)
    return CaseResult(said["choices"][0]["message"]["content"], output_kind="text")


async def score_case(*, case, result, case_files_dir):
    words = result.output.lower()
    found = sorted((words.find(word), word) for word in ("positive", "negative") if word in words)
    named = found[0][1] if found else None
    right = float(named == case.expected)
    diffs = [] if right else [FieldDiff("feeling", named, case.expected)]
    check = Check("names a feeling", "pass" if found else "fail", message=None if found else "says neither word")
    return CaseScore(right, {"feeling": right}, diffs, [check])


integration = Integration(
    targets=documents(groups=("prompts",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
'''

REVIEWS = [
    ("I loved every minute of it.", "positive"),
    ("What a terrible waste of money.", "negative"),
    ("The food was great and the staff were kind.", "positive"),
    ("It broke after one day. Awful.", "negative"),
    ("Best purchase I have made this year!", "positive"),
    ("The worst film I have ever seen.", "negative"),
    ("Works perfectly, I am very happy.", "positive"),
    ("Rude service and a dirty room.", "negative"),
    ("A wonderful, warm story.", "positive"),
    ("Boring, slow and far too long.", "negative"),
    ("Fantastic sound, would buy again.", "positive"),
    ("I hate the new design.", "negative"),
]
"""Twelve cases: eight of TRAIN, four of TEST."""


@pytest.fixture
def model() -> Iterator[dict[str, Any]]:
    """The address of a running model server."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("model_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield json.loads(process.stdout.readline())
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def test_small_model__does_the_task_and_reflects__completes_with_real_counts(
    model: dict[str, Any], tmp_path: Path
) -> None:
    """From an upload to a pulled result by the commands alone; tokens come from the server's own counts."""
    project, rows = tmp_path / "project", tmp_path / "rows"
    (project / ".beaker").mkdir(parents=True)
    (project / ".beaker" / "beaker.yaml").write_text(CONFIG)
    (project / "reviews.py").write_text(INTEGRATION)
    init_repository(project).unwrap()
    commit_all(project, "A reader of reviews").unwrap()
    rows.mkdir()
    for split, part in (("train", REVIEWS[:8]), ("test", REVIEWS[8:])):
        told = [
            {"id": f"{split}-{number}", "review": text, "feeling": feeling}
            for number, (text, feeling) in enumerate(part)
        ]
        (rows / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told))
    reflection = {
        "base_url": model["base_url"],
        "model": "smollm2",
        "provider": "local",
        "temperature": 0.9,
        "context_tokens": 1_280,
        "max_output_tokens": 160,
    }
    optimizer = {"reflection": reflection, "max_proposals": 3, "max_proposals_in_flight": 2, "seed": 3}
    environ = {
        **os.environ,
        "BEAKER_INFERENCE_BASE_URL": model["base_url"],
        "BEAKER_INFERENCE_API_KEY": "no-key-needed",
    }

    def beaker(*words: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "beaker.cli", "--local", "--json", *words],
            cwd=project,
            env=environ,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    began = time.monotonic()
    beaker("dataset", "upload", str(rows), "--name", "reviews")
    run = beaker("run", "trigger", "--watch", "--config", json.dumps({"harness_optimization": optimizer}))[-1]
    seconds = time.monotonic() - began
    run_id = run["id"]
    beaker("run", "pull", run_id, "--output-dir", str(tmp_path / "out"))
    pulled = tmp_path / "out" / run_id
    run = json.loads((pulled / "run.json").read_text())
    candidates = json.loads((pulled / "candidates.json").read_text())
    reports = json.loads((pulled / "eval_reports.json").read_text())["eval_reports"]

    assert run["status"] == "COMPLETED"
    assert {report["split"] for report in reports} == {"train", "test"}
    for report in reports:
        # What the model wrote may be nothing, or too long: such a candidate fails, and the baseline does not.
        assert report["failed"] == 0 or not report["candidate_id"].endswith(".0")
        if report["scored"]:
            assert report["usage"]["input_tokens"] > 10 * report["scored"]
            assert report["usage"]["output_tokens"] > 0
    proposals = candidates["proposals"]
    assert len(proposals) == 3
    for proposal in proposals:
        (usage,) = proposal["usage"]
        assert usage["model"] == "local:smollm2"
        assert usage["input_tokens"] > 100
        assert usage["output_tokens"] > 0
        assert (pulled / "proposals" / str(proposal["n"]) / "prompt.md").is_file()
        assert (pulled / "proposals" / str(proposal["n"]) / "answer.md").is_file()
    assert seconds < LIMIT_SECONDS

    test = run["result"]["test"]
    asked = sum(proposal["usage"][0]["input_tokens"] for proposal in proposals)
    wrote = sum(proposal["usage"][0]["output_tokens"] for proposal in proposals)
    train = {report["candidate_id"]: report["objective"] for report in reports if report["split"] == "train"}
    print(f"\n{model['model']}, {os.cpu_count()} CPUs: {seconds:.0f} s for the run")
    print(f"  rollouts    {run['progress']['rollouts']}")
    print(f"  proposals   {dict(Counter(proposal['outcome'] for proposal in proposals))}")
    for proposal in proposals:
        print(f"    {proposal['n']}: {proposal['outcome']} {proposal['message'][:90]}")
    print(f"  reflection  {asked} tokens read, {wrote} written")
    print(f"  tokens      {run['progress']['tokens']}")
    print(f"  TRAIN       {train}")
    print(f"  TEST        baseline {test['baseline']}, winner {test['winner']} ({run['result']['winner_id']})")
