"""Commands of a person: the API that they are about, and the login to it.

Every command that needs a login looks for it in the same way: the one to the API that `--base-url` and the like name,
unless it has expired. An API key names an organization, so it takes no place here.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from returns.result import Result

from beaker.cli.access import takes_key
from beaker.cli.place import Answer, Surroundings, answered, given_options, look_around, refuse_needless
from beaker.cli.shell import Io
from beaker.core.credentials import StoredSession, choose_base_url, choose_login
from beaker.core.needless import needless_to_a_person
from beaker.core.problems import Problem, Refused
from beaker.core.values import value
from beaker.files.credential_store import CredentialStore, credential_store

if TYPE_CHECKING:
    from beaker.client.api import Api


@value
class Target:
    """The API that a command is about, and what is known of logins to it. `base_url` is `local` for this machine."""

    base_url: str
    local: bool
    store: CredentialStore
    around: Surroundings

    def login(self, io: Io) -> Result[StoredSession, Problem]:
        """The login to this API, if it lives; BK150 otherwise. `Refused` when the keyring does not give its token."""
        logins = answered(self.store.logins_for(self.base_url))
        return choose_login(logins, self.base_url, now=datetime.fromtimestamp(io.now(), UTC))


class Person:
    """Somebody who is logged in, and the API to which."""

    def __init__(self, api: "Api", session: StoredSession) -> None:
        self.api = api
        self.session = session

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """What the endpoint `name` answers; `Refused` with every problem that it states."""
        return answered(self.api.call(name, **arguments))


def target(arguments: argparse.Namespace, io: Io, *, command: str, around: Surroundings | None = None) -> Target:
    """The API that `command` is about. `Refused` (BK904) for options that have no use for it."""
    person = not takes_key(command)
    if person and (problem := needless_to_a_person(given_options(arguments), command=command)) is not None:
        raise Refused(problem)
    around = look_around(arguments, io) if around is None else around
    configured = around.config.api if around.config is not None else None
    base_url = answered(choose_base_url(arguments.base_url, io.environ, local=arguments.local, configured=configured))
    refuse_needless(arguments, local=base_url.is_local)
    return Target(base_url.url, base_url.is_local, credential_store(io.environ), around)


@contextmanager
def logged_in(arguments: argparse.Namespace, io: Io, target: Target) -> Iterator[Person]:
    """The person who is logged in to `target`; `Refused` (BK150) when nobody is."""
    session = answered(target.login(io))
    with calling(arguments, io, target, session.token) as api:
        yield Person(api, session)


@contextmanager
def calling(arguments: argparse.Namespace, io: Io, target: Target, token: str | None) -> Iterator["Api"]:
    """The API of `target`, called with `token`, or without a credential; closed afterwards."""
    from beaker.cli.requests import over_network
    from beaker.client.api import Api
    from beaker.client.network import HttpTransport

    transport = HttpTransport(target.base_url, token, insecure_http=arguments.insecure_http)
    try:
        yield Api(over_network(transport, io, target.base_url), sleep=io.sleep)
    finally:
        transport.close()
