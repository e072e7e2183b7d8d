"""Confines the process it runs in, for good, and becomes the command (Linux): the acts of `isolation: sandbox`.

Run as a script in an isolated interpreter; standard library only, and few modules of it, since one starts with every
confined process:

    python -I -S confine.py FILTER NETWORK NAMESPACES COUNT FOLDER ... PROGRAM [ARGUMENT ...]

The words up to the last FOLDER are those of `beaker.core.sandbox.confinement`. What cannot be done ends the process
with status 125 and the reason on standard error: nothing ever runs half confined.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn  # the module itself would take longer to load than all the others

FAILED = 125

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHARED_MEMORY = "/dev/shm"

_LIBC = ctypes.CDLL(None, use_errno=True)

# Landlock: a right is a bit. All of writing is handled; reading and executing are not.
_WRITE_FILE, _MAKE_CHAR, _MAKE_BLOCK, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 6, 1 << 11, 1 << 14, 1 << 15
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 14))  # REMOVE_DIR to MAKE_SYM, and REFER
_ALL_WRITING = _WRITE_FILE | _REMOVE_AND_MAKE | _TRUNCATE | _IOCTL_DEV
_OF_FOLDERS = (_WRITE_FILE | _REMOVE_AND_MAKE | _TRUNCATE) & ~(_MAKE_CHAR | _MAKE_BLOCK)
_OF_DEVICES = _WRITE_FILE | _TRUNCATE
_TCP = 0b11  # bind, connect
_SCOPED = 0b11  # abstract sockets, signals

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x20000, 0x8000000, 0x10000000, 0x40000000
_MS_REC, _MS_PRIVATE, _MS_NOSUID, _MS_NODEV = 0x4000, 0x40000, 2, 4
_AT_FDCWD, _AT_RECURSIVE, _AT_EMPTY_PATH = -100, 0x8000, 0x1000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC, _MOVE_MOUNT_F_EMPTY_PATH = 1, os.O_CLOEXEC, 4
_MOUNT_ATTR_RDONLY = 1
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS = 1, 22, 24, 28
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_SECUREBITS = 0x2F  # being root gives nothing (NOROOT, NO_SETUID_FIXUP, no KEEP_CAPS), and that is locked
_CAPABILITY_VERSION = 0x20080522

_SIGKILL, _SIGPIPE, _SIGXFSZ = 9, 13, 25  # the module that names them takes as long to load as the interpreter


def main() -> NoReturn:
    """Confine this process as the command line says, and become the command."""
    parent = os.getppid()
    program, network, namespaces, count = sys.argv[1:5]
    writable, command = sys.argv[5 : 5 + int(count)], sys.argv[5 + int(count) :]
    try:
        confine(bytes.fromhex(program), writable, network=network == "yes", namespaces=namespaces == "yes")
    except OSError as error:
        _give_up(f"cannot confine the process: {error}")
    _LIBC.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)  # a change of rights may have taken it back
    if os.getppid() != parent:
        os._exit(FAILED)
    for number in (_SIGPIPE, _SIGXFSZ):  # which an interpreter ignores
        _LIBC.signal(number, None)
    try:
        os.execve(command[0], command, os.environ)
    except OSError as error:
        _give_up(f"cannot start the command: {error.strerror}")


def confine(program: bytes, writable: list[str], *, network: bool, namespaces: bool) -> None:
    """Confine this process and all that it will start; `OSError` when any part of it fails. `program` is the filter."""
    if namespaces:
        _own_namespaces(writable, network=network)
    _drop_capabilities()
    _checked(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _restrict_files(writable, network=network, shared_memory=namespaces)
    _filter_calls(program)


def landlock_version() -> int:
    """The version of the kernel's Landlock, 0 for none."""
    return max(0, int(_LIBC.syscall(_SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)))


def _own_namespaces(writable: list[str], *, network: bool) -> None:
    """Have mounts of its own, all read-only but `writable`, shared memory, and unless it is granted a network."""
    user, group = os.getuid(), os.getgid()
    flags = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWIPC | (0 if network else _CLONE_NEWNET)
    _checked(_LIBC.unshare(flags), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    _checked(_LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None), "mount")
    trees = [(_tree(folder), folder) for folder in writable]
    attributes = struct.pack("<QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    _checked(
        _LIBC.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, ctypes.c_size_t(32)),
        "mount_setattr",
    )
    for tree, folder in trees:
        moved = _LIBC.syscall(_SYS_MOVE_MOUNT, tree, b"", _AT_FDCWD, os.fsencode(folder), _MOVE_MOUNT_F_EMPTY_PATH)
        _checked(moved, f"move_mount {folder}")
        os.close(tree)
    if _has_own_shared_memory(writable):
        options = _MS_NOSUID | _MS_NODEV
        _checked(_LIBC.mount(b"tmpfs", SHARED_MEMORY.encode(), b"tmpfs", options, b"mode=1777"), "mount tmpfs")
    os.chdir(os.getcwd())  # the same place, in the mounts of its own


def _has_own_shared_memory(needed: list[str]) -> bool:
    places = [os.path.realpath(place) for place in (*needed, os.getcwd(), sys.prefix)]
    return os.path.isdir(SHARED_MEMORY) and not any(f"{place}/".startswith(f"{SHARED_MEMORY}/") for place in places)


def _tree(folder: str) -> int:
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC
    return _checked(_LIBC.syscall(_SYS_OPEN_TREE, _AT_FDCWD, os.fsencode(folder), flags), f"open_tree {folder}")


def _drop_capabilities() -> None:
    """Hold no capability, and get none back by being root or starting a program; without any there is none to drop."""
    _LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _LIBC.prctl(_PR_SET_SECUREBITS, _SECUREBITS, 0, 0, 0)
    for capability in range(64):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION, 0))
    _checked(_LIBC.capset(header, ctypes.create_string_buffer(bytes(24))), "capset")


def _restrict_files(writable: list[str], *, network: bool, shared_memory: bool) -> None:
    handled = struct.pack("<QQQ", _ALL_WRITING, 0 if network else _TCP, _SCOPED)
    rules = _checked(_LIBC.syscall(_SYS_LANDLOCK_CREATE, handled, ctypes.c_size_t(len(handled)), 0), "landlock")
    for folder in writable:
        _allow(rules, folder, _OF_FOLDERS)
    if shared_memory and _has_own_shared_memory(writable):
        _allow(rules, SHARED_MEMORY, _OF_FOLDERS)
    for device in filter(os.path.exists, DEVICES):
        _allow(rules, device, _OF_DEVICES)
    _checked(_LIBC.syscall(_SYS_LANDLOCK_RESTRICT, rules, 0), "landlock_restrict_self")
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("<Qi", rights, place)
    _checked(_LIBC.syscall(_SYS_LANDLOCK_ADD, rules, 1, rule, 0), f"landlock_add_rule {path}")
    os.close(place)


def _filter_calls(program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    given = Program(len(program) // 8, program)
    _checked(_LIBC.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(given), 0, 0), "seccomp")


def _checked(answer: int, what: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return answer


def _give_up(reason: str) -> NoReturn:
    os.write(2, f"{reason}\n".encode(errors="backslashreplace"))
    os._exit(FAILED)


if __name__ == "__main__":
    main()
