"""A served place answers whatever the OpenAPI document allows, and what it forbids, as the document says."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance

DOCUMENT = Path(__file__).parents[2] / "docs" / "schemas" / "openapi.json"
NOT_OFFERED = 501
EXCLUDED = [not_a_server_error, positive_data_acceptance]
"""We judge errors of the server ourselves; and most of what an argument must be, such as a name of something that is
there, no schema says."""
CONFIG = """
integrations:
  demo:
    entrypoint: beaker_integration:integration
    package_import_root: .beaker
    targets: {kind: documents, groups: [playbooks]}
"""

schema = schemathesis.openapi.from_dict(json.loads(DOCUMENT.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A server of an empty project: where it is, and its token."""
    root = tmp_path_factory.mktemp("project")
    (root / ".beaker").mkdir()
    (root / ".beaker" / "beaker.yaml").write_text(CONFIG, encoding="utf-8")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    environ = {name: text for name, text in os.environ.items() if not name.startswith("BEAKER_API")}
    process = subprocess.Popen(
        [sys.executable, "-m", "beaker.cli", "serve", "--port", "0", "--json"],
        cwd=root, env=environ, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    ready: dict[str, Any] = json.loads(process.stdout.readline())
    yield {"url": ready["url"], "token": Path(ready["token_file"]).read_text(encoding="ascii").strip()}
    process.terminate()
    process.wait(60)
    process.stdout.close()


@schema.parametrize()
@settings(max_examples=int(os.environ.get("BEAKER_API_EXAMPLES", "60")), deadline=None)
def test_api__any_request__is_answered_as_described(case: Any, served: dict[str, Any]) -> None:
    """No error of the server, no answer that the document does not know, no senseless request taken."""
    headers = {"authorization": f"Bearer {served['token']}"}
    response = case.call(base_url=served["url"], headers=headers)
    assert response.status_code < 500 or response.status_code == NOT_OFFERED, response.text
    case.validate_response(response, headers=headers, excluded_checks=EXCLUDED)
