"""Launches with an idempotency key: however often and in whatever order they arrive, there is one run."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, local
from typing import Any

import attrs
import pytest

from beaker.core.api import Request, Response, build_request
from beaker.service.handle import handle
from beaker.service.place import open_place
from beaker.service.ports import Caller

CONFIG = {"harness_optimization": {"command": ["python", "{project}/propose.py"]}, "max_concurrency": 2}
THREADS = 8


@pytest.fixture
def at_once(world: Any) -> Iterator[Callable[[list[Request]], list[Response]]]:
    """Lets the service answer requests from several threads, each with its own connection to the store."""
    mine = local()
    ids = iter(range(1_000_000))

    def answered(request: Request) -> Response:
        if not hasattr(mine, "ports"):
            place = open_place(world.place.state_dir)
            mine.ports = attrs.evolve(
                world.ports,
                database=place.database,
                blobs=place.blobs,
                new_id=lambda prefix: f"{prefix}_{next(ids)}",
            )
        return handle(request, Caller("local"), mine.ports)

    with ThreadPoolExecutor(THREADS) as threads:
        yield lambda requests: [*threads.map(answered, requests)]
        all_there = Barrier(THREADS, timeout=20)

        def close(_: int) -> None:
            all_there.wait()  # so that each thread closes its own
            if hasattr(mine, "ports"):
                mine.ports.database.close()

        [*threads.map(close, range(THREADS))]


def launch(key: str | None, **changes: Any) -> Request:
    """A launch of the dataset `inv`."""
    arguments = {"config": CONFIG, "dataset_ref": "inv"} | changes
    return build_request("create_optimization_run", arguments, agent_key="local", idempotency_key=key).unwrap()


def reordered(request: Request, chance: random.Random) -> Request:
    """The same request, its keys in another order."""
    return attrs.evolve(request, body=json.dumps(shuffled(json.loads(request.body or b""), chance)).encode())


def shuffled(body: Any, chance: random.Random) -> Any:
    """The same JSON object, its keys in another order at every depth."""
    if not isinstance(body, dict):
        return body
    keys = [*body]
    chance.shuffle(keys)
    return {key: shuffled(body[key], chance) for key in keys}


def runs(world: Any) -> int:
    """How many runs there are."""
    total = world.api.call("list_optimization_runs").unwrap()["total"]
    assert isinstance(total, int)
    return total


def test_launch__a_thousand_times_with_one_key__makes_one_run(world: Any, at_once: Any) -> None:
    """All of them concurrent, spelled in every order: each is told of the same run, and one worker was started."""
    world.dataset()
    chance = random.Random(7)
    answers = at_once([reordered(launch("nightly"), chance) for _ in range(1000)])
    assert {json.loads(answer.body)["id"] for answer in answers} == {world.workers.started[0][0]}
    assert Counter(answer.status for answer in answers) == {201: 1, 200: 999}
    assert (runs(world), len(world.workers.started)) == (1, 1)


def test_launch__other_bodies_with_the_key__are_refused(world: Any, at_once: Any) -> None:
    """Whichever arrives first makes the run; what differs from it is told so, and makes none."""
    world.dataset()
    others = ({"config": {**CONFIG, "max_concurrency": 3}}, {"trigger_metadata": {"a": 1}}, {})
    answers = at_once([launch("nightly", **others[number % 3]) for number in range(60)])
    ids = {json.loads(answer.body)["id"] for answer in answers if answer.status < 300}
    assert (len(ids), runs(world), len(world.workers.started)) == (1, 1, 1)
    assert Counter(answer.status for answer in answers) == {201: 1, 200: 19, 409: 40}
    assert {json.loads(answer.body)["detail"]["code"] for answer in answers if answer.status == 409} == {"BK454"}


def test_launch__without_a_key_or_with_another__makes_a_run_each(world: Any, at_once: Any) -> None:
    """Nothing is held together that was not asked to be."""
    world.dataset()
    at_once([launch(None), launch(None), launch("a"), launch("b"), launch("a")])
    assert runs(world) == 4


def test_launch__refused_with_a_key__may_be_put_right(world: Any, at_once: Any) -> None:
    """A launch that made no run takes no key; another agent's key is another key."""
    assert at_once([launch("k")])[0].status == 422
    world.dataset()
    assert [answer.status for answer in at_once([launch("k")])] == [201]
    assert [answer.status for answer in at_once([launch("k", config={**CONFIG, "seed": 1})])] == [409]
    assert at_once([launch("k", agent_key="other")])[0].status == 422
    assert runs(world) == 1
