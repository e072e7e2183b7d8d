"""Looking through a repository from a program."""

from pathlib import Path

import pytest

from beaker.core.problems import Refused
from beaker.tracing.detect import scan_repo


def test_scan_repo__folder__tells_what_is_used(tmp_path: Path) -> None:
    """A path in either form; a folder that is not there is refused."""
    (tmp_path / "app.py").write_text("import litellm\nlitellm.completion()\n")
    for root in (tmp_path, str(tmp_path)):
        scan = scan_repo(root)
        assert scan.primary is not None
        assert (scan.primary.name, scan.primary.call_sites, scan.instrumented) == ("litellm", ("app.py:2",), False)
    with pytest.raises(Refused, match="none"):
        scan_repo(tmp_path / "none")
