"""A value that is kept for an agent, in a whole run: who gets it, and where it is left."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

KEPT, CALLERS = "kept-sesame-5512", "callers-sesame-9920"


def test_kept_value__whole_run__reaches_the_integration_alone(laboratory: Callable[..., Any]) -> None:
    """Setup, rollouts and scoring get the kept value, a proposer the caller's; neither is stored in the clear, but for
    the file of values itself."""
    lab = laboratory(train=4, test=2)
    config = (lab.project / ".beaker/beaker.yaml").read_text()
    lab.write(".beaker/beaker.yaml", config.replace("[LAB]", "[LAB, TOKEN]"))
    code = (lab.project / "words.py").read_text()
    code = code.replace("    behaviour = ", "    note('ran_with ' + os.environ['TOKEN'])\n    behaviour = ")
    code = code.replace("    right = ", "    note('scored_with ' + os.environ['TOKEN'])\n    right = ")
    lab.write("words.py", f"{code}\nnote('imported_with ' + os.environ['TOKEN'])\nprint(os.environ['TOKEN'])\n")
    proposer = (lab.project / "propose.py").read_text()
    noted = "    file.write(f\"proposed_with {os.environ['TOKEN']}\\n\".encode())\n"
    lab.write("propose.py", proposer.replace("while (lab", f"{noted}while (lab") + "print(os.environ['TOKEN'])\n")
    lab.environ["TOKEN"] = CALLERS
    api = lab.open()
    agent_id = str(api.call("get_current_agent").unwrap()["id"])
    api.call("set_agent_env_var", agent_id=agent_id, name="TOKEN", value=KEPT).unwrap()
    run_id = lab.launch(max_proposals=1, proposer_env=["LAB", "TOKEN"])
    assert lab.run(run_id)["status"] == "COMPLETED"
    for kind in ("ran_with", "scored_with", "imported_with"):
        assert {words[1] for words in lab.notes(kind)} == {KEPT}
    assert {words[1] for words in lab.notes("proposed_with")} == {CALLERS}
    local = lab.project / ".beaker" / "local"
    for path in local.rglob("*"):
        if path.is_file() and path.name != "secrets.json":
            assert KEPT.encode() not in path.read_bytes(), path
            assert CALLERS.encode() not in path.read_bytes(), path
