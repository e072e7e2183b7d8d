"""Which calls of the Linux kernel a confined process may make, and the program (seccomp, classic BPF) that says so.

What files may be written is not decided here: the kernel's Landlock and read-only mounts do that by path. The filter
closes what they leave open: sockets, what acts on other processes of the same user, on the kernel or on its keys, and
where the process has no mounts of its own, changes of modes, owners, times and attributes, which no rule about paths
covers.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping

from beaker.core.values import ReadOnlyDict, value

MACHINES = ("x86_64", "aarch64")
"""The processors whose calls are known here, as `uname -m` names them."""

NEWEST_CALL = 469
"""The last call known here, the same for both; what a newer kernel has beyond is answered as if it were not there."""

EPERM, ENOSYS = 1, 38

ALLOW, ANSWER, KILL = 0x7FFF0000, 0x00050000, 0x80000000

Instruction = tuple[int, int, int, int]
"""Code, jump when true, jump when false, operand."""

_ARCHITECTURES: Mapping[str, int] = ReadOnlyDict({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})

_ABSENT = -1

_CALLS: Mapping[str, tuple[int, int]] = ReadOnlyDict({
    "socket": (41, 198), "socketpair": (53, 199),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268), "clone": (56, 220), "clone3": (435, 435),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "iopl": (172, _ABSENT), "ioperm": (173, _ABSENT),
    "open_by_handle_at": (304, 265), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "fanotify_init": (300, 262), "vhangup": (153, 58),
    "prlimit64": (302, 261), "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "ioctl": (16, 29), "fcntl": (72, 25),
    "chmod": (90, _ABSENT), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, _ABSENT),
    "fchown": (93, 55), "lchown": (94, _ABSENT), "fchownat": (260, 54), "utime": (132, _ABSENT),
    "utimes": (235, _ABSENT), "futimesat": (261, _ABSENT), "utimensat": (280, 88), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466), "file_setattr": (469, 469),
})  # fmt: skip
"""The numbers of a call, one for each of `MACHINES`."""

_NEVER = (
    "io_uring_setup", "io_uring_enter", "io_uring_register", "ptrace", "process_vm_readv", "process_vm_writev",
    "pidfd_getfd", "kcmp", "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "bpf", "perf_event_open",
    "userfaultfd", "settimeofday", "clock_settime", "sethostname", "setdomainname", "syslog", "acct", "quotactl",
    "quotactl_fd", "iopl", "ioperm", "open_by_handle_at", "add_key", "request_key", "keyctl", "mq_open", "mq_unlink",
    "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
    "fanotify_init", "vhangup", "migrate_pages", "move_pages",
)  # fmt: skip

_METADATA = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat",
    "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
    "removexattrat", "file_setattr",
)  # fmt: skip
"""Calls that change a file without writing to it."""

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE = 1, 5, 0xF

_NEW_NAMESPACES = 0x7E020000
"""Every CLONE_NEW flag that `clone` knows."""

_TERMINAL_CONTROLS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: what types into a terminal."""

_FILE_SYSTEM_CONTROLS, _CONTROL_TYPE = (0x6600, 0x7600, 0x5800, 0x9400), 0xFF00
"""The types (f, v, X and that of Btrfs) of controls of file systems, some of which change a file through a descriptor
that is open for reading: its flags, its version, or that it can never be written again (FS_IOC_ENABLE_VERITY)."""

_FILE_CONTROLS = (1024, 1026)
"""F_SETLEASE and F_NOTIFY: a lease, for which reading is enough, holds up whoever writes the file."""

_WHOLE = 0xFFFFFFFF


@value
class Test:
    """What the low half of one argument must be: after `mask`, `among` these values, or not."""

    argument: int
    values: tuple[int, ...]
    mask: int = _WHOLE
    among: bool = True


@value
class Rule:
    """A call that is allowed only when every test holds (without tests: never), else answered with `error`."""

    call: str
    tests: tuple[Test, ...] = ()
    error: int = EPERM


def rules(*, network: bool, own_mounts: bool) -> tuple[Rule, ...]:
    """What is forbidden. `network` allows sockets of the internet; `own_mounts` says that everything outside the
    writable folders is mounted read-only, so that modes, times and attributes need no rule."""
    itself = Test(0, (0,))
    sockets = (Test(0, (AF_INET, AF_INET6)),) if network else ()
    # A pair of streams is bound to itself; a pair of datagrams could be sent elsewhere.
    pairs = (Test(0, (AF_UNIX,)), Test(1, (_SOCK_STREAM, _SOCK_SEQPACKET), mask=_SOCK_TYPE))
    controls = Test(1, _TERMINAL_CONTROLS, among=False)
    of_files = () if own_mounts else (Test(1, _FILE_SYSTEM_CONTROLS, mask=_CONTROL_TYPE, among=False),)
    return (
        Rule("socket", sockets),
        Rule("socketpair", pairs),
        Rule("clone", (Test(0, (0,), mask=_NEW_NAMESPACES),)),
        Rule("clone3", error=ENOSYS),  # its flags are out of sight; libraries fall back to `clone`
        Rule("ioctl", (controls, *of_files)),
        Rule("fcntl", (Test(1, _FILE_CONTROLS, among=False),)),
        *(Rule(call, (itself,)) for call in ("prlimit64", "sched_setaffinity", "sched_setscheduler")),
        *(Rule(call, (itself,)) for call in ("sched_setparam", "sched_setattr")),
        Rule("setpriority", (itself, Test(1, (0,)))),
        Rule("ioprio_set", (Test(0, (1,)), Test(1, (0,)))),
        *map(Rule, _NEVER),
        *(() if own_mounts else map(Rule, _METADATA)),
    )


def filter_program(machine: str, *, network: bool, own_mounts: bool) -> tuple[Instruction, ...]:
    """The program for one of `MACHINES`. Calls in the form of another architecture end the process."""
    architecture = _ARCHITECTURES[machine]
    index = MACHINES.index(machine)
    instructions: list[Instruction] = [
        _load(4),
        _jump_if(architecture, 1, 0),
        _return(KILL),
        _load(0),
        (0x35, 0, 1, NEWEST_CALL + 1),
        _return(ANSWER | ENOSYS),
    ]
    for rule in rules(network=network, own_mounts=own_mounts):
        number = _CALLS[rule.call][index]
        if number != _ABSENT:
            body = tuple(_body(rule))
            instructions += [_jump_if(number, 0, len(body)), *body]
    return (*instructions, _return(ALLOW))


def packed(program: Iterable[Instruction]) -> bytes:
    """A program as the kernel reads it, eight bytes an instruction."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _body(rule: Rule) -> Iterator[Instruction]:
    refusal = _return(ANSWER | rule.error)
    for test in rule.tests:
        yield _load(16 + 8 * test.argument)
        if test.mask != _WHOLE:
            yield (0x54, 0, 0, test.mask)
        for position, number in enumerate(test.values):
            if test.among:
                yield _jump_if(number, len(test.values) - position, 0)
            else:
                yield from (_jump_if(number, 0, 1), refusal)
        if test.among:
            yield refusal
    yield _return(ALLOW) if rule.tests else refusal


def _load(offset: int) -> Instruction:
    return 0x20, 0, 0, offset


def _jump_if(number: int, true: int, false: int) -> Instruction:
    return 0x15, true, false, number


def _return(answer: int) -> Instruction:
    return 0x06, 0, 0, answer
