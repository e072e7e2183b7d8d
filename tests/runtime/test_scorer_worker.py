"""Scorer processes: scores, and errors that are the scorer's own."""

import asyncio

import pytest

from beaker.core.cases import Case, CaseScore, Check, FieldDiff
from beaker.core.evaluations import CaseError
from beaker.core.optimizer import Timeouts
from beaker.runtime.workers import RolloutResult

pytestmark = pytest.mark.processes

CASE = Case("c1", {"q": "é"}, expected=[1], metadata={"m": 1})


def score(project, hosted, result=None, **options):
    async def work(supervisor):
        worker = await project.scorer(supervisor)
        made = await worker.score(CASE, result or RolloutResult(output=[1], context={"trace": "t"}))
        await worker.close()
        return made

    return hosted(work, **options)


def test_score__good_scorer__gives_its_score(project, hosted):
    """Case, result, context and the case's folder reach the scorer; the whole score comes back."""
    project.hooks("""
        async def score_case(*, case, result, case_files_dir):
            assert (case.input, case.expected, case.metadata) == ({"q": "é"}, [1], {"m": 1})
            assert (result.output, result.output_kind, result.context) == ([1], "value", {"trace": "t"})
            assert list(case_files_dir.iterdir()) == []
            return CaseScore(
                0.5, {"f": 1}, [FieldDiff("f", 1, [2])], [Check("c", "pass", message="m"), Check("d", 0.25)])
    """)
    made = score(project, hosted, RolloutResult(output=[1], output_kind="value", context={"trace": "t"}))
    checks = (Check("c", "pass", message="m"), Check("d", 0.25))
    assert made == CaseScore(0.5, {"f": 1.0}, (FieldDiff("f", 1, [2]),), checks)


@pytest.mark.parametrize(
    "body, kind, told",
    [
        ("raise ValueError('bad judge')", "scorer", "ValueError: bad judge"),
        ("raise RetryableCaseError('busy')", "retryable", "busy"),
        ("sys.exit(0)", "scorer", "sys.exit(0)"),
        ("os._exit(0)", "scorer", "the scorer process ended with exit status 0"),
        ("return 1.0", "scorer", "score_case must return a CaseScore, not float"),
        ("return CaseScore(1.5, {})", "scorer", "CaseScore.objective"),
        (
            "s = CaseScore(1.0, {}); object.__setattr__(s, 'objective', 7.0); return s",
            "scorer",
            "the score was changed after it was made and is none any more: CaseScore.objective",
        ),
        (
            "s = CaseScore(1.0, {}); object.__setattr__(s, 'objective', float('nan')); return s",
            "scorer",
            "the score was changed after it was made",
        ),
        (
            "s = CaseScore(1.0, {}); object.__setattr__(s, 'checks', [object()]); return s",
            "scorer",
            "the score was changed after it was made",
        ),
        ("await asyncio.sleep(60)", "scorer", "score_case took longer than its limit of 1 s"),
    ],
)
def test_score__misbehaving_scorer__is_an_error_of_the_scorer(project, hosted, body, kind, told):
    """What goes wrong while scoring never looks like a result."""
    project.timeouts = Timeouts(score_case=1.0)
    project.hooks(f"async def score_case(*, case, result, case_files_dir):\n    {body}")
    made = score(project, hosted)
    assert isinstance(made, CaseError)
    assert made.kind == kind
    assert told in made.message


def test_score__several_at_a_time__overlap(project, hosted):
    """Results given to one process at once are scored at once."""
    project.hooks("""
        both = asyncio.Event()
        waiting = 0
        async def score_case(*, case, result, case_files_dir):
            global waiting
            waiting += 1
            if waiting == 2: both.set()
            await both.wait()
            return CaseScore(result.output, {})
    """)

    async def work(supervisor):
        worker = await project.scorer(supervisor)
        return await asyncio.gather(*(worker.score(CASE, RolloutResult(output=index)) for index in (0, 1)))

    assert [made.objective for made in hosted(work)] == [0.0, 1.0]


def test_byte_code__goes_to_a_folder_of_its_own_kind(project, hosted, tmp_path):
    """With a folder for byte code, scorer and rollouts never share any and never write into the checkout."""
    where = "(os.environ['PYTHONPYCACHEPREFIX'], sys.pycache_prefix)"
    (project.root / "used.py").write_text("x = 1\n")
    project.hooks(f"""
        import used
        async def run_case(*, case_input, runtime):
            return CaseResult(list({where}))
        async def score_case(*, case, result, case_files_dir):
            print(*{where})
            return CaseScore(1.0, {{}})
    """)

    async def work(supervisor):
        rollout = await project.rollout(supervisor)
        ran = await rollout.run("c", 1, attempt=1)
        await rollout.close()
        scorer = await project.scorer(supervisor)
        await scorer.score(CASE, ran)
        await scorer.close()
        return ran.output, scorer.output().split()

    ran, scored = hosted(work, pycache=tmp_path / "cache")
    assert ran == [str(tmp_path / "cache" / "rollout")] * 2
    assert scored == [str(tmp_path / "cache" / "scorer")] * 2
    assert not (project.root / "__pycache__").exists()
    assert [path.name for path in (tmp_path / "cache").rglob("used*.pyc")] != []
