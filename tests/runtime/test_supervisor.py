"""The supervisor: commands, their ends, and the ends of hosts that die without a word."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from beaker.core.environment import redactor
from beaker.runtime import processes
from beaker.runtime.shortening import no_redaction
from beaker.runtime.supervisor import Supervisor, end_recorded

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not processes.LINUX, reason="looks at processes through /proc"),
]

ENV = {"PATH": os.environ["PATH"]}


def alive(pid: int) -> bool:
    found = processes.look(pid)
    return found is not None and found.state not in "ZX"


SECRET = "ABCDEFGHIJKLMNOP"


def command(hosted, script, *, timeout=20.0, cwd=Path("/"), redact=no_redaction, **options):
    async def work(supervisor):
        return await supervisor.run_command(["sh", "-c", script], cwd=cwd, env=ENV, timeout=timeout, **options)

    return hosted(work, redact=redact)


def test_run_command__ends__gives_status_and_both_streams(hosted, tmp_path):
    """Status, standard output, standard error and the working directory are the command's own."""
    done = command(hosted, "pwd; echo $0 >&2; cat; exit 3", cwd=tmp_path)
    assert (done.returncode, done.timed_out) == (3, False)
    assert (done.stdout, done.stderr) == (f"{tmp_path}\n", "sh\n")


def test_run_command__environment__is_what_was_given(hosted):
    """Nothing of the host's environment reaches the command, but for the mark of its host."""
    done = command(hosted, "exec env")
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert names - {"PWD", "SHLVL", "_"} == {"PATH", processes.MARK}


def test_run_command__control_characters__are_kept_as_data(hosted):
    """Escapes and bytes that are no UTF-8 stay in what was captured, the latter spelled out."""
    assert command(hosted, r"printf '\033[2Ja\000b\377'").stdout == "\x1b[2Ja\x00b\\xff"


def test_run_command__endless_output__is_bounded(hosted):
    """A command that never stops printing is ended in time and its output kept at both ends."""
    done = command(hosted, "exec yes", timeout=0.5, capture=1000)
    assert done.timed_out
    assert done.stdout.startswith("y\ny\n")
    assert "bytes left out" in done.stdout
    assert len(done.stdout) < 1100


@pytest.mark.parametrize("argv, status", [(["/not/there"], 127), (["/etc/passwd"], 126), (["a\0b"], 126)])
def test_run_command__cannot_be_started__is_completed(hosted, argv, status):
    """What cannot be started has the status that a shell gives it, and says why."""

    async def work(supervisor):
        return await supervisor.run_command(argv, cwd=Path("/"), env=ENV, timeout=5)

    done = hosted(work)
    assert done.returncode == status
    assert done.stderr.startswith("cannot start")


def test_run_command__cannot_be_started__says_so_in_few_words(hosted):
    """However long the name of the program is, and whatever secrets it holds at the cut."""

    async def work(supervisor):
        argv = ["x" * 480 + SECRET + "y" * 90_000]
        return await supervisor.run_command(argv, cwd=Path("/"), env=ENV, timeout=5)

    done = hosted(work, redact=redactor([SECRET]))
    assert done.returncode in (126, 127)
    assert done.stderr.startswith("cannot start xxx")
    assert len(done.stderr) < 1_100
    assert not set("ABCDEFGH") & set(done.stderr)


def test_run_command__secret_at_the_cut__is_gone(hosted):
    """What is left out of a long output takes no secret apart."""
    script = f"head -c 490 /dev/zero | tr '\\0' x; echo {SECRET}; head -c 600000 /dev/zero | tr '\\0' y"
    done = command(hosted, f"({script}) | tee /dev/stderr", capture=1000, redact=redactor([SECRET]))
    for text in (done.stdout, done.stderr):
        assert "bytes left out" in text
        assert not set(SECRET) & set(text)


def test_run_command__signal__is_a_negative_status(hosted):
    """A command that a signal ended has that signal's negative number."""
    assert command(hosted, "kill -9 $$").returncode == -9


def test_run_command__late__is_ended_with_all_its_descendants(hosted, tmp_path):
    """Its time over, a command that ignores SIGTERM is killed, and so is what it started in other sessions."""
    pids = tmp_path / "pids"
    script = f"""
        trap '' TERM
        sleep 1000 & echo $! >> {pids}
        setsid sleep 1000 & echo $! >> {pids}
        setsid env -i sh -c 'echo $$ >> {pids}; exec sleep 1000' &
        sh -c 'sleep 1000 & sleep 0.2' &
        sleep 1000
    """
    done = command(hosted, script, timeout=0.6)
    assert (done.returncode, done.timed_out) == (None, True)
    left = [int(pid) for pid in pids.read_text().split()]
    assert len(left) == 3
    assert not any(map(alive, left))


def test_run_command__done__ends_what_it_left_behind(hosted, tmp_path):
    """A command that ends by itself takes its background processes along; their output does not delay it."""
    begun = time.monotonic()
    script = """
        sleep 1000 &
        setsid sleep 1000 & echo $!
        setsid env -i sleep 1000 & echo $!
        env -i setsid sh -c 'setsid sleep 1000 & echo $!; wait' &
        sleep 0.2
    """
    done = command(hosted, script)
    assert done.returncode == 0
    left = [int(pid) for pid in done.stdout.split()]
    assert len(left) == 3
    assert not any(map(alive, left))
    assert time.monotonic() - begun < 15


def test_run_command__cancelled__ends_the_command_first(hosted, tmp_path):
    """When the cancellation reaches the caller, the command is gone."""

    async def work(supervisor):
        pid_file = tmp_path / "pid"
        argv = ["sh", "-c", f"echo $$ > {pid_file}; exec sleep 1000"]
        task = asyncio.create_task(supervisor.run_command(argv, cwd=Path("/"), env=ENV, timeout=60))
        while not pid_file.exists() or not pid_file.read_text():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return alive(int(pid_file.read_text()))

    assert hosted(work) is False


def test_close__running_children__are_ended(hosted, tmp_path):
    """Closing ends children that ignore SIGTERM, with their descendants, and removes the record."""
    record = tmp_path / "processes"

    async def work(supervisor):
        argv = ["sh", "-c", "trap '' TERM; setsid sleep 1000 & while :; do sleep 1; done"]
        task = asyncio.create_task(supervisor.run_command(argv, cwd=Path("/"), env=ENV, timeout=60))
        await asyncio.sleep(0.3)
        assert record.exists()
        await supervisor.close()
        return await task

    done = hosted(work, record=record)
    assert done.returncode == -signal.SIGKILL
    assert not record.exists()


def test_close__then_spawn__is_refused(hosted):
    """A closed supervisor starts nothing."""

    async def work(supervisor):
        await supervisor.close()
        await supervisor.run_command(["true"], cwd=Path("/"), env=ENV, timeout=5)

    with pytest.raises(RuntimeError, match="closed"):
        hosted(work)


def test_supervisor__other_children_of_the_host__are_left_alone(hosted):
    """Children that other parts of the host started are neither ended nor reaped."""

    async def work(supervisor):
        others = [subprocess.Popen(["sleep", "30"]), subprocess.Popen(["sh", "-c", "exit 5"])]
        await asyncio.sleep(0.2)
        await supervisor.run_command(["true"], cwd=Path("/"), env=ENV, timeout=5)
        await supervisor.close()
        assert others[0].poll() is None
        others[0].kill()
        others[0].wait()
        return others[1].wait()

    assert hosted(work) == 5


def test_supervisor__orphans_that_end_by_themselves__are_reaped(hosted):
    """Short-lived daemons do not pile up as zombies of the host."""

    async def work(supervisor):
        for _ in range(3):
            await supervisor.run_command(
                ["sh", "-c", "setsid true & setsid sleep 0.05 & sleep 0.1"], cwd=Path("/"), env=ENV, timeout=5
            )
        await supervisor.run_command(["true"], cwd=Path("/"), env=ENV, timeout=5)
        states = [processes.look(pid) for pid in processes.children_of(os.getpid())]
        return [process for process in states if process is not None and process.state == "Z"]

    assert hosted(work) == []


HOST = r"""
import asyncio, os, sys
from pathlib import Path
from beaker.runtime.supervisor import Supervisor

async def main():
    supervisor = Supervisor(record=Path(sys.argv[1]))
    supervisor.become_subreaper()
    hidden = "setsid env -i sleep 1000 & echo $!"
    script = f"{hidden}; sleep 1000 & echo $! ; setsid sleep 1000 & echo $!; echo $$; exec sleep 1000"
    child = supervisor.spawn(["sh", "-c", script], cwd=Path("/"), env={"PATH": os.environ["PATH"]}, stdout=1, stderr=2)
    os.write(1, f"watchdog {supervisor._watchdog.pid}\nguardian {child.pid}\n".encode())
    await child.wait()

asyncio.run(main())
"""


@pytest.fixture
def dying_host(tmp_path):
    """A host with one child and its descendants: (host, record, watchdog's id, guardian's id, ids of the others).

    The first of the others has left its session and cleared its environment.
    """
    record = tmp_path / "processes"
    host = subprocess.Popen([sys.executable, "-c", HOST, str(record)], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    try:
        lines = [host.stdout.readline().split() for _ in range(6)]
        named = {words[0]: int(words[1]) for words in lines if len(words) == 2}
        yield host, record, named["watchdog"], named["guardian"], [int(words[0]) for words in lines if len(words) == 1]
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
        end_recorded(record)


def test_host_killed__everything_it_started_ends(dying_host, wait_for):
    """After SIGKILL of the host, its children, their group and their other sessions are gone in a moment."""
    host, record, watchdog, guardian, pids = dying_host
    assert all(map(alive, pids))
    host.kill()
    host.wait()
    wait_for(lambda: not any(map(alive, [watchdog, guardian, *pids])))
    assert end_recorded(record) == 0
    assert not record.exists()


def test_host_and_watchdog_killed__the_guardian_ends_the_rest(dying_host, wait_for):
    """The kernel tells the guardian, which needs neither of them."""
    host, _, watchdog, guardian, pids = dying_host
    os.kill(watchdog, signal.SIGKILL)
    host.kill()
    host.wait()
    wait_for(lambda: not any(map(alive, [guardian, *pids])))


def test_host_and_watchdog_killed_guardian_stopped__the_record_ends_the_rest(dying_host):
    """What was not ended yet, the next host ends by the record, hidden descendants included."""
    host, record, watchdog, guardian, pids = dying_host
    os.kill(guardian, signal.SIGSTOP)
    os.kill(watchdog, signal.SIGKILL)
    host.kill()
    host.wait()
    assert all(map(alive, pids))
    assert end_recorded(record) > 0
    assert not any(map(alive, [guardian, *pids]))


def test_all_of_them_killed__the_record_ends_what_carries_the_mark(dying_host, wait_for):
    """The kernel ends the child with its guardian; what is left is found by its mark; one that hides may stay."""
    host, record, watchdog, guardian, pids = dying_host
    hidden, *_, leader = pids
    host.send_signal(signal.SIGSTOP)
    for pid in (watchdog, guardian, host.pid):
        os.kill(pid, signal.SIGKILL)
    host.wait()
    wait_for(lambda: not alive(leader))
    end_recorded(record)
    try:
        assert not any(alive(pid) for pid in pids if pid != hidden)
    finally:
        if alive(hidden):
            os.kill(hidden, signal.SIGKILL)


def test_guardian_killed__the_child_ends_and_what_it_started(hosted, tmp_path):
    """A command that kills its guardian is killed with it; its descendants fall to the host, which ends them."""
    pids = tmp_path / "pids"
    script = f"""
        setsid sleep 1000 & echo $! > {pids}
        kill -9 $PPID
        sleep 1000
    """
    assert command(hosted, script).returncode == -9
    assert not alive(int(pids.read_text()))


def test_end_recorded__strangers_with_used_numbers__stay(tmp_path):
    """A process that merely has a recorded number, and a broken record, do no harm."""
    stranger = subprocess.Popen(["sleep", "30"], start_new_session=True)
    try:
        record = tmp_path / "processes"
        entries = [{"mark": "nobody."}, {"pid": stranger.pid, "identity": "another boot:1"}, {"pid": 1}, {"ended": 7}]
        record.write_text("\n".join(map(json.dumps, entries)) + '\n{"pid": 12')
        assert end_recorded(record) == 0
        assert alive(stranger.pid)
        assert end_recorded(record) == 0
    finally:
        stranger.kill()
        stranger.wait()


def test_worker_processes__end_with_their_host(project, tmp_path, wait_for):
    """Setup and rollout processes, one deaf in C code, end when their host is killed, with what they started."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                import subprocess
                Path("pids").write_text(f"{os.getpid()} {subprocess.Popen(['sleep', '1000']).pid}\\n")
                yield {"repository": RepositoryRunSetupResult()}
        async def run_case(*, case_input, runtime):
            import ctypes
            with Path("pids").open("a") as file:
                file.write(f"{os.getpid()}\\n")
            ctypes.PyDLL(None).sleep(1000)  # holds the interpreter's lock
    """)
    script = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from beaker.runtime.code_root import CodeRoot
        from beaker.runtime.supervisor import Supervisor
        from beaker.runtime.workers import *

        async def main():
            root, env = Path(sys.argv[1]), {"PATH": "/usr/bin:/bin"}
            code, supervisor = CodeRoot(root / "project", "app:integration"), Supervisor()
            setup = await SetupWorker.start(supervisor, code, env=env, timeouts=Timeouts())
            await setup.prepare(run_id="r", extra={}, dataset_dir=root / "dataset", dataset_name="d",
                                dataset_revision="r", storage=root / "storage")
            rollout = await RolloutWorker.start(supervisor, code, env=env, timeouts=Timeouts(), targets_dir=None,
                                                scratch_dir=root / "s", case_files_dir=root)
            await rollout.run("c", 1, attempt=1)

        asyncio.run(main())
    """)
    host = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    try:
        noted = project.root / "pids"
        wait_for(lambda: noted.exists() and len(noted.read_text().split()) == 3, 40.0)
        pids = [int(pid) for pid in noted.read_text().split()]
        assert all(map(alive, pids))
    finally:
        host.kill()
        host.wait()
    wait_for(lambda: not any(map(alive, pids)))


def test_supervisor__without_children__needs_no_watchdog():
    """A supervisor that started nothing costs nothing."""

    async def main():
        async with Supervisor() as supervisor:
            return supervisor._watchdog

    assert asyncio.run(main()) is None
