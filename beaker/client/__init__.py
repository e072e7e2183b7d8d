"""A Beaker API from Python: requests from the endpoint table, transports, transfers.

`BeakerClient` and `BeakerClientError` are the public names; each is imported when it is first asked for.
"""

TYPE_CHECKING = False  # as in `beaker`
if TYPE_CHECKING:
    from beaker.client.errors import BeakerClientError
    from beaker.client.public import BeakerClient

_HOMES = {"BeakerClient": "beaker.client.public", "BeakerClientError": "beaker.client.errors"}

__all__ = ["BeakerClient", "BeakerClientError"]


if not TYPE_CHECKING:  # type checkers know the names from above, and so see a name that does not exist

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if (home := _HOMES.get(name)) is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(home), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
