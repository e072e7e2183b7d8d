"""The proposer that the settings of a run name."""

from beaker.core.proposer_settings import REFLECTION
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import Clean
from beaker.engine.plan import RunPlan
from beaker.engine.proposal import Proposer
from beaker.engine.proposers.command import command_proposer
from beaker.engine.proposers.reflection import reflection_proposer
from beaker.engine.proposers.secretless import SecretlessProposer
from beaker.engine.setting_up import Opened
from beaker.runtime.supervisor import Supervisor


def choose_proposer(
    plan: RunPlan, supervisor: Supervisor, checkouts: Checkouts, *, opened: Opened, clean: Clean
) -> Proposer:
    """Make it; nothing of it runs before it is asked."""
    made: Proposer
    if plan.settings.optimizer.proposer == REFLECTION:
        made = reflection_proposer(plan, checkouts, opened=opened, clean=clean)
    else:
        made = command_proposer(plan, supervisor, checkouts, opened=opened, clean=clean)
    return SecretlessProposer(made, plan.credentials_out, checkouts.file)
