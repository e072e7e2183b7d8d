"""`isolation: sandbox` seen from outside: attempts to get out, each in a real rollout process, and what still works."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.sandbox import Sandbox, SandboxMeans, confinement, means_to_try, sandbox_of
from beaker.runtime import confine, trial
from beaker.runtime.processes import look
from beaker.runtime.sandbox import _trial, confined, entry_sandbox, find_sandbox, sandbox_abilities
from beaker.runtime.supervisor import Supervisor

pytestmark = [
    pytest.mark.once,
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines processes"),
]

ESCAPES = (Path(__file__).parents[1] / "vectors" / "escapes.py").read_text(encoding="utf-8")
NAMES = [line.split("def ")[1].split("(")[0] for line in ESCAPES.split("@attempt\n")[1:]]

APP = """
import escapes

async def run_case(*, case_input, runtime):
    return CaseResult(escapes.run(*case_input))
"""

PLAIN_PERMITS = (
    "write_file", "write_new_file", "write_own_code", "write_temporary_folder_of_all", "write_through_symlink",
    "write_through_linked_folder", "write_through_hard_link", "write_through_reopened_descriptor",
    "write_through_root_of_proc", "write_through_relative_path", "write_by_child_without_environment",
    "truncate_file", "delete_file", "move_file_in", "move_file_out", "link_file_out", "make_folder", "remove_folder",
    "make_symlink", "make_pipe", "change_mode", "change_mode_by_descriptor", "change_owner", "change_times",
    "connect_tcp", "listen_tcp", "send_datagram", "connect_socket_in_folder", "connect_abstract_socket",
    "send_from_pair", "kill_process", "kill_group", "kill_by_descriptor", "stop_guardian", "read_environment",
    "limit_process", "slow_process", "pin_process",
)  # fmt: skip
"""What `isolation: process` does not stop, as docs/isolation.md says; of the others some take a privilege."""


def _available() -> SandboxMeans | None:
    found = find_sandbox() if sys.platform == "linux" else None
    return found.unwrap() if found is not None and is_successful(found) else None


MEANS = _available()
NONE_HERE = "" if sys.platform != "linux" or MEANS else find_sandbox().failure().message
WITH_SANDBOX = pytest.mark.skipif(MEANS is None, reason=NONE_HERE or "no sandbox")


class World:
    """What lies outside of a sandbox, made anew before each attempt, and whether it was touched."""

    def __init__(self, root: Path) -> None:
        self.outside = root / "outside"
        token = uuid.uuid4().hex
        self.everywhere = [Path(f"/tmp/beaker-escape-{token}"), Path(f"/dev/shm/beaker-escape-{token}")]
        self.abstract = f"beaker-escape-{token}"
        self.open: list[socket.socket] = []
        self.tcp = self._bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.udp = self._bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        sockets = root / "s"
        sockets.mkdir()
        self.named = self._bound(socket.AF_UNIX, socket.SOCK_STREAM, str(sockets / "a"))
        self.datagrams = self._bound(socket.AF_UNIX, socket.SOCK_DGRAM, str(sockets / "b"))
        self._bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.abstract}")
        self.victim: subprocess.Popen[bytes] | None = None
        self.spoiled = False
        self.victims = 0

    def _bound(self, family: int, kind: int, address: Any) -> socket.socket:
        made = socket.socket(family, kind)
        self.open.append(made)
        made.bind(address)
        made.setblocking(False)
        if kind == socket.SOCK_STREAM:
            made.listen()
        return made

    def renew(self, scratch: Path) -> dict[str, Any]:
        """The places of one attempt, by the names that it knows."""
        shutil.rmtree(self.outside, ignore_errors=True)
        (self.outside / "empty").mkdir(parents=True)
        (self.outside / "file").write_text("untouched")
        for path in scratch.iterdir() if scratch.exists() else ():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for path in self.everywhere:
            path.unlink(missing_ok=True)
        if self.victim is None or self.spoiled:
            self._end_victim()
            self.victims += 1
            command = [sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(600)"]
            self.victim = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
            assert self.victim.stdout is not None
            self.victim.stdout.readline()
        self.before = self._looks()
        return {
            "outside": str(self.outside),
            "file": str(self.outside / "file"),
            "scratch": str(scratch),
            "in_tmp": str(self.everywhere[0]),
            "in_shm": str(self.everywhere[1]),
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "socket": self.named.getsockname(),
            "datagrams": self.datagrams.getsockname(),
            "abstract": self.abstract,
            "victim": self.victim.pid,
        }

    def touched(self) -> list[str]:
        """What is no longer as it was, as far as that shows at once."""
        now = self._looks()
        found = [f"{name}: {self.before.get(name)} became {now.get(name)}" for name in {*now, *self.before}
                 if now.get(name) != self.before.get(name)]  # fmt: skip
        for server in (self.udp, self.datagrams):
            try:
                found.append(f"received {server.recv(1024)!r}")
            except BlockingIOError:
                pass
        return found

    def close(self) -> None:
        self._end_victim()
        for server in self.open:
            server.close()
        for path in self.everywhere:
            path.unlink(missing_ok=True)

    def _looks(self) -> dict[str, object]:
        assert self.victim is not None
        found: dict[str, object] = {
            str(path): (status := path.lstat(), status.st_mode & 0o7777, status.st_size, status.st_mtime_ns)[1:]
            for path in sorted(self.outside.rglob("*"))
        }
        found |= {str(path): path.exists() for path in self.everywhere}
        return found | {
            "text": (self.outside / "file").read_text() if (self.outside / "file").is_file() else None,
            "attributes": os.listxattr(self.outside / "file") if (self.outside / "file").exists() else None,
            "victim": self._look_of(self.victim.pid),
        }

    def _look_of(self, pid: int) -> object:
        state = look(pid)
        if state is None or state.state in "ZX":
            return "ended"
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            limits = Path(f"/proc/{pid}/limits").read_text()
            priority = os.getpriority(os.PRIO_PROCESS, pid)
        except OSError:  # it ended meanwhile
            return "ended"
        pending = [line for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
        return pending, limits.split("open files")[1].split()[:2], priority

    def _end_victim(self) -> None:
        if self.victim is not None:
            self.victim.kill()
            self.victim.wait()
            assert self.victim.stdout is not None
            self.victim.stdout.close()


def attempts(project: Any, root: Path, sandbox: Sandbox | None, names: list[str]) -> dict[str, tuple[Any, list[str]]]:
    """What each attempt says of itself, and what was touched, all of them in one rollout process."""
    (project.root / "escapes.py").write_text(ESCAPES)
    project.hooks(APP)
    world = World(root)

    async def work() -> dict[str, tuple[Any, list[str]]]:
        found = {}
        async with Supervisor() as supervisor:
            supervisor.sandbox = sandbox
            worker = await project.rollout(supervisor)
            for name in names:
                places = world.renew(project.scratch)
                result = await worker.run(name, [name, places], attempt=1)
                assert result.error is None, result
                found[name] = (result.output, world.touched())
                world.spoiled = result.output["escaped"]  # a signal may take its time
            await worker.close()
        assert world.victim is not None
        found["in the end"] = (
            {"escaped": world.victims > 1, "said": ""},
            [] if world.victim.poll() is None else ["end"],
        )
        return found

    try:
        return asyncio.run(work())
    finally:
        world.close()


@pytest.fixture(scope="module", params=[True, False], ids=["namespaces", "no-namespaces"])
def escapes(request: Any, tmp_path_factory: Any, make_project: Any) -> dict[str, tuple[Any, list[str]]]:
    """Every attempt in a sandbox, with namespaces where they can be had, and without."""
    assert MEANS is not None
    if request.param and not MEANS.namespaces:
        pytest.skip("this system gives no namespaces")
    means = SandboxMeans(machine=MEANS.machine, landlock=MEANS.landlock, namespaces=request.param)
    root = tmp_path_factory.mktemp("s")
    return attempts(make_project(root), root, sandbox_of(means, network=False, judged=True), NAMES)


@WITH_SANDBOX
@pytest.mark.parametrize("name", [*NAMES, "in the end"])
def test_escape__from_a_sandbox__does_not_succeed(escapes: Any, name: str) -> None:
    """The process is kept from it, and nothing outside has changed."""
    said, touched = escapes[name]
    assert not said["escaped"], said
    assert touched == []


@pytest.fixture(scope="module")
def unconfined(tmp_path_factory: Any, make_project: Any) -> dict[str, tuple[Any, list[str]]]:
    """The attempts that need no sandbox to be stopped by, in a plain process."""
    root = tmp_path_factory.mktemp("p")
    return attempts(make_project(root), root, None, list(PLAIN_PERMITS))


@pytest.mark.parametrize("name", PLAIN_PERMITS)
def test_escape__from_a_plain_process__succeeds(unconfined: Any, name: str) -> None:
    """The attempts are real: the same ones work where nothing confines them, as the documentation says."""
    said, _ = unconfined[name]
    assert said["escaped"], said


@WITH_SANDBOX
def test_network__granted__is_the_internet_alone(tmp_path: Path, project: Any) -> None:
    """Sockets in folders stay out of reach, and so does everything outside the scratch folders."""
    assert MEANS is not None
    names = ["connect_tcp", "send_datagram", "connect_socket_in_folder", "send_from_pair", "write_file"]
    found = attempts(project, tmp_path, sandbox_of(MEANS, network=True, judged=False), names)
    assert [found[name][0]["escaped"] for name in names] == [True, True, False, False, False]


WORKING = """
import multiprocessing, socket, subprocess, tempfile, threading

async def run_case(*, case_input, runtime):
    Path(os.environ["TMPDIR"], "mine").write_text("x")
    with tempfile.NamedTemporaryFile() as file, open(os.devnull, "w") as nothing:
        place = os.path.dirname(file.name)
        nothing.write("x")
    first, second = socket.socketpair()
    with first, second:
        first.send(b"over a pair")
        received = second.recv(100).decode()
    shown = subprocess.run(["sh", "-c", "echo a child; echo > $TMPDIR/by-child"], capture_output=True, text=True)
    done = []
    thread = threading.Thread(target=lambda: done.append("a thread"))
    thread.start()
    thread.join()
    print("printed")
    return CaseResult([place == os.environ["TMPDIR"], received, shown.stdout.strip(), *done])

async def score_case(*, case, result, case_files_dir):
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    try:
        Path(case.input).write_text("escaped")
    except OSError:
        return CaseScore(1.0, {"confined": 1.0})
    return CaseScore(0.0, {"confined": 0.0})
"""


@WITH_SANDBOX
def test_sandbox__what_code_needs__still_works(tmp_path: Path, project: Any, hosted: Any) -> None:
    """Answers, prints, temporary files, children, threads and pairs of sockets; and a scorer is confined too."""
    from beaker.core.cases import Case

    assert MEANS is not None
    project.hooks(WORKING)

    async def work(supervisor: Supervisor) -> Any:
        supervisor.sandbox = sandbox_of(MEANS, network=False, judged=False)
        rollout = await project.rollout(supervisor)
        result = await rollout.run("c", None, attempt=1)
        assert await rollout.close() is None
        scorer = await project.scorer(supervisor)
        score = await scorer.score(Case(id="c", input=str(tmp_path / "out"), expected=None), result)
        await scorer.close()
        return result, score

    result, score = hosted(work)
    assert result.output == [True, "over a pair", "a child", "a thread"], result
    assert "printed" in result.captured
    assert score.objective == 1.0, score
    assert not (tmp_path / "out").exists()


@WITH_SANDBOX
def test_sandbox__setup__is_exempt(tmp_path: Path, project: Any, hosted: Any) -> None:
    """Setup code may reach external services and write where it likes."""
    written = tmp_path / "by-setup"
    project.hooks(
        f"""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                import socket
                socket.socket().close()
                Path({str(written)!r}).write_text("x")
                yield {{"repository": RepositoryRunSetupResult()}}
        """
    )

    async def work(supervisor: Supervisor) -> Any:
        assert MEANS is not None
        supervisor.sandbox = sandbox_of(MEANS, network=False, judged=False)
        setup = await project.setup(supervisor)
        await project.prepare(setup)
        await setup.close()

    hosted(work)
    assert written.read_text() == "x"


@WITH_SANDBOX
def test_survivor__of_a_sandbox__ends_with_its_process(project: Any, hosted: Any, wait_for: Any) -> None:
    """A session of its own is no way out."""
    (project.root / "escapes.py").write_text(ESCAPES)
    project.hooks(APP)
    places = {"scratch": str(project.scratch), "file": "/nowhere/file"}

    async def work(supervisor: Supervisor) -> int:
        assert MEANS is not None
        supervisor.sandbox = sandbox_of(MEANS, network=False, judged=False)
        worker = await project.rollout(supervisor)
        result = await worker.run("c", ["survive_in_new_session", places], attempt=1)
        assert result.error is None
        pid = int((project.scratch / "survivor").read_text())
        await worker.kill()
        return pid

    pid = hosted(work)
    wait_for(lambda: (found := look(pid)) is None or found.state in "ZX")


@WITH_SANDBOX
@pytest.mark.parametrize("namespaces", [True, False])
def test_trial__of_a_process_that_is_not_confined__tells_its_escapes(namespaces: bool) -> None:
    """A probe that could not fail would prove nothing."""
    assert MEANS is not None
    if namespaces and not MEANS.namespaces:
        pytest.skip("this system gives no namespaces")
    means = SandboxMeans(machine=MEANS.machine, landlock=MEANS.landlock, namespaces=namespaces)
    assert _trial(means).escaped == ()
    escaped = _trial(means, lambda argv, *rest, **more: argv).escaped
    assert {"write outside", "reach the network (TCP)", "reach a socket in a folder", "reach an abstract socket",
            "signal the process that started it", "move a file from outside"} <= set(escaped)  # fmt: skip


@WITH_SANDBOX
def test_confine__what_cannot_be_done__starts_nothing(tmp_path: Path) -> None:
    """Nothing ever runs half confined."""
    assert MEANS is not None
    argv = confined([sys.executable, "-c", "print('ran')"], MEANS, writable=[tmp_path / "missing"], network=False)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (confine.FAILED, "")
    assert done.stderr.startswith("cannot confine the process: ")
    argv = confined([str(tmp_path / "missing")], MEANS, writable=[tmp_path], network=False)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (confine.FAILED, "cannot start the command: No such file or directory\n")


@WITH_SANDBOX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="the other tests run without privileges")
@pytest.mark.parametrize("namespaces", [True, False])
def test_confine__without_privileges__confines_as_well(tmp_path: Path, namespaces: bool) -> None:
    """Root needs nothing that others lack."""
    assert MEANS is not None
    nobody: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip("there is no interpreter that everybody may start")
    folder = Path(f"/tmp/beaker-nobody-{uuid.uuid4().hex}")
    folder.mkdir(mode=0o755)
    try:
        for module in (confine, trial):
            shutil.copy(str(module.__file__), folder)
        (folder / "in").mkdir()
        (folder / "out").write_text("")
        for path in (folder, folder / "in", folder / "out"):
            os.chown(path, 65534, 65534)
        means = SandboxMeans(machine=MEANS.machine, landlock=MEANS.landlock, namespaces=namespaces)
        plan = confinement(means, writable=(str(folder / "in"),), network=False)
        told = [str(folder / "in"), str(folder / "out"), str(folder / "socket"), "beaker-nobody", "9"]
        argv = [python, "-I", "-S", str(folder / "confine.py"), *plan, python, "-I", "-S", str(folder / "trial.py")]
        done = subprocess.run([*argv, *told], capture_output=True, text=True, check=False, **nobody)
        if namespaces and "unshare" in done.stderr:
            pytest.skip("this system gives nobody namespaces")
        assert (done.stderr, done.returncode) == ("", 0)
        assert json.loads(done.stdout) == []
    finally:
        shutil.rmtree(folder)


def test_find_sandbox__on_a_kernel_that_has_what_it_takes__finds_one() -> None:
    """Were it not so, every other test here would be skipped without a word."""
    if not is_successful(means_to_try(sandbox_abilities())):
        pytest.skip("this kernel lacks it")
    assert is_successful(find_sandbox()), find_sandbox()


def test_find_sandbox__says_what_is_there_or_lacking() -> None:
    """What is found once is what everybody gets."""
    found = find_sandbox()
    assert find_sandbox() is found
    assert sandbox_abilities().platform == "linux"
    assert entry_sandbox("process", network=False, judged=False).unwrap() is None
    asked = entry_sandbox("sandbox", network=False, judged=True)
    if is_successful(found):
        sandbox = asked.unwrap()
        assert sandbox is not None
        assert (sandbox.means, sandbox.rollouts_online, sandbox.scorer_online) == (found.unwrap(), False, True)
    else:
        assert asked.failure().code == "BK557"
