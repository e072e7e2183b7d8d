"""Runs as they are answered: one shape for launching, looking, listing and cancelling."""

from typing import Any

from beaker.core.strict_json import JsonObject, canonical
from beaker.service.database import Database
from beaker.service.result_table import evaluation_counts, stored_facts
from beaker.service.run_table import RunRecord

# No run has that many candidates, and Python does not read numbers of any length.
_MOST_DIGITS = 15


def candidate_id(run_id: str, number: int) -> str:
    """The id of the candidate with this number (the baseline is 0) of a run."""
    return f"{run_id}.{number}"


def read_candidate_id(text: str) -> tuple[str, int] | None:
    """The run and the number that a candidate id stands for, `None` when it is none."""
    run_id, _, number = text.rpartition(".")
    known = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    return (run_id, int(number)) if run_id and known else None


def run_json(database: Database, run: RunRecord) -> JsonObject:
    """A run as it is answered; `docs/schemas/run.json` describes it."""
    facts = stored_facts(
        database, run.id, "settings", "targets_imported", "selection", "rollouts_retried", "rollouts_lost"
    )
    settings = {**run.settings, **_object(facts.get("settings"))}
    imported = facts.get("targets_imported")
    targets = run.targets if run.targets is not None else imported
    mismatch = imported is not None and canonical(imported) != canonical(targets)
    return {
        "id": run.id,
        "status": run.status,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "finish_reason": run.finish_reason,
        "error_message": run.error_message,
        "github_source": {
            "repository": run.repository,
            "ref": run.ref,
            "commit": run.commit_id,
            _entry_key(run): run.integration_id,
        },
        "config": {**run.config, "github_ref": run.ref},
        "trigger_metadata": run.trigger_metadata,
        "dataset": run.dataset,
        "targets": targets,
        **({"targets_imported": imported} if mismatch else {}),
        "settings": settings,
        "attempts": run.attempts,
        "warnings": run.warnings,
        "progress": _progress(run, settings, facts, evaluation_counts(database, run.id)),
        "selection": facts.get("selection"),
        "result": run.result,
        # No place of ours has pages; null says so to whoever would guess where they are.
        "web_url": None,
    }


def _entry_key(run: RunRecord) -> str:
    """What the run's entry is called by the launch that names it: runs before there were Specs are of integrations."""
    return "integration_id" if run.entry.get("section", "integrations") == "integrations" else "spec_id"


def _progress(run: RunRecord, settings: JsonObject, facts: JsonObject, counts: tuple[int, int]) -> JsonObject:
    known = run.progress or {}
    optimizer = _object(settings.get("harness_optimization"))
    rollouts, proposals, best = (_object(known.get(part)) for part in ("rollouts", "proposals", "best"))
    done, failed = counts
    return {
        "rollouts": {
            "issued": rollouts.get("issued", 0),
            "done": done,
            "failed": failed,
            "retried": facts.get("rollouts_retried", 0),
            "lost": facts.get("rollouts_lost", 0),
            "limit": rollouts.get("limit", optimizer.get("max_rollouts")),
        },
        "proposals": {
            "made": proposals.get("made", 0),
            "accepted": proposals.get("accepted", 0),
            "rejected": proposals.get("rejected", 0),
            "failed": proposals.get("failed", 0),
            "limit": proposals.get("limit", optimizer.get("max_proposals")),
            "outcomes": proposals.get("outcomes", {}),
            "last_failed": proposals.get("last_failed"),
        },
        "best": {"candidate_id": candidate_id(run.id, best["candidate"]), "train": best.get("train")} if best else None,
        # Null where no call of a model was recorded or one had no price: 0 would claim that it cost nothing.
        "spend_usd": _object(known.get("spend")).get("usd"),
        "tokens": _object(known.get("spend")).get("tokens"),
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
