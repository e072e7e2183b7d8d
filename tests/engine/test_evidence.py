"""Laws of what a proposer is told."""

import json
from pathlib import Path

from beaker.core.cases import Case, CaseScore, Check, FieldDiff
from beaker.core.evaluations import CaseError, Evaluation
from beaker.engine.evidence import Standing, build_evidence, write_evidence

CASES = {f"c{number}": Case(f"c{number}", {"n": number}, expected=number) for number in range(4)}
EVALUATIONS = {
    "c0": Evaluation("c0", output=1, score=CaseScore(0.5, {"total": 0.5}, [FieldDiff("total", 1, 0)])),
    "c1": Evaluation("c1", output="é", score=CaseScore(1.0, {"total": 1.0, "date": 0.0}, (), [Check("fits", "pass")])),
    "c2": Evaluation("c2", error=CaseError("raised", "ValueError: no", "Traceback"), duration_ms=12.5, attempts=3),
}
STANDING = Standing(parent=2, objective=0.25, history=({"proposal": 1},), rollouts_left=40, proposals_left=3)


def test_evidence__minibatch_and_others__are_written_in_order(tmp_path: Path) -> None:
    """Everything that was promised is there, and nothing that differs from run to run."""
    evidence = build_evidence(
        STANDING,
        targets={"kind": "documents", "groups": ["kb"]},
        read_only=["kb/locked.md"],
        cases=CASES,
        minibatch=("c2", "c0"),
        others=("c1",),
        evaluations=EVALUATIONS,
        clean=lambda text: text,
    )
    write_evidence(tmp_path / "evidence", evidence)
    assert json.loads((tmp_path / "evidence" / "summary.json").read_text()) == {
        "format": "beaker.evidence/1",
        "parent": 2,
        "objective": 0.25,
        "field_means": {"date": {"mean": 0.0, "n": 1}, "total": {"mean": 0.75, "n": 2}},
        "targets": {"kind": "documents", "groups": ["kb"]},
        "read_only": ["kb/locked.md"],
        "cases": {"minibatch": 2, "others": 1},
        "budget_left": {"rollouts": 40, "proposals": 3},
        "history": [{"proposal": 1}],
    }
    written = [json.loads(path.read_text()) for path in sorted((tmp_path / "evidence" / "cases").iterdir())]
    assert [(case["id"], case["minibatch"]) for case in written] == [("c2", True), ("c0", True), ("c1", False)]
    assert written[0] == {
        "id": "c2",
        "input": {"n": 2},
        "expected": 2,
        "output": None,
        "objective": None,
        "field_scores": {},
        "field_diffs": [],
        "checks": [],
        "error": {"kind": "raised", "message": "ValueError: no", "traceback": "Traceback"},
        "trace": None,
        "minibatch": True,
    }
    assert written[1]["field_diffs"] == [{"field": "total", "predicted": 1, "expected": 0}]
    assert written[2]["checks"][0]["name"] == "fits"
    assert "é" in (tmp_path / "evidence" / "cases" / "3.json").read_text(encoding="utf-8")


def test_evidence__trace__is_shown_without_the_judge() -> None:
    """A proposer sees what the application did, and not which model judges it."""
    usage = [{"model": "a:b", "calls": 1, "input_tokens": 1, "output_tokens": 1}]
    trace = {"format": "beaker.trace/1", "usage": usage, "judge_usage": usage, "stages": [{"n": 1, "output": "sesame"}]}
    evidence = build_evidence(
        STANDING,
        targets={},
        read_only=[],
        cases=CASES,
        minibatch=("c0",),
        others=(),
        evaluations={"c0": Evaluation("c0", score=CaseScore(0.5, {}), trace=trace)},
        clean=lambda text: text.replace("sesame", "[redacted]"),
    )
    assert evidence.cases[0]["trace"] == {
        "format": "beaker.trace/1",
        "usage": usage,
        "stages": [{"n": 1, "output": "[redacted]"}],
    }


def test_evidence__secrets_and_folders__are_taken_out_of_every_text() -> None:
    """Whatever a proposer is shown was cleaned; ids are as they are, since answers refer to them."""
    secret = "sesame"
    score = CaseScore(0.0, {secret: 0.0}, [FieldDiff(secret, secret, secret)], [Check(secret, "fail", message=secret)])
    error = CaseError("raised", secret, f"at {secret}")
    evidence = build_evidence(
        Standing(0, 0.0, history=({"message": secret},), rollouts_left=1, proposals_left=1),
        targets={"kind": "documents", "groups": ["kb"]},
        read_only=[],
        cases={each: Case(each, {secret: secret}, expected=[secret]) for each in ("c0", "c1")},
        minibatch=("c0",),
        others=("c1",),
        evaluations={"c0": Evaluation("c0", {secret: secret}, score=score), "c1": Evaluation("c1", error=error)},
        clean=lambda text: text.replace(secret, "[redacted]"),
    )
    written = json.dumps([evidence.summary, *evidence.cases])
    assert secret not in written
    assert written.count("[redacted]") >= 12
    assert [case["id"] for case in evidence.cases] == ["c0", "c1"]
