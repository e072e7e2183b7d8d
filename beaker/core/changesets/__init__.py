"""Change sets: from a candidate's documents to conditional operations, and from those to a store's new state.

`derive` makes a set from seeds and a candidate; `plan` judges it against the documents a store holds now; `apply` gives
the new state, all or nothing; `invert` makes the set that leads back. A document is found by its place `(group, name)`;
`source_id` and `version` belong to the store and are only compared where `plan` says so.
"""

from beaker.core.changesets.application import apply as apply
from beaker.core.changesets.application import invert as invert
from beaker.core.changesets.codec import FORMAT as FORMAT
from beaker.core.changesets.codec import change_set_from_json as change_set_from_json
from beaker.core.changesets.codec import change_set_to_json as change_set_to_json
from beaker.core.changesets.derivation import derive as derive
from beaker.core.changesets.diff import render_diff as render_diff
from beaker.core.changesets.planning import ChangePlan as ChangePlan
from beaker.core.changesets.planning import Conflict as Conflict
from beaker.core.changesets.planning import Outcome as Outcome
from beaker.core.changesets.planning import PlannedChange as PlannedChange
from beaker.core.changesets.planning import plan as plan
