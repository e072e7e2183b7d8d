"""Chance without a random generator: numbers and orders from a keyed hash of (seed, purpose, counters).

A number depends on nothing but its key, so a replay is exact and no draw depends on the draws before it. Two different
keys never hash the same bytes: a key is written as a JSON list.
"""

import struct
from collections.abc import Iterable
from hashlib import sha256, shake_256

from beaker.core.strict_json import dumps


def below(limit: int, seed: int, purpose: str, *counters: int | str) -> int:
    """A whole number in [0, limit), for a `limit` of at least 1.

    The remainder of a 256-bit number: for the limits that occur here its bias is below 2**-190.
    """
    return int.from_bytes(sha256(_key(seed, purpose, counters)).digest()) % limit


def shuffled(ids: Iterable[str], seed: int, purpose: str, *counters: int | str) -> tuple[str, ...]:
    """Distinct `ids` in a keyed order that does not depend on the order in which they come."""
    return tuple(sorted(ids, key=lambda one: (sha256(_key(seed, purpose, (*counters, one))).digest(), one)))


def words(count: int, seed: int, purpose: str, *counters: int | str) -> tuple[int, ...]:
    """`count` whole numbers in [0, 2**32) from one call of SHAKE-256."""
    return struct.unpack(f"<{count}I", shake_256(_key(seed, purpose, counters)).digest(4 * count))


def _key(seed: int, purpose: str, counters: tuple[int | str, ...]) -> bytes:
    return dumps([seed, purpose, *counters]).encode("ascii")
