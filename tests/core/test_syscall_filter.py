"""Laws of the filter of calls: what it answers, found by running its program as the kernel does."""

import re
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.syscall_filter import (
    _CALLS,
    _METADATA,
    _NEVER,
    ALLOW,
    ANSWER,
    ENOSYS,
    EPERM,
    KILL,
    MACHINES,
    NEWEST_CALL,
    filter_program,
    packed,
    rules,
)

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
REFUSED, ABSENT = ANSWER | EPERM, ANSWER | ENOSYS
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def _had(calls: Iterable[str]) -> list[tuple[str, str]]:
    """Each machine with each of the calls that it has."""
    return [(machine, call) for index, machine in enumerate(MACHINES) for call in calls if _CALLS[call][index] >= 0]


def answer(
    machine: str,
    call: str | int,
    *arguments: int,
    network: bool = False,
    own_mounts: bool = False,
    architecture: int | None = None,
) -> int:
    """What the program for `machine` answers to one call."""
    number = _CALLS[call][MACHINES.index(machine)] if isinstance(call, str) else call
    found = ARCHITECTURES[machine] if architecture is None else architecture
    padded = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, found, 0, *padded)
    program = filter_program(machine, network=network, own_mounts=own_mounts)
    at, held = 0, 0
    while True:
        code, true, false, operand = program[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", data, operand)
            case 0x54:
                held &= operand
            case 0x15:
                at += true if held == operand else false
            case 0x35:
                at += true if held >= operand else false
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"the kernel knows more instructions than this test: {code:#x}")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("socket", (1, 1), REFUSED),
        ("socket", (2, 1), REFUSED),
        ("socket", (2, 2), REFUSED),
        ("socket", (10, 1), REFUSED),
        ("socket", (16, 3), REFUSED),
        ("socketpair", (1, 1), ALLOW),
        ("socketpair", (1, 1 | 0o2000000), ALLOW),
        ("socketpair", (1, 5), ALLOW),
        ("socketpair", (1, 2), REFUSED),
        ("socketpair", (2, 1), REFUSED),
        ("clone", (0x01200011,), ALLOW),
        ("clone", (0x10000000,), REFUSED),
        ("clone", (0x40000000 | 17,), REFUSED),
        ("clone", (0x00020000,), REFUSED),
        ("clone3", (), ABSENT),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), REFUSED),
        ("ioctl", (0, 0x541C), REFUSED),
        ("fcntl", (0, 1), ALLOW),
        ("fcntl", (0, 1024), REFUSED),
        ("fcntl", (0, 1026), REFUSED),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), REFUSED),
        ("sched_setaffinity", (0,), ALLOW),
        ("sched_setaffinity", (1,), REFUSED),
        ("sched_setscheduler", (1,), REFUSED),
        ("sched_setparam", (1,), REFUSED),
        ("sched_setattr", (1,), REFUSED),
        ("setpriority", (0, 0), ALLOW),
        ("setpriority", (0, 1), REFUSED),
        ("setpriority", (2, 0), REFUSED),
        ("ioprio_set", (1, 0), ALLOW),
        ("ioprio_set", (3, 0), REFUSED),
        ("ioprio_set", (1, 1), REFUSED),
        (NEWEST_CALL + 1, (), ABSENT),
        (0x40000000, (), ABSENT),
        (0xFFFFFFFF, (), ABSENT),
    ],
)
def test_filter__a_call__is_answered_so(
    machine: str, call: str | int, arguments: tuple[int, ...], expected: int
) -> None:
    """Sockets, namespaces, terminals, and what acts on other processes are refused; the same in one's own is not."""
    assert answer(machine, call, *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_filter__network__grants_the_internet_and_no_other_socket(machine: str) -> None:
    """A socket in a folder would reach whatever service listens there as this user."""
    granted = [family for family in range(64) if answer(machine, "socket", family, 1, network=True) == ALLOW]
    assert granted == [2, 10]
    assert answer(machine, "socketpair", 1, 2, network=True) == REFUSED


@pytest.mark.parametrize(("machine", "call"), _had(_NEVER))
def test_filter__what_acts_on_the_kernel_or_on_others__is_never_allowed(machine: str, call: str) -> None:
    """Neither the network nor mounts of its own make a difference, and no argument does."""
    for network in (True, False):
        for own in (True, False):
            assert answer(machine, call, 0, 1, 2, network=network, own_mounts=own) == REFUSED


@pytest.mark.parametrize(("machine", "call"), _had(_METADATA))
def test_filter__modes_and_times__are_left_to_mounts_where_there_are_some(machine: str, call: str) -> None:
    """Without mounts of its own nothing else keeps a process from changing a mode outside."""
    assert answer(machine, call, own_mounts=False) == REFUSED
    assert answer(machine, call, own_mounts=True) == ALLOW


@pytest.mark.parametrize("control", [0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40806685, 0x5000940F])
def test_filter__attributes_by_ioctl__count_as_modes(control: int) -> None:
    """The attributes of a file system can be set through a descriptor that is open for reading."""
    assert answer("x86_64", "ioctl", 3, control) == REFUSED
    assert answer("x86_64", "ioctl", 3, control, own_mounts=True) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_filter__another_architecture__ends_the_process(machine: str) -> None:
    """The numbers of its calls mean something else."""
    assert answer(machine, 0, architecture=0x40000003) == KILL


@given(
    machine=st.sampled_from(MACHINES),
    number=st.integers(0, NEWEST_CALL),
    arguments=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6),
    network=st.booleans(),
    own_mounts=st.booleans(),
)
def test_filter__any_call__is_allowed_unless_a_rule_names_it(
    machine: str, number: int, arguments: list[int], network: bool, own_mounts: bool
) -> None:
    """Every path through the program ends, and what no rule names passes."""
    found = answer(machine, number, *arguments, network=network, own_mounts=own_mounts)
    index = MACHINES.index(machine)
    named = {_CALLS[rule.call][index] for rule in rules(network=network, own_mounts=own_mounts)}
    assert found in (ALLOW, REFUSED, ABSENT)
    assert number in named or found == ALLOW


def test_packed__is_eight_bytes_an_instruction() -> None:
    """Code and operand in the order of the machine, which is little-endian for both."""
    assert packed([(0x15, 1, 2, 0x01020304)]) == b"\x15\x00\x01\x02\x04\x03\x02\x01"
    assert len(filter_program("x86_64", network=False, own_mounts=False)) < 4096


@pytest.mark.parametrize("machine", MACHINES)
def test_calls__numbers__are_those_of_the_kernel(machine: str) -> None:
    """Compared with the headers where they are installed; a call that they do not know yet is passed over."""
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    told = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text(encoding="utf-8"))
    known = {name: int(number) for name, number in told}
    index = MACHINES.index(machine)
    assert {name: numbers[index] for name, numbers in _CALLS.items() if name in known} == {
        name: known[name] for name in _CALLS if name in known
    }
    assert len(_CALLS.keys() & known.keys()) > 60
