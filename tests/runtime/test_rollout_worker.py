"""Rollout processes: what cases give, and what customer code cannot do to its host."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

from beaker.core.environment import redactor
from beaker.core.evaluations import CaseError
from beaker.core.limits import Limits
from beaker.core.optimizer import Timeouts
from beaker.runtime.workers import WorkerFailed

pytestmark = pytest.mark.processes


def one_case(project, hosted, case_input=None, **options):
    """Run one case in a fresh process and close it."""

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        result = await worker.run("c1", case_input, attempt=1)
        await worker.close()
        return result

    return hosted(work, **options)


def test_run__good_case__gives_the_output_and_what_was_printed(project, hosted):
    """Output, kind and context come back; printing to both streams is captured and corrupts nothing."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            print("out", case_input)
            print("err\\x1b[31m", file=sys.stderr)
            os.write(1, b"raw \\xff\\n")
            return CaseResult({"é": case_input}, output_kind="record", context={"k": [1]})
    """)
    result = one_case(project, hosted, "ü")
    assert (result.error, result.output, result.output_kind) == (None, {"é": "ü"}, "record")
    assert result.context == {"k": [1]}
    assert result.captured == "out ü\nerr\x1b[31m\nraw \\xff\n"


def test_run__runtime__carries_what_the_host_said(project, hosted, tmp_path):
    """The hook sees the folders, model, case id, attempt, deadline and a trace that records; never what is expected."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            return CaseResult([
                str(runtime.targets_dir), str(runtime.case_files_dir), runtime.model, runtime.case_id, runtime.attempt,
                runtime.deadline > time.monotonic(), runtime.candidate, runtime.trace.enabled,
                os.getcwd(), sys.argv[1:],
            ])
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor, targets_dir=tmp_path)
        return await worker.run("c1", 1, attempt=2, model="openai:m")

    output = hosted(work).output
    expected = [str(tmp_path), str(project.case_files), "openai:m", "c1", 2, True, None, True, str(project.root), []]
    assert output == expected


SURVIVED = {
    "raise ValueError('broken')": ("raised", "ValueError: broken"),
    "raise RetryableCaseError('again')": ("retryable", "RetryableCaseError: again"),
    "sys.exit(0)": ("raised", "the code called sys.exit(0)"),
    "raise KeyboardInterrupt": ("raised", "KeyboardInterrupt"),
    "raise asyncio.CancelledError": ("raised", "CancelledError"),
    "raise GeneratorExit": ("raised", "GeneratorExit"),
    "return {'answer': 1}": ("invalid_result", "run_case must return a CaseResult, not dict"),
    "return CaseResult(float('nan'))": ("raised", "finite"),
    "r = CaseResult([]); r.output.append(object()); return r": ("invalid_result", "no JSON any more"),
    "r = CaseResult([]); r.output.append(float('inf')); return r": ("invalid_result", "no JSON any more"),
    "r = CaseResult([]); r.output.append(r.output); return r": ("invalid_result", "no JSON any more"),
}


def test_run__misbehaving_case__is_that_cases_error(project, hosted):
    """Whatever a hook raises or returns is an error of that case alone; the process goes on."""
    functions = "".join(f"async def case_{number}(): {body}\n" for number, body in enumerate(SURVIVED))
    project.hooks(f"{functions}async def run_case(*, case_input, runtime): return await globals()[case_input]()")

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        results = [await worker.run("c", f"case_{number}", attempt=1) for number in range(len(SURVIVED))]
        assert worker.alive
        return results

    for result, (body, (kind, told)) in zip(hosted(work), SURVIVED.items(), strict=True):
        assert result.error is not None, body
        assert result.error.kind == kind, body
        assert told in result.error.message, body


def test_open_candidate__that_changed_documents__is_the_error_of_every_case(project, hosted):
    """The host looks again, beside its event loop, once the hook was entered, and once only."""
    project.hooks("""
        @asynccontextmanager
        async def open_candidate(*, targets_dir, scratch_dir):
            yield 1
    """)
    looks = []

    def difference():
        looks.append(threading.current_thread() is threading.main_thread())
        return "kb/a.md was changed"

    async def work(supervisor):
        worker = await project.rollout(supervisor, difference=difference)
        return [await worker.run("c", 1, attempt=1) for _ in range(2)]

    told = "open_candidate changed the documents of the candidate: kb/a.md was changed"
    assert [result.error for result in hosted(work)] == [CaseError("open_candidate", told)] * 2
    assert looks == [False]


@pytest.mark.parametrize(
    "body, told",
    [
        ("os._exit(0)", "the rollout process ended with exit status 0"),
        ("os._exit(7)", "ended with exit status 7"),
        ("import ctypes; ctypes.string_at(0)", "was killed by SIGSEGV"),
        ("os.closerange(3, 10000); return CaseResult(1)", "closed Beaker's pipe"),
        ("asyncio.get_running_loop().stop(); await asyncio.sleep(9)", "RuntimeError"),
        ("asyncio.create_task(leave()); await asyncio.sleep(9)", "the code called sys.exit(3)"),
    ],
)
def test_run__case_that_ends_the_process__is_a_crash(project, hosted, body, told):
    """A process that ends, whatever its exit status, is a crash that says how."""
    project.hooks(f"""
        async def leave():
            sys.exit(3)
        async def run_case(*, case_input, runtime):
            {body}
    """)
    error = one_case(project, hosted).error
    assert error is not None
    assert error.kind == "crashed"
    assert told in error.message


def test_run__process_killed_from_outside__is_the_machine_s_failure(project, hosted):
    """As the kernel kills where no memory is left: the case has done nothing, and may be tried again."""
    project.hooks("async def run_case(*, case_input, runtime): os.kill(0, 9)")
    error = one_case(project, hosted).error
    assert error is not None
    assert (error.kind, error.message) == ("infrastructure", "the rollout process was killed by SIGKILL")


def test_run__more_than_its_limits__is_the_cases_error_and_names_the_limit(project, hosted, tmp_path):
    """Memory and files are held to what is set, in what a case starts too; the process itself stays within them."""
    project.hooks("""
        import resource, subprocess
        def grow(): return [bytearray(1 << 20) for _ in range(1 << 12)]
        async def memory(): return len(grow())
        async def thread(): return len(await asyncio.to_thread(grow))
        async def answer(): return "\u0101" * (24 << 20)
        async def file():
            with open(Path(os.environ["HOME"], "large"), "wb") as file:
                for _ in range(64): file.write(bytes(1 << 16))
        async def raised():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
            await file()
        async def child():
            grown = "x = [bytearray(1 << 20) for _ in range(1 << 12)]"
            return subprocess.run([sys.executable, "-c", grown], stderr=subprocess.DEVNULL).returncode
        async def fine(): return len([bytearray(1 << 20) for _ in range(32)])
        async def run_case(*, case_input, runtime): return CaseResult(await globals()[case_input]())
    """)
    limits = Limits(memory_mb=160, file_mb=1)

    async def work(supervisor):
        found = {}
        for name in ("fine", "memory", "thread", "answer", "file", "raised", "child"):
            worker = await project.rollout(supervisor, limits=limits)
            found[name] = await worker.run("c", name, attempt=1)
            await worker.close()
        return found

    found = hosted(work)
    assert (found["fine"].error, found["fine"].output) == (None, 32)
    for name in ("memory", "thread", "answer"):
        assert found[name].error.kind == "raised", found[name]
        assert found[name].error.message.startswith("MemoryError"), found[name].error
        assert found[name].error.message.endswith("have 160 MiB of memory (harness_optimization.limits.memory_mb)")
    assert found["file"].error.message.endswith("a file may have 1 MiB (harness_optimization.limits.file_mb)")
    assert (tmp_path / "large").stat().st_size <= 1 << 20
    assert found["raised"].error is not None  # nobody but root may raise it, and its file is as small as before
    assert (found["child"].error, found["child"].output) == (None, 1)


def test_run__import_beyond_the_memory__names_the_limit(project, hosted):
    """An Integration that does not fit fails at its import, and says what it would need."""
    project.hooks("LOADED = [bytearray(1 << 20) for _ in range(1 << 12)]")

    async def work(supervisor):
        with pytest.raises(WorkerFailed, match=r"MemoryError.*limits\.memory_mb"):
            await project.rollout(supervisor, limits=Limits(memory_mb=128))

    hosted(work)


def test_run__abort_for_want_of_memory__says_how_much_there_was(project, hosted):
    """Code that cannot say that it got no memory aborts; what it could have is told."""
    project.hooks("async def run_case(*, case_input, runtime): os.abort()")

    async def work(supervisor):
        worker = await project.rollout(supervisor, limits=Limits(memory_mb=512))
        return await worker.run("c", 1, attempt=1)

    error = hosted(work).error
    assert error.kind == "crashed"
    assert "SIGABRT; it could have 512 MiB of memory" in error.message


def test_run__result_beyond_its_limit__loses_its_context_first(project, hosted):
    """A set limit works as that of the transport does: context first, then an error with both sizes."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            return CaseResult("y" * case_input, context={"big": "z" * (1 << 20)})
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor, limits=Limits(result_mb=1))
        found = [await worker.run("c", size, attempt=1) for size in (1000, 1 << 20)]
        assert worker.alive
        return found

    small, large = hosted(work)
    assert (small.error, len(small.output), small.context) == (None, 1000, {})
    assert large.error.kind == "invalid_result"
    assert "bytes as JSON, where 1048576 are allowed" in large.error.message


def test_run__raised__tells_the_customers_frames_only(project, hosted):
    """The traceback begins in the customer's module and keeps the chain of causes."""
    project.hooks("""
        def deep():
            raise KeyError("first")
        async def run_case(*, case_input, runtime):
            try:
                deep()
            except KeyError as error:
                raise RuntimeError("second") from error
    """)
    error = one_case(project, hosted).error
    assert "KeyError: 'first'" in error.traceback
    assert "direct cause" in error.traceback
    assert "RuntimeError: second" in error.traceback
    assert "beaker/runtime" not in error.traceback


def test_run__exception_that_cannot_be_shown__still_is_an_error(project, hosted):
    """An exception whose text, repr and notes raise is reported by its class."""
    project.hooks("""
        class Rude(Exception):
            def __str__(self): raise SystemExit(1)
            __repr__ = __str__
            @property
            def __notes__(self): raise MemoryError
        async def run_case(*, case_input, runtime):
            raise Rude
    """)
    error = one_case(project, hosted).error
    assert error.kind == "raised"
    assert "Rude" in error.message


@pytest.mark.parametrize("before", [0, 980, 990, 1_500])
def test_run__secret_where_an_error_is_cut__is_gone(project, hosted, before):
    """Messages, tracebacks and nonsense are cut after secrets were taken out of them."""
    secret = "ABCDEFGHIJKLMNOP"
    project.hooks(f"""
        async def run_case(*, case_input, runtime):
            text = "x" * {before} + {secret!r} + "y" * case_input + {secret!r} + "z" * {before}
            if case_input == 77:
                for number in range(3, 2000):
                    try:
                        os.write(number, text.encode() + b"\\n")
                    except OSError:
                        pass
                return CaseResult(1)
            raise ValueError(text)
    """)

    async def work(supervisor):
        errors = []
        for size in (1_000, 400_000, 77):
            worker = await project.rollout(supervisor)
            errors.append((await worker.run("c1", size, attempt=1)).error)
            await worker.close()
        return errors

    errors = hosted(work, redact=redactor([secret]))
    assert [error.kind for error in errors] == ["raised", "raised", "crashed"]
    for error in errors:
        shown = (error.message + error.traceback).replace("ValueError", "").replace("Traceback", "").replace("File", "")
        assert not set("FGHIJKLMNOP") & set(shown.replace("Beaker", "")), shown
        assert len(error.message) < 2_100
        assert len(error.traceback) < 20_100


def test_run__lone_surrogates_in_an_error__can_be_stored(project, hosted):
    """Error texts are valid Unicode whatever they held."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            raise ValueError("\\ud800")
    """)
    error = one_case(project, hosted).error
    assert "\\ud800" in error.message
    error.message.encode()


def test_run__hanging_case__times_out_and_retires_the_process(project, hosted):
    """A hook that swallows cancellation, or blocks the loop, is killed at its limit."""
    project.timeouts = Timeouts(run_case=0.3)
    project.hooks("""
        async def run_case(*, case_input, runtime):
            print("began", flush=True)
            while True:
                try:
                    time.sleep(30) if case_input else await asyncio.sleep(30)
                except asyncio.CancelledError:
                    pass
    """)

    async def work(supervisor):
        results = []
        for blocking in (False, True):
            worker = await project.rollout(supervisor)
            results.append(await worker.run("c1", blocking, attempt=1))
            assert not worker.alive
            results.append(await worker.run("c2", blocking, attempt=1))
            await worker.close()
        return results

    late, after, blocked, _ = hosted(work)
    assert late.error.kind == blocked.error.kind == "timed_out"
    assert "run_case took longer than its limit of 0.3 s" in late.error.message
    assert late.captured == "began\n"
    assert after.error.kind == "crashed"


def test_run__late_case_beside_others__lets_them_finish(project, hosted):
    """Cases that share a process with a late one end normally; then the process is gone."""
    project.timeouts = Timeouts(run_case=3.0)
    project.hooks("""
        async def run_case(*, case_input, runtime):
            await asyncio.sleep(case_input)
            return CaseResult(case_input)
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        late = asyncio.create_task(worker.run("late", 60, attempt=1))
        await asyncio.sleep(2.0)
        other = asyncio.create_task(worker.run("other", 1.5, attempt=1))
        return await late, worker.alive, await other

    late, alive, other = hosted(work)
    assert late.error.kind == "timed_out"
    assert not alive
    assert other.output == 1.5


def test_run__several_at_a_time__overlap(project, hosted):
    """Cases given to one process at once run at once."""
    project.hooks("""
        arrived = asyncio.Event()
        count = 0
        async def run_case(*, case_input, runtime):
            global count
            count += 1
            if count == 3:
                arrived.set()
            await arrived.wait()
            return CaseResult(case_input)
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        return await asyncio.gather(*(worker.run(f"c{index}", index, attempt=1) for index in range(3)))

    assert [result.output for result in hosted(work)] == [0, 1, 2]


def test_run__cancelled__ends_the_process(project, hosted):
    """A host that no longer wants a case does not leave it running."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            await asyncio.sleep(60)
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        task = asyncio.create_task(worker.run("c", 1, attempt=1))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return worker.alive

    assert hosted(work) is False


CANCELLED = """
    def sign(name): Path(os.environ["HOME"], name).touch()
    @asynccontextmanager
    async def open_candidate(*, targets_dir, scratch_dir):
        try:
            if WHERE == "opening":
                sign("there")
                await asyncio.sleep(60)
            yield 1
        finally:
            print("left", asyncio.current_task().cancelling())
    async def run_case(*, case_input, runtime):
        sign("there")
        try: await asyncio.sleep(60)
        finally: print("case ended")
"""


@pytest.mark.parametrize(("where", "printed"), [("opening", "left 1\n"), ("running", "case ended\nleft 0\n")])
def test_close__after_a_cancelled_case__leaves_open_candidate(project, hosted, where, printed):
    """What runs is ended and what is open, or about to be, is left, in this order; the process ends by itself."""
    project.hooks(f"    WHERE = {where!r}{CANCELLED}")

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        task = asyncio.create_task(worker.run("c", 1, attempt=1))
        while not (project.root.parent / "there").exists() and not task.done():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert worker.alive is (where == "opening")
        error = await worker.close()
        return error, worker.output(), worker.alive

    assert hosted(work) == (None, printed, False)


FORGED = [{"error": []}, {"error": {"x": 1}}, {"output": 1, "duration_ms": 10**400}, {"output": 1, "duration_ms": -1},
          {"duration_ms": 1}]  # fmt: skip


def test_run__answer_that_means_nothing__is_a_crash_and_spares_the_host(project, hosted):
    """A case that writes its own answer can say what it likes; what is no answer ends its process alone."""
    project.hooks("""
        import gc
        from beaker.runtime.channel import Channel
        channel = next(one for one in gc.get_objects() if isinstance(one, Channel))
        async def run_case(*, case_input, runtime):
            channel.send({"id": 2, "ok": {"output_kind": None, **case_input}})
            return CaseResult(1)
    """)

    async def work(supervisor):
        found = []
        for told in FORGED:
            worker = await project.rollout(supervisor)
            found.append(await worker.run("c", told, attempt=1))
            assert not worker.alive
        return found

    for told, result in zip(FORGED, hosted(work), strict=True):
        assert result.error is not None, told
        assert result.error.kind == "crashed", told
        assert "wrote something else than answers" in result.error.message, told


@pytest.mark.e2e
def test_run__large_result__arrives_whole(project, hosted):
    """Tens of megabytes pass through the pipe in both directions."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            return CaseResult(case_input * 3)
    """)
    text = "x" * 8_000_000
    assert one_case(project, hosted, text).output == text * 3


@pytest.mark.e2e
def test_run__result_too_large__loses_its_context_first(project, hosted):
    """A result beyond the transport's size gives up its context, since an empty one must not count against a case."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            return CaseResult("short", context={"big": "y" * (65 * 1024 * 1024)})
    """)
    result = one_case(project, hosted)
    assert result.error is None
    assert (result.output, result.context) == ("short", {})


@pytest.mark.e2e
def test_run__output_too_large__is_an_invalid_result(project, hosted):
    """An output that cannot be handed over is that case's error, naming the limit."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            return CaseResult("y" * (65 * 1024 * 1024))
    """)
    error = one_case(project, hosted).error
    assert error.kind == "invalid_result"
    assert "where 67108864 are allowed" in error.message


@pytest.mark.e2e
def test_run__huge_output__is_bounded(project, hosted):
    """What a case prints is kept at both ends; the gap says how much is missing."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            for index in range(50_000):
                print(f"line {index:06} {'x' * 80}")
            return CaseResult(1)
    """)
    result = one_case(project, hosted)
    assert result.output == 1
    assert result.captured.startswith("line 000000")
    assert result.captured.endswith(f"line 049999 {'x' * 80}\n")
    assert "bytes left out" in result.captured
    assert len(result.captured) < 70_000


def test_run__low_descriptors__never_reach_the_pipe(project, hosted):
    """Writing to every low descriptor that customer code can guess corrupts nothing."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b'{"id":1,"ok":{}}\\n')
                except OSError:
                    pass
            return CaseResult("fine")
    """)
    assert one_case(project, hosted).output == "fine"


def test_run__write_to_the_very_pipe__is_a_crash_of_that_process(project, hosted):
    """Bytes that are no message end the process; the host says what happened."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            for descriptor in range(512, 600):
                try:
                    os.write(descriptor, b"hello\\n")
                except OSError:
                    pass
            await asyncio.sleep(30)
    """)
    error = one_case(project, hosted).error
    assert error.kind == "crashed"
    assert "wrote something else than answers" in error.message


def test_run__fork_that_returns_into_beaker__says_nothing(project, hosted):
    """A forked copy that unwinds into our code ends there, and does not hold the pipes open."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            if os.fork() == 0:
                sys.exit(0)
            os.wait()
            return CaseResult("parent")
    """)
    assert one_case(project, hosted).output == "parent"


def test_run__replaced_streams__do_not_matter(project, hosted):
    """A hook may close or replace `sys.stdout`."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            sys.stdout.close()
            sys.stdout = None
            sys.stderr = object()
            return CaseResult("fine")
    """)
    assert one_case(project, hosted).output == "fine"


def test_run__secrets__are_taken_out_of_what_is_reported(project, hosted):
    """Captured output, messages and tracebacks pass the host's redaction."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            print("key is s3cret!")
            raise ValueError("s3cret!")
    """)
    result = one_case(project, hosted, redact=lambda text: text.replace("s3cret!", "[hidden]"))
    told = json.dumps([result.captured, result.error.message, result.error.traceback])
    assert "s3cret!" not in told
    assert told.count("[hidden]") >= 3


def test_descendants__end_with_their_process(project, hosted, wait_for):
    """Background processes die with the rollout process, also one in a session of its own."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            import subprocess
            plain = subprocess.Popen(["sleep", "1000"])
            daemon = subprocess.run(
                ["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True)
            return CaseResult([plain.pid, int(daemon.stdout)])
    """)
    pids = one_case(project, hosted).output
    assert len(pids) == 2
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 30.0)


def test_open_candidate__is_entered_once_and_left_last(project, hosted):
    """Entered before the first case, left after the last one, in one task; its value is shared."""
    project.hooks("""
        @asynccontextmanager
        async def open_candidate(*, targets_dir, scratch_dir):
            print("O", scratch_dir.is_dir(), list(scratch_dir.iterdir()))
            async with asyncio.timeout(60):
                yield ["shared"]
            print("o")
        async def run_case(*, case_input, runtime):
            runtime.candidate.append(case_input)
            return CaseResult(list(runtime.candidate))
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        first, second = await asyncio.gather(worker.run("a", 1, attempt=1), worker.run("b", 2, attempt=1))
        return first, second, await worker.close(), worker.output()

    first, second, closed, output = hosted(work)
    assert first.output == ["shared", 1]
    assert second.output == ["shared", 1, 2]
    assert closed is None
    assert first.captured + second.captured + output == "O True []\no\n"


@pytest.mark.parametrize(
    "body, told",
    [
        ("raise ValueError('no index')\n            yield", "ValueError: no index"),
        ("sys.exit(0)\n            yield", "sys.exit(0)"),
        ("os._exit(0)\n            yield", "ended with exit status 0"),
        ("await asyncio.sleep(60)\n            yield", "longer than its limit of 0.5 s"),
    ],
)
def test_open_candidate__failing__is_the_error_of_every_case(project, hosted, body, told):
    """Entering that fails, ends the process or hangs makes every case of the process fail alike."""
    project.timeouts = Timeouts(open_candidate=0.5)
    project.hooks(f"""
        @asynccontextmanager
        async def open_candidate(*, targets_dir, scratch_dir):
            {body}
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        results = [await worker.run(case, 1, attempt=1) for case in "ab"]
        await worker.close()
        return results

    for result in hosted(work):
        assert result.error.kind == "open_candidate"
        assert told in result.error.message


def test_open_candidate__leaving_fails__is_told_by_close(project, hosted):
    """A failure while leaving is not a case's error, but it is told."""
    project.hooks("""
        @asynccontextmanager
        async def open_candidate(*, targets_dir, scratch_dir):
            yield 1
            raise OSError("stuck")
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        result = await worker.run("a", 1, attempt=1)
        return result, await worker.close()

    result, closed = hosted(work)
    assert result.error is None
    assert "OSError: stuck" in closed.message


@pytest.mark.e2e
def test_close__code_that_will_not_end__is_bounded(project, hosted):
    """Threads and exit handlers that never end do not keep the process."""
    project.hooks("""
        import atexit, threading
        threading.Thread(target=time.sleep, args=(1000,)).start()
        atexit.register(time.sleep, 1000)
    """)
    assert one_case(project, hosted, 5).output == 5


@pytest.mark.parametrize(
    "text, kind, told",
    [
        ("raise ValueError('at import')", "raised", "ValueError: at import"),
        ("sys.exit(0)", "raised", "the code called sys.exit(0)"),
        ("os._exit(0)", "crashed", "ended with exit status 0"),
        ("def broken(:", "raised", "SyntaxError"),
        ("import not_there", "raised", "not_there"),
        ("time.sleep(60)", "timed_out", "import took longer than its limit of 5 s"),
    ],
)
def test_start__import_fails__is_a_failed_worker(project, hosted, text, kind, told):
    """A module that cannot be imported, ends the process or hangs fails the start, and nothing stays."""
    # Starting Python counts: under load it takes seconds, which only the case about the limit can bear.
    project.timeouts = Timeouts(import_=5.0 if kind == "timed_out" else 60.0)
    project.hooks(f"print('before')\n{text}")

    async def work(supervisor):
        with pytest.raises(WorkerFailed) as caught:
            await project.rollout(supervisor)
        return caught.value

    failure = hosted(work)
    assert failure.kind == kind
    assert told in str(failure)
    if kind != "timed_out":
        assert failure.captured.startswith("before\n") == (text != "def broken(:")


@pytest.mark.parametrize(
    "answer",
    [
        {"ok": {"output": "\ud800", "output_kind": None, "duration_ms": 1}},
        {"ok": {"output": 1, "output_kind": "novel", "duration_ms": 1}},
        {"ok": {"output": 1, "output_kind": None}},
        {"ok": {"output": 1, "output_kind": None, "duration_ms": "x"}},
        {"ok": {"error": {"kind": "raised"}, "duration_ms": 1}},
        {"ok": [1]},
        {"event": "stage", "stage": "novel"},
        {"error": 5},
        {},
    ],
)
def test_run__forged_answer__is_no_result(project, hosted, answer):
    """Candidate code that writes answers itself gets an error, never a strange value into the host."""
    project.hooks(f"""
        import json
        async def run_case(*, case_input, runtime):
            line = json.dumps({{"id": 2, **{answer!r}}}).encode() + b"\\n"
            for descriptor in range(512, 520):
                try:
                    os.write(descriptor, line)
                except OSError:
                    pass
            await asyncio.sleep(5)
    """)
    error = one_case(project, hosted).error
    assert error.kind == "crashed"
    assert "wrote something else than answers" in error.message


def test_fork__that_lives_on__holds_no_pipe(project, hosted):
    """A forked copy of the process has none of the descriptors that lead to the host."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            def pipes():
                return [name for name in os.listdir("/dev/fd") if int(name) >= 512]
            reading, writing = os.pipe()
            if os.fork() == 0:
                os.write(writing, str(len(pipes())).encode())
                os._exit(0)
            os.wait()
            return CaseResult([len(pipes()), os.read(reading, 10).decode()])
    """)
    assert one_case(project, hosted).output == [3, "0"]
