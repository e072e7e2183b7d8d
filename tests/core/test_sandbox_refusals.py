"""What a failed case says where the sandbox may have refused what it did."""

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.sandbox_refusals import Confinement, OsFault, confinement_of, refused_perhaps, sandbox_hint

PLAIN = "it broke; the sandbox may have refused this (`isolation: sandbox`)"
SOCKETS = "it broke; the sandbox may have refused this (`isolation: sandbox`; sockets take `sandbox_network: true`)"


@pytest.mark.parametrize(
    ("fault", "offline", "online"),
    [
        (OsFault(errno.EPERM), SOCKETS, PLAIN),
        (OsFault(errno.EACCES), SOCKETS, PLAIN),
        (OsFault(errno.EPERM, True), PLAIN, PLAIN),
        (OsFault(errno.EACCES, True), PLAIN, PLAIN),
        (OsFault(errno.EROFS), PLAIN, PLAIN),
        (OsFault(errno.EROFS, True), PLAIN, PLAIN),
        (OsFault(-3, False, True), SOCKETS, "it broke"),
        (OsFault(errno.EPERM, False, True), SOCKETS, "it broke"),
        (OsFault(errno.ENOENT, True), "it broke", "it broke"),
        (OsFault(errno.ECONNREFUSED), "it broke", "it broke"),
        (OsFault(None), "it broke", "it broke"),
    ],
)
def test_refused_perhaps__names_the_sandbox_for_denials_alone(fault: OsFault, offline: str, online: str) -> None:
    """A denial names `isolation`, one that may be of a socket the network too, unless that was granted."""
    assert refused_perhaps("it broke", [fault], "offline") == offline
    assert refused_perhaps("it broke", [fault], "online") == online


@given(st.lists(st.builds(OsFault, st.sampled_from([None, -3, *errno.errorcode]), st.booleans(), st.booleans())))
def test_refused_perhaps__process_without_a_sandbox__says_nothing(faults: list[OsFault]) -> None:
    """Where nothing is confined the message stays as it is."""
    assert refused_perhaps("it broke", faults, None) == "it broke"


@pytest.mark.parametrize("confinement", ["offline", "online"])
def test_refused_perhaps__several_faults__tells_of_the_first_denial(confinement: Confinement) -> None:
    """What something else was raised from counts, and is told once."""
    faults = [OsFault(errno.ENOENT), OsFault(errno.EROFS), OsFault(errno.EPERM)]
    assert refused_perhaps("it broke", faults, confinement) == PLAIN
    assert refused_perhaps("it broke", [], confinement) == "it broke"


def test_confinement_of__is_what_the_network_is() -> None:
    """Granted is online."""
    assert (confinement_of(network=True), confinement_of(network=False)) == ("online", "offline")


def test_sandbox_hint__is_for_what_names_the_sandbox() -> None:
    """The usual advice for a case would be wrong there; other messages keep it."""
    for message in (PLAIN, SOCKETS):
        hint = sandbox_hint(message)
        assert hint is not None
        assert all(name in hint for name in ("scratch_dir", "TMPDIR", "`sandbox_network`", "`isolation: process`"))
    assert sandbox_hint(f"PermissionError: {os.strerror(errno.EPERM)}") is None
