"""Case files through the processes: staged by a loader, sealed, copied for a rollout, read by the scorer."""

import asyncio
import json
import os
import stat
from hashlib import sha256

import pytest

from beaker.core.case_files import captured_of, folder_name
from beaker.core.cases import CapturedFile, CaseFile, case_fingerprint
from beaker.core.problems import Refused
from beaker.runtime.workers import WorkerFailed

pytestmark = pytest.mark.processes

STAGING = """
class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        folder = runtime.case_files_dir(row["id"])
        assert folder.is_absolute() and folder == runtime.case_files_dir(f" {row['id']} ")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "page.txt").write_text(f"text of {row['id']}")
        (folder / "left.txt").write_text("not declared")
        (folder / "tree").mkdir()
        (folder / "tree" / "a").write_text("A")
        files = [CaseFile("in/page.txt", folder / "page.txt"), CaseFile("tree.zip", folder / "tree")]
        yield Case(id=row["id"], input=row["x"], files=files if row["x"] else [])
        assert not folder.exists()
"""


def text_of(case_id):
    return f"text of {case_id}".encode()


def failure_of(project, hosted, **arguments):
    async def work(supervisor):
        worker = await project.setup(supervisor)
        with pytest.raises(WorkerFailed) as caught:
            await project.prepare(worker, **arguments)
        await worker.close()
        return caught.value

    return hosted(work)


def test_prepare__files_of_a_case__are_captured_beside_the_other_loaders(project, hosted):
    """Reading and hashing hinders nobody: here the second row must go on before the first one's files are done."""
    project.rows(train=2, test=0).hooks("""
        import threading
        from beaker.runtime import case_storage
        gone_on, real = threading.Event(), case_storage.capture
        def capture(staging, view, captures):
            assert gone_on.wait(30)
            return real(staging, view, captures)
        case_storage.capture = capture

        class Setup(RunSetup[dict]):
            row_model = dict
            async def load_cases(self, row, *, runtime):
                if row["x"] == 1:
                    yield Case(id=row["id"], input=1)
                    gone_on.set()
                    return
                path = runtime.case_files_dir(row["id"]) / "a"
                path.write_text("a")
                yield Case(id=row["id"], input=1, files=[CaseFile("a", path)])
    """)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        made = await project.prepare(worker)
        await worker.close()
        return [[file.name for file in captured_of(case)] for case in made.cases["train"]]

    assert hosted(work) == [["a"], []]


def test_prepare__stopped_while_files_are_captured__waits_for_that_and_leaves_nothing(project, hosted):
    """The setup is left after the thread that copies is done: nothing is written behind the clearing up."""
    project.rows(train=2, test=0).hooks("""
        from beaker.runtime import case_storage
        real = case_storage.capture
        def sign(name): return Path(os.environ["HOME"], name)
        def capture(staging, view, captures):
            sign("capturing").write_text("")
            while not sign("stopping").exists(): time.sleep(0.01)
            made = real(staging, view, captures)
            sign("captured").write_text("")
            return made
        case_storage.capture = capture

        class Setup(RunSetup[dict]):
            row_model = dict
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                try: yield {"repository": RepositoryRunSetupResult()}
                finally: sign("left").write_text(str(sign("captured").exists()))
            async def load_cases(self, row, *, runtime):
                if row["x"] == 1:
                    try: await asyncio.sleep(60)
                    finally: sign("stopping").write_text("")
                path = runtime.case_files_dir(row["id"]) / "a"
                path.write_text("a")
                yield Case(id=row["id"], input=1, files=[CaseFile("a", path)])
    """)
    home = project.root.parent

    async def work(supervisor):
        worker = await project.setup(supervisor)
        preparing = asyncio.create_task(project.prepare(worker))
        while not (home / "capturing").exists() and not preparing.done():
            await asyncio.sleep(0.01)
        preparing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await preparing
        assert worker.interrupted == ()

    hosted(work)
    assert (home / "left").read_text() == "True"
    assert not project.storage.exists()


def test_prepare__staged_files__come_over_captured_and_sealed(project, hosted):
    """Each case tells its files; they lie in a sealed folder while the setup is open, and go with it."""
    project.hooks(STAGING)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        made = await project.prepare(worker)
        for case in (case for cases in made.cases.values() for case in cases):
            made.views.check(case)
        seen = {
            path.relative_to(project.storage).as_posix(): oct(stat.S_IMODE(path.stat().st_mode))
            for path in project.storage.rglob("*")
        }
        await worker.close()
        return made, seen

    made, seen = hosted(work)
    empty, case, _ = made.cases["train"]
    assert empty.files == ()
    assert made.views.folder(empty) is None
    view = project.storage / "views" / folder_name("train-1")
    page = CapturedFile("in/page.txt", len(text_of("train-1")), sha256(text_of("train-1")).hexdigest())
    assert captured_of(case)[0] == page
    assert case.files[0] == CaseFile("in/page.txt", view / "in/page.txt", page.sha256, page.size)
    assert made.views.folder(case) == view
    name = f"views/{view.name}"
    assert {path: mode for path, mode in seen.items() if path.startswith(name)} == {
        name: "0o555", f"{name}/in": "0o555", f"{name}/in/page.txt": "0o444", f"{name}/tree.zip": "0o444",
    }  # fmt: skip
    assert [path for path in seen if path.startswith("staging/")] == []
    assert not project.storage.exists()
    captured = {one.id: captured_of(one) for cases in made.cases.values() for one in cases}
    assert made.fingerprint == case_fingerprint(made.cases, captured=captured)


def test_prepare__other_content__is_another_fingerprint(project, hosted):
    """What a run is resumed with must be the same files too; the same files give the same fingerprint."""
    found = []
    for word in ("text", "text", "other text"):
        project.hooks(STAGING.replace('"text of', f'"{word} of').replace('f"text of', f'f"{word} of'))

        async def work(supervisor):
            worker = await project.setup(supervisor)
            made = await project.prepare(worker)
            await worker.close()
            return made.fingerprint

        found.append(hosted(work))
    assert found[0] == found[1] != found[2]


FAULTS = {
    "CaseFile('n', folder / 'gone')": "the file 'n': there is nothing at its path",
    "CaseFile('n', '/etc/hostname')": "lies outside the staging folder of this case",
    "CaseFile('n', folder / 'a', 'ab' * 32)": "its SHA-256 is ",
    "CaseFile('n', folder / 'a', None, 2)": "has 1 bytes, not 2 as declared",
    "[CaseFile(f'n{i}', folder / 'a') for i in range(129)]": "declares 129 files; a case may have at most 128",
    "[CaseFile('n', folder / 'a'), CaseFile('N', folder / 'a')]": "differs from 'n' only in case or form",
    "[CaseFile('n', folder / 'a'), CaseFile('n/x', folder / 'a')]": "needs the folder 'n', which is a file",
    "(os.mkfifo(folder / 'p'), CaseFile('n', folder / 'a'))[1]": "the file 'p': is a pipe",
    "(os.symlink('a', folder / 'l'), CaseFile('n', folder / 'l'))[1]": "is a symbolic link, not a regular file",
    "(os.truncate(folder / 'a', (64 << 20) + 1), CaseFile('n', folder / 'a'))[1]": "67108865 bytes; a file may have",
}


def test_prepare__files_that_break_a_rule__are_told_with_row_case_and_rule(project, hosted):
    """Every rule, with the row and the case; the setup is left, and nothing stays of the storage."""
    functions = "".join(f"def files_{number}(folder): return {body}\n" for number, body in enumerate(FAULTS))
    project.hooks(functions + """
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        folder = runtime.case_files_dir(row["id"])
        (folder / "a").write_text("A")
        files = globals()[f"files_{runtime.config['n']}"](folder)
        yield Case(row["id"], 1, files=[files] if isinstance(files, CaseFile) else files)
""")  # fmt: skip

    async def work(supervisor):
        worker = await project.setup(supervisor)
        caught = []
        for number in range(len(FAULTS)):
            with pytest.raises(WorkerFailed) as one:
                await project.prepare(worker, extra={"n": number})
            caught.append(one.value)
            assert not project.storage.exists()
        await worker.close()
        return caught

    for failed, told in zip(hosted(work), FAULTS.values(), strict=True):
        assert failed.problem.code == "BK339"
        assert failed.problem.message.startswith("the case 'train-0': ")
        assert told in failed.problem.message
        assert failed.problem.where.endswith("train.jsonl:1")
        assert failed.problem.hint


def test_prepare__several_faults_of_one_case__are_told_together(project, hosted):
    """One fault hides no other."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                yield Case(row["id"], 1, files=[CaseFile("a", "gone"), CaseFile("b", "gone")])
    """)
    assert [problem.code for problem in failure_of(project, hosted).problems] == ["BK339", "BK339"]


def test_prepare__wrong_content_beside_other_faults__is_told_with_them(project, hosted):
    """A SHA-256 that does not fit is known before anything is copied; a folder's and a missing file's are not."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                folder = runtime.case_files_dir(row["id"])
                (folder / "a").write_text("A")
                (folder / "d").mkdir()
                names = [("a", "a"), ("b", "gone"), ("c", "d")]
                yield Case(row["id"], 1, files=[CaseFile(name, folder / path, "0" * 64) for name, path in names])
    """)
    told = [problem.message for problem in failure_of(project, hosted).problems]
    assert len(told) == 2
    assert "the file 'b': there is nothing at its path" in told[0]
    assert "the file 'a': its SHA-256 is 559aead0" in told[1]


def test_prepare__value_that_is_refused__is_told_at_the_line_that_makes_it(project, hosted):
    """How Beaker came to its judgement is nobody's business: the traceback ends in the loader."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                yield Case(row["id"], 1, files=[CaseFile("../a", "a")])
    """)
    (problem,) = failure_of(project, hosted).problems
    assert "CaseFile.name" in problem.message
    lines = problem.traceback.splitlines()
    assert [line for line in lines if line.startswith("  File ")] == [lines[1]]
    assert "CaseFile(" in lines[2]
    assert "attrs generated" not in problem.traceback


def test_prepare__large_files__count_over_the_whole_attempt(project, hosted):
    """2 GiB over all cases of both splits; the message names limit and count. (Sparse files: no disk is filled.)"""
    project.hooks("""
        import beaker.core.case_files
        beaker.core.case_files.MAX_ATTEMPT_BYTES = 1000
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                path = runtime.case_files_dir(row["id"]) / "a"
                path.write_bytes(b"x" * 300)
                yield Case(row["id"], 1, files=[CaseFile("a", path)])
    """)
    problem = failure_of(project, hosted).problem
    assert "the files of all cases up to this one have 1200 bytes; at most 1000 are allowed" in problem.message
    assert problem.where.endswith("test.jsonl:1")


def test_case_files_dir__knows_its_loader_by_its_context(project, hosted):
    """A child task and `asyncio.to_thread` inherit it, a plain executor thread does not."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                folder = runtime.case_files_dir(row["id"])
                async def inside():
                    return runtime.case_files_dir(row["id"])
                assert await asyncio.create_task(inside()) == folder
                assert await asyncio.to_thread(runtime.case_files_dir, row["id"]) == folder
                try:
                    await asyncio.get_running_loop().run_in_executor(None, runtime.case_files_dir, row["id"])
                except RuntimeError as error:
                    yield Case(row["id"], str(error))
    """)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        made = await project.prepare(worker)
        await worker.close()
        return made.cases["train"][0].input

    assert hosted(work) == "case_files_dir may only be called inside load_cases"


RUNNING = (
    STAGING
    + """
async def run_case(*, case_input, runtime):
    page = runtime.case_files_dir / "in" / "page.txt"
    if not case_input:
        return CaseResult([str(path) for path in runtime.case_files_dir.iterdir()])
    text = page.read_text()
    os.chmod(page, 0o644)
    page.write_text("made up")
    return CaseResult([text, sorted(path.name for path in runtime.case_files_dir.iterdir())])

async def score_case(*, case, result, case_files_dir):
    if not case.files:
        return CaseScore(float(result.output == [] and list(case_files_dir.iterdir()) == []), {})
    text = (case_files_dir / "in" / "page.txt").read_text()
    assert case.files[0].path == case_files_dir / "in" / "page.txt" and case.files[0].path.read_text() == text
    assert [file.name for file in case.files] == ["in/page.txt", "tree.zip"]
    return CaseScore(float(result.output == [text, ["in", "tree.zip"]]), {})
"""
)


def test_files__rollout_and_scorer__see_the_same_whatever_a_rollout_does_to_its_copy(project, hosted, tmp_path):
    """A rollout that writes into its files spoils neither the next rollout nor the scorer."""
    project.hooks(RUNNING)

    async def work(supervisor):
        setup = await project.setup(supervisor)
        prepared = await project.prepare(setup)
        rollout, scorer = await project.rollout(supervisor), await project.scorer(supervisor)
        scores = []
        for number, case in enumerate((*prepared.cases["train"], prepared.cases["train"][1])):
            copy = prepared.views.copy(case, tmp_path / "copies" / str(number))
            result = await rollout.run(case.id, case.input, attempt=1, case_files_dir=copy)
            assert result.error is None, result.error
            prepared.views.check(case)
            scores.append(await scorer.score(case, result, case_files_dir=prepared.views.folder(case)))
        for worker in (rollout, scorer, setup):
            await worker.close()
        return scores

    assert [score.objective for score in hosted(work)] == [1.0] * 4
    assert not (tmp_path / "copies" / "0").exists()


def test_views__changed_meanwhile__names_the_case(project, hosted, tmp_path):
    """Neither a scorer nor another rollout gets files that something wrote into."""
    project.hooks(STAGING)

    async def work(supervisor):
        setup = await project.setup(supervisor)
        prepared = await project.prepare(setup)
        case, views = prepared.cases["train"][1], prepared.views
        views.check(case)
        page = case.files[0].path
        os.chmod(page, 0o644)
        page.write_text("text of train-X")
        os.chmod(page, 0o444)
        with pytest.raises(Refused, match=r"case 'train-1': the captured files changed .* in/page.txt was changed"):
            views.check(case)
        with pytest.raises(Refused, match="case 'train-1'"):
            views.copy(case, tmp_path / "copy")
        await setup.close()

    hosted(work)


def test_protocol__cases_event__lists_captured_files(project, hosted):
    """The host believes names that are relative paths only."""
    project.hooks("""
        import beaker.runtime.attempt as attempt
        def encoded(case, captured, plain=attempt._encoded):
            return plain(case, captured)._replace(line=plain(case, captured).line.replace(
                '"files":[]', '"files":[{"name":"../x","size":1,"sha256":"%s"}]' % ("ab" * 32)))
        attempt._encoded = encoded
    """)
    failed = failure_of(project, hosted)
    assert failed.kind == "protocol"
    assert "CapturedFile.name" in json.dumps([problem.message for problem in failed.problems])
