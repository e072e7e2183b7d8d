"""Launching a run: once per idempotency key, and only what passes every gate."""

from dataclasses import replace

from returns.pipeline import is_successful

from beaker.core.api import Response
from beaker.core.convert import to_json
from beaker.core.optimizer import settings_to_json
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject, digest
from beaker.service.agent_table import keep_agent
from beaker.service.answers import run_json
from beaker.service.gates import Pinned, pin
from beaker.service.ports import Call, answer, refuse, timestamp
from beaker.service.run_table import RunRecord, find_run, insert_run, keep_launch, launched_before


def create_optimization_run(call: Call) -> Response:
    """Queue a run and start its worker; a repeated key gives the run that the first launch created."""
    ports = call.ports
    asked = digest({**call.arguments})
    if (repeated := _launched_before(call, asked)) is not None:
        return repeated
    pinned = pin(call)
    if not is_successful(pinned):
        return refuse(422, pinned.failure())
    call = replace(call, agent=keep_agent(ports.database, call.the_agent()))
    run = _new_run(call, pinned.unwrap())
    with ports.database.transaction():
        # Another process may have launched with the same key while the gates were passed here.
        repeated = _launched_before(call, asked)
        if repeated is None:
            insert_run(ports.database, run)
            if call.idempotency_key is not None:
                agent_id = call.the_agent().id
                keep_launch(ports.database, agent_id, call.idempotency_key, body_digest=asked, run_id=run.id)
    if repeated is not None:
        return repeated
    ports.workers.start(run.id, ports.granted(pinned.unwrap().entry.required_env, call.the_agent().key).values)
    return answer(_answered(call, run.id), status=201)


def _launched_before(call: Call, asked: str) -> Response | None:
    """The answer to a launch whose key was used before."""
    key = call.idempotency_key
    before = None if key is None else launched_before(call.ports.database, call.the_agent().id, key)
    if before is None:
        return None
    body_digest, run_id = before
    if body_digest != asked:
        hint = "use a new key for a new launch"
        message = f"the idempotency key {key!r} stands for another launch, which made the run {run_id}"
        return refuse(409, Problem("BK454", message, hint=hint))
    return answer(_answered(call, run_id))


def _answered(call: Call, run_id: str) -> JsonObject:
    run = find_run(call.ports.database, run_id)
    assert run is not None
    return run_json(call.ports.database, run)


def _new_run(call: Call, pinned: Pinned) -> RunRecord:
    ports, dataset = call.ports, pinned.dataset
    counts = dataset.row_counts or {}
    return RunRecord(
        id=ports.new_id("run"),
        agent_id=call.the_agent().id,
        status="QUEUED",
        created_at=timestamp(ports.now()),
        repository=ports.repository.name(),
        checkout=ports.repository.checkout(),
        ref=pinned.ref,
        commit_id=pinned.commit_id,
        source=pinned.source,
        integration_id=pinned.entry.id,
        entry=to_json(pinned.entry),
        dataset_id=dataset.id,
        dataset={
            "name": dataset.name,
            "revision": dataset.revision,
            "split_row_counts": {split: counts[split] for split in ("train", "test")},
        },
        targets=pinned.targets,
        config=call.arguments["config"],
        settings=settings_to_json(pinned.settings),
        trigger_metadata=call.arguments["trigger_metadata"],
        warnings=to_json(list(pinned.warnings)),
    )
