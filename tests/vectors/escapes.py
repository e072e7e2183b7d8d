"""Attempts to get out of a sandbox, run inside one by tests/runtime/test_sandbox.py.

Each takes the places of the test by name and raises `OSError` when it is kept from it; what it returns is an escape,
`None` leaves the judgement to what the test sees outside. All are harmless where they succeed: they touch what the test
made.
"""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
ATTEMPTS: dict[str, Callable[[dict[str, Any]], object]] = {}

Places = dict[str, Any]


def attempt(function: Callable[[Places], object]) -> Callable[[Places], object]:
    ATTEMPTS[function.__name__] = function
    return function


def done(answer: int) -> int:
    """A call's answer, -1 raised as the error that it means."""
    if answer == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def call(number: dict[str, int], *arguments: Any) -> int:
    return done(LIBC.syscall(number[os.uname().machine], *arguments))


def both(x86: int, arm: int) -> dict[str, int]:
    return {"x86_64": x86, "aarch64": arm}


def append(path: str | Path) -> str:
    with open(path, "a", encoding="utf-8") as file:
        file.write("escaped")
    return f"wrote to {path}"


@attempt
def write_file(at: Places) -> object:
    return append(at["file"])


@attempt
def write_new_file(at: Places) -> object:
    return append(f"{at['outside']}/new")


@attempt
def write_own_code(at: Places) -> object:
    return append(__file__)


@attempt
def write_temporary_folder_of_all(at: Places) -> object:
    return append(at["in_tmp"])


@attempt
def write_shared_memory_of_all(at: Places) -> object:
    append(at["in_shm"])
    return None  # it may have a shared memory of its own


@attempt
def write_through_symlink(at: Places) -> object:
    link = Path(at["scratch"], "link")
    link.symlink_to(at["file"])
    return append(link)


@attempt
def write_through_linked_folder(at: Places) -> object:
    link = Path(at["scratch"], "folder")
    link.symlink_to(at["outside"])
    return append(link / "file")


@attempt
def write_through_hard_link(at: Places) -> object:
    link = Path(at["scratch"], "hard")
    os.link(at["file"], link)
    return append(link)


@attempt
def write_through_reopened_descriptor(at: Places) -> object:
    opened = os.open(at["file"], os.O_RDONLY)
    return append(f"/proc/self/fd/{opened}")


@attempt
def write_through_root_of_proc(at: Places) -> object:
    return append(f"/proc/self/root{at['file']}")


@attempt
def write_through_root_of_parent(at: Places) -> object:
    return append(f"/proc/{os.getppid()}/root{at['file']}")


@attempt
def write_through_relative_path(at: Places) -> object:
    os.chdir(at["scratch"])
    return append(os.path.relpath(at["file"]))


@attempt
def write_through_own_memory(at: Places) -> object:
    with open(at["file"], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            address = next(int(line.split("-")[0], 16) for line in maps if at["file"] in line)
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(address)
            memory.write(b"escaped")
        return bytes(mapped[:7]) == b"escaped" or None


@attempt
def write_by_child_without_environment(at: Places) -> object:
    code = f"open({at['file']!r}, 'a').write('escaped')"
    if subprocess.run([sys.executable, "-I", "-S", "-c", code], env={}, capture_output=True, check=False).returncode:
        raise PermissionError("the child was kept from it")
    return "a child wrote"


@attempt
def truncate_file(at: Places) -> object:
    os.truncate(at["file"], 0)
    return "truncated"


@attempt
def truncate_by_opening(at: Places) -> object:
    os.close(os.open(at["file"], os.O_RDONLY | os.O_TRUNC))
    return "truncated"


@attempt
def delete_file(at: Places) -> object:
    os.unlink(at["file"])
    return "deleted"


@attempt
def move_file_in(at: Places) -> object:
    os.rename(at["file"], f"{at['scratch']}/moved")
    return "moved in"


@attempt
def move_file_out(at: Places) -> object:
    Path(at["scratch"], "mine").write_text("escaped")
    os.rename(f"{at['scratch']}/mine", at["file"])
    return "moved out"


@attempt
def link_file_out(at: Places) -> object:
    Path(at["scratch"], "mine2").write_text("escaped")
    os.link(f"{at['scratch']}/mine2", f"{at['outside']}/linked")
    return "linked out"


@attempt
def make_folder(at: Places) -> object:
    os.mkdir(f"{at['outside']}/folder")
    return "made"


@attempt
def remove_folder(at: Places) -> object:
    os.rmdir(f"{at['outside']}/empty")
    return "removed"


@attempt
def make_symlink(at: Places) -> object:
    os.symlink("/", f"{at['outside']}/root")
    return "made"


@attempt
def make_pipe(at: Places) -> object:
    os.mkfifo(f"{at['outside']}/pipe")
    return "made"


@attempt
def make_device(at: Places) -> object:
    os.mknod(f"{at['scratch']}/memory", 0o600 | stat.S_IFCHR, os.makedev(1, 1))
    return "made"


@attempt
def open_disk(at: Places) -> object:
    for name in os.listdir("/sys/class/block"):
        device = f"/dev/{name}"
        if os.path.exists(device):
            os.close(os.open(device, os.O_WRONLY))
            return "opened"
    raise FileNotFoundError("there is no disk")


@attempt
def change_mode(at: Places) -> object:
    os.chmod(at["file"], 0o777)
    return "changed"


@attempt
def change_mode_by_descriptor(at: Places) -> object:
    opened = os.open(at["file"], os.O_RDONLY)
    try:
        os.fchmod(opened, 0o777)
    finally:
        os.close(opened)
    return "changed"


@attempt
def change_owner(at: Places) -> object:
    os.chown(at["file"], os.getuid(), os.getgid())
    return "changed"


@attempt
def change_times(at: Places) -> object:
    os.utime(at["file"], (1, 1))
    return "changed"


@attempt
def change_attributes(at: Places) -> object:
    os.setxattr(at["file"], "user.escaped", b"1")
    return "changed"


@attempt
def change_flags(at: Places) -> object:
    with open(at["file"], "rb") as file:
        flags = bytearray(8)
        fcntl.ioctl(file, 0x80086601, flags, True)
        fcntl.ioctl(file, 0x40086602, bytes(flags))
    return "changed"


@attempt
def hold_up_writers(at: Places) -> object:
    with open(at["file"], "rb") as file:
        fcntl.fcntl(file, 1024, fcntl.F_RDLCK)
    return "held a lease"


@attempt
def bind_mount(at: Places) -> object:
    inside = Path(at["scratch"], "mounted")
    inside.mkdir()
    done(LIBC.mount(at["outside"].encode(), str(inside).encode(), None, 4096, None))
    return append(inside / "file")


@attempt
def remount_writable(at: Places) -> object:
    done(LIBC.mount(None, b"/", None, 32 | 4096, None))
    return append(at["file"])


@attempt
def mount_in_new_namespace(at: Places) -> object:
    child = os.fork()
    if child == 0:
        left = LIBC.unshare(0x10000000 | 0x20000)
        os._exit(0 if left == 0 else 1)
    if os.waitpid(child, 0)[1]:
        raise PermissionError("no namespace")
    return "made namespaces"


@attempt
def clone_into_new_namespace(at: Places) -> object:
    child = call(both(56, 220), 0x10000000 | 0x20000 | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "made namespaces"


@attempt
def join_mounts_of_parent(at: Places) -> object:
    opened = os.open(f"/proc/{at['victim']}/ns/mnt", os.O_RDONLY)
    done(LIBC.setns(opened, 0))
    return "joined"


@attempt
def change_root(at: Places) -> object:
    os.chroot(at["outside"])
    return "changed"


@attempt
def open_by_handle(at: Places) -> object:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    done(LIBC.name_to_handle_at(-100, at["file"].encode(), handle, ctypes.byref(mount), 0))
    place = os.open(at["outside"], os.O_RDONLY)
    opened = done(LIBC.open_by_handle_at(place, handle, os.O_WRONLY | os.O_APPEND))
    os.write(opened, b"escaped")
    return "wrote"


@attempt
def connect_tcp(at: Places) -> object:
    socket.create_connection(("127.0.0.1", at["tcp"]), timeout=5).close()
    return "connected"


@attempt
def listen_tcp(at: Places) -> object:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
    return "listened"


@attempt
def send_datagram(at: Places) -> object:
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"escaped", ("127.0.0.1", at["udp"]))
    return "sent"


@attempt
def ask_names(at: Places) -> object:
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x07example\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as client:
        client.sendto(query, ("::ffff:127.0.0.1", at["udp"]))
    return "asked"


@attempt
def send_raw_packet(at: Places) -> object:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "opened"


@attempt
def open_netlink(at: Places) -> object:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
    return "opened"


@attempt
def open_socket_of_machines(at: Places) -> object:
    socket.socket(40, socket.SOCK_STREAM, 0).close()
    return "opened"


@attempt
def connect_socket_in_folder(at: Places) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(at["socket"])
    return "connected"


@attempt
def connect_abstract_socket(at: Places) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"\0{at['abstract']}")
    return "connected"


@attempt
def send_from_pair(at: Places) -> object:
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with first, second:
        first.sendto(b"escaped", at["datagrams"])
    return "sent"


@attempt
def reconnect_pair(at: Places) -> object:
    first, second = socket.socketpair()
    with first, second:
        first.connect(at["socket"])
    return "connected"


@attempt
def use_rings(at: Places) -> object:
    os.close(call(both(425, 425), 4, ctypes.create_string_buffer(120)))
    return "set up"


@attempt
def inherited_descriptors(at: Places) -> object:
    for name in os.listdir("/proc/self/fd"):
        if not os.path.lexists(f"/proc/self/fd/{name}"):
            continue  # the one that listed them
        found = os.readlink(f"/proc/self/fd/{name}")
        writable = int(Path(f"/proc/self/fdinfo/{name}").read_text().split("flags:")[1].split()[0], 8) & 3
        if found.startswith("/") and writable and found != "/dev/null":
            return f"{name} is {found}"
    return None


@attempt
def kill_process(at: Places) -> object:
    os.kill(at["victim"], signal.SIGTERM)
    return "killed"


@attempt
def kill_group(at: Places) -> object:
    os.killpg(at["victim"], signal.SIGTERM)
    return "killed"


@attempt
def kill_by_descriptor(at: Places) -> object:
    signal.pidfd_send_signal(os.pidfd_open(at["victim"]), signal.SIGTERM)
    return "killed"


@attempt
def stop_guardian(at: Places) -> object:
    os.kill(os.getppid(), 0)
    return "could signal"


@attempt
def signal_by_owner_of_pipe(at: Places) -> object:
    reading, writing = os.pipe()
    fcntl.fcntl(reading, 10, signal.SIGTERM)
    fcntl.fcntl(reading, fcntl.F_SETOWN, at["victim"])
    fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writing, b"x")
    return None


@attempt
def trace_process(at: Places) -> object:
    done(LIBC.ptrace(16, at["victim"], None, None))
    LIBC.ptrace(17, at["victim"], None, None)
    return "attached"


@attempt
def read_memory(at: Places) -> object:
    buffer = ctypes.create_string_buffer(8)
    ours = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    done(LIBC.process_vm_readv(at["victim"], ours, 1, ours, 1, 0))
    return "read"


@attempt
def write_memory(at: Places) -> object:
    os.close(os.open(f"/proc/{at['victim']}/mem", os.O_RDWR))
    return "opened"


@attempt
def read_environment(at: Places) -> object:
    return Path(f"/proc/{at['victim']}/environ").read_bytes()


@attempt
def take_descriptor(at: Places) -> object:
    os.close(call(both(438, 438), os.pidfd_open(at["victim"]), 0, 0))
    return "took"


@attempt
def limit_process(at: Places) -> object:
    resource.prlimit(at["victim"], resource.RLIMIT_NOFILE, (8, 8))
    return "limited"


@attempt
def slow_process(at: Places) -> object:
    os.setpriority(os.PRIO_PROCESS, at["victim"], 19)
    return "slowed"


@attempt
def pin_process(at: Places) -> object:
    os.sched_setaffinity(at["victim"], os.sched_getaffinity(at["victim"]))
    return "pinned"


@attempt
def gain_capabilities(at: Places) -> object:
    held = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    effective = int(held.split("CapEff:")[1].split()[0], 16)
    return f"{effective:x}" if effective else None


@attempt
def gain_capabilities_back(at: Places) -> object:
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0))
    done(LIBC.capset(header, ctypes.create_string_buffer(struct.pack("<6I", 1, 1, 0, 0, 0, 0))))
    return "gained"


@attempt
def become_another_user(at: Places) -> object:
    os.setuid(os.getuid() + 1)
    return "became"


@attempt
def load_module(at: Places) -> object:
    call(both(175, 105), b"", 0, b"")
    return "loaded"


@attempt
def load_program_into_kernel(at: Places) -> object:
    attributes = struct.pack("<IIIII", 2, 4, 4, 1, 0) + bytes(100)
    os.close(call(both(321, 280), 0, attributes, len(attributes)))
    return "made a map"


@attempt
def watch_kernel(at: Places) -> object:
    os.close(call(both(298, 241), struct.pack("<II", 1, 112) + bytes(104), 0, -1, -1, 0))
    return "watched"


@attempt
def keep_a_key(at: Places) -> object:
    call(both(248, 217), b"user", b"beaker-escape", b"secret", 6, -2)
    return "kept"


@attempt
def share_memory_by_number(at: Places) -> object:
    identity = done(LIBC.shmget(0, 4096, 0o600 | 0o1000))
    LIBC.shmctl(identity, 0, None)
    return "shared"


@attempt
def open_message_queue(at: Places) -> object:
    queue = call(both(240, 180), b"beaker-escape", os.O_CREAT | os.O_RDWR, 0o600, None)
    call(both(241, 181), b"beaker-escape")
    os.close(queue)
    return "opened"


@attempt
def rename_machine(at: Places) -> object:
    name = os.uname().nodename.encode()
    done(LIBC.sethostname(name, len(name)))
    return "renamed"


@attempt
def set_kernel_value(at: Places) -> object:
    with open("/proc/sys/kernel/hostname", "r+", encoding="utf-8") as file:
        file.write(os.uname().nodename)
    return "set"


@attempt
def make_control_group(at: Places) -> object:
    os.mkdir("/sys/fs/cgroup/beaker-escape")
    os.rmdir("/sys/fs/cgroup/beaker-escape")
    return "made"


@attempt
def type_into_terminal(at: Places) -> object:
    _, secondary = os.openpty()
    fcntl.ioctl(secondary, 0x5412, b"x")
    return "typed"


@attempt
def call_in_another_form(at: Places) -> object:
    if os.uname().machine != "x86_64":
        raise OSError("there is no other form")
    return call({"x86_64": 0x40000000 | 41}, 2, 1, 0)


@attempt
def survive_in_new_session(at: Places) -> object:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            Path(at["scratch"], "survivor").write_text(str(os.getpid()))
            while True:
                try:
                    append(at["file"])
                except OSError:
                    time.sleep(0.01)
        os._exit(0)
    noted = Path(at["scratch"], "survivor")
    while not noted.exists() or not noted.read_text():
        time.sleep(0.01)
    return None


def run(name: str, places: Places) -> dict[str, object]:
    """Try one: whether it escaped, and what it says."""
    try:
        escaped = ATTEMPTS[name](places)
    except (OSError, AttributeError) as error:
        return {"escaped": False, "said": repr(error)}
    return {"escaped": escaped is not None, "said": str(escaped)}
