"""Executing one command of the search: evaluations and proposals, stored before they are reported."""

from collections.abc import Callable
from typing import Any

from beaker.core.convert import to_json
from beaker.core.prices import Prices
from beaker.core.search import Evaluate, Evaluated, Propose, Proposed, SearchState, lineage
from beaker.core.strict_json import JsonObject
from beaker.core.targets import declaration_json
from beaker.core.usage import judge_usage_of, spend_of, usage_of
from beaker.engine.candidates import tree_digest
from beaker.engine.cleaning import Clean
from beaker.engine.evaluator import Evaluator
from beaker.engine.evidence import Evidence, Standing, build_evidence
from beaker.engine.journal import Journal
from beaker.engine.proposal import ProposalRequest, Proposer, artifact_files, proposal_record
from beaker.engine.setting_up import Opened


class Executor:
    """Executes the commands of one search.

    `stored` is told of each proposal that was stored; `clean` is for what proposers are shown. `prices` turn what was
    used into money.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        journal: Journal,
        evaluator: Evaluator,
        proposer: Proposer,
        stored: Callable[[], None],
        clean: Clean,
        prices: Prices,
    ) -> None:
        self._prices = prices
        self._targets: Any = declaration_json(opened.targets)
        self._read_only = sorted(f"{seed.group}/{seed.name}" for seed in opened.seeds if not seed.editable)
        # Only TRAIN: a TEST case cannot be looked up here, so it cannot get into evidence.
        self._train = {case.id: case for case in opened.train}
        self._journal = journal
        self._evaluator = evaluator
        self._proposer = proposer
        self._stored = stored
        self._clean = clean

    async def execute(self, state: SearchState, command: Evaluate | Propose) -> Evaluated | Proposed:
        """Do what `command` asks for, or take what was stored of it; see `driving.Execute`."""
        if isinstance(command, Evaluate):
            return await self._evaluate(command)
        record = self._journal.proposal(command.seq)
        if record is None:
            record = await self._propose(state, command)
        return _proposed(command.seq, record, self._prices)

    async def _evaluate(self, command: Evaluate) -> Evaluated:
        found = await self._evaluator.evaluate(command.tree, command.case_ids, held_out=command.purpose == "test")
        objectives = tuple((case_id, found[case_id].objective) for case_id in command.case_ids)
        traces = [found[case_id].trace for case_id in command.case_ids]
        used = (usage for trace in traces for usage in (*usage_of(trace), *judge_usage_of(trace)))
        return Evaluated(command.seq, objectives, spend_of(used, self._prices))

    async def _propose(self, state: SearchState, command: Propose) -> JsonObject:
        proposal = await self._proposer.propose(
            ProposalRequest(
                number=command.proposal,
                seed=command.seed,
                parent=self._journal.tree(command.parent_tree),
                evidence=self._evidence(state, command),
            )
        )
        if proposal.tree is not None:
            self._journal.store_tree(tree_digest(proposal.tree), proposal.tree)
        record = proposal_record(command.proposal, proposal)
        self._journal.store_proposal(command.seq, record, artifact_files(proposal).values())
        self._stored()
        return record

    def _evidence(self, state: SearchState, command: Propose) -> Evidence:
        """What the command says may be shown, and nothing that came after it."""
        return build_evidence(
            Standing(
                parent=command.parent,
                objective=state.train_objective(command.parent),
                history=tuple(to_json(trial) for trial in lineage(state, command.parent, seen=command.seen)),
                rollouts_left=command.rollouts_left,
                proposals_left=state.settings.max_proposals - command.proposal,
            ),
            targets=self._targets,
            read_only=self._read_only,
            cases=self._train,
            minibatch=command.minibatch,
            others=command.evidence,
            evaluations=self._journal.evaluations(command.parent_tree, (*command.minibatch, *command.evidence)),
            clean=self._clean,
        )


def _proposed(seq: int, record: JsonObject, prices: Prices) -> Proposed:
    # A record may come from an earlier build, which kept less.
    tree, changed = record.get("tree"), record.get("changed")
    return Proposed(
        seq=seq,
        outcome=str(record["outcome"]),
        tree=None if tree is None else str(tree),
        message=str(record.get("message", "")),
        changed=tuple(map(str, changed)) if isinstance(changed, list) else (),
        spend=spend_of(usage_of(record), prices),
    )
