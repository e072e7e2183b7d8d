"""Whether a client and a service fit: the rule as a table, and its laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.versions import (
    CLIENT_HEADER,
    MAX_CHARACTERS,
    SERVICE_HEADER,
    Fit,
    client_misfit,
    fit_of,
    service_misfit,
)

NUMBERS = st.integers(0, 9999)


@pytest.mark.parametrize(
    ("client", "service", "fit"),
    [
        ("0.6.5", "0.6.5", "fits"),
        ("0.6.5", "0.6.0", "fits"),
        ("0.6.5", "0.7.0", "fits"),
        ("0.6.5", "0.7", "fits"),
        ("0.6", "0.6.5rc1+local.2", "fits"),
        ("0.6.5", "0.8.0", "client older"),
        ("0.6.5", "0.60.0", "client older"),
        ("0.6.5", "1.0.0", "client older"),
        ("0.6.5", "1.6.5", "client older"),
        ("0.6.5", "1.7.0", "client older"),
        ("0.6.5", "0.5.9", "service older"),
        ("1.0.0", "0.9.9", "service older"),
        ("1.6.0", "0.6.0", "service older"),
        ("1.6.0", "0.7.0", "service older"),
        ("0.6.5", "", None),
        ("0.6.5", "7", None),
        ("0.6.5", "0.6.5 beta", None),
        ("0.6.5", "v0.6.5", None),
        ("0.6.5", "0.6.5\n", None),
        ("0.6.5", "0.60000.0", None),
        ("0.6.5", "60000.6.0", None),
        ("0.6.5", "0.٦.5", None),
        ("0.6.5", "0.6." + "1" * (MAX_CHARACTERS - 4), "fits"),
        ("0.6.5", "0.6." + "1" * (MAX_CHARACTERS - 3), None),
        ("unreadable", "0.6.5", None),
    ],
)
def test_fit__table(client: str, service: str, fit: Fit | None) -> None:
    """The same minor version, or a service one ahead; what cannot be read is judged by nobody."""
    assert fit_of(client, service) == fit


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS), st.integers(0, 99), st.integers(0, 99))
def test_fit__older__is_the_one_that_comes_first(
    client: tuple[int, int], service: tuple[int, int], patch: int, other: int
) -> None:
    """Patches never count; who is named older is older, and it is never both."""
    fit = fit_of("{}.{}".format(*client) + f".{patch}", "{}.{}".format(*service) + f".{other}")
    if fit == "client older":
        assert client < service
    elif fit == "service older":
        assert service < client
    else:
        assert client[0] == service[0]
        assert service[1] in (client[1], client[1] + 1)


def test_misfit__either_side__says_what_to_do() -> None:
    """A warning names both versions and who has to move; a service that fits or says nothing gets none."""
    older = client_misfit("0.6.5", "0.8.1")
    assert older is not None
    assert (older.code, older.where, older.hint) == ("BK830", "", "install Beaker 0.8.1 here")
    assert older.message == ("the service is version 0.8.1, this is 0.6.5: it may answer what is not understood here")
    newer = client_misfit("0.6.5", "0.4.9")
    assert newer is not None
    assert (newer.code, newer.where) == ("BK831", "")
    assert newer.message == "the service is version 0.4.9, this is 0.6.5: it may not know what is asked"
    assert newer.hint == "tell whoever runs it, or use Beaker 0.4.9 with it"
    assert client_misfit("0.6.5", "0.6.9") is client_misfit("0.6.5", None) is client_misfit("0.6.5", "nginx") is None


def test_service_misfit__either_side__names_both_versions() -> None:
    """What a service notes of a client says which side may fail; nothing of one that fits or is silent."""
    asks = "a client of version {} asks this service of version 0.6.5"
    assert service_misfit("0.6.5", "0.4.9") == asks.format("0.4.9") + ", which it may not understand"
    assert service_misfit("0.6.5", "0.7.0") == asks.format("0.7.0") + " for what it may not know"
    assert service_misfit("0.6.5", "0.5.0") is service_misfit("0.6.5", None) is service_misfit("0.6.5", "curl") is None


def test_headers__are_those_of_the_documentation() -> None:
    """Names of headers travel in lower case here, as everywhere in a request."""
    assert (CLIENT_HEADER, SERVICE_HEADER) == ("x-beaker-client-version", "x-beaker-service-version")
