"""Laws of taking out of text what must not be kept."""

from pathlib import Path

import pytest

from beaker.engine.cleaning import cleaner

CLEAN = cleaner(lambda text: text.replace("sesame", "[redacted]"), Path("/tmp/beaker-run_1-ab.c"))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('File "/tmp/beaker-run_1-ab.c/checkouts/rollout/src/app.py", line 3', 'File "src/app.py", line 3'),
        ("cwd: /tmp/beaker-run_1-ab.c/checkouts/scorer", "cwd: ."),
        ("/tmp/beaker-run_1-ab.c/rollouts/17/targets/kb/x.md", "{rollout}/targets/kb/x.md"),
        ("/tmp/beaker-run_1-ab.c/proposals/3/documents/kb", "{workspace}/documents/kb"),
        ("/tmp/beaker-run_1-ab.c/dataset/train.jsonl:4: bad", "train.jsonl:4: bad"),
        ("/tmp/beaker-run_1-ab.c/storage", "{run}/storage"),
        ("/tmp/beaker-run_1-abxc/rollouts/1", "/tmp/beaker-run_1-abxc/rollouts/1"),
        ("open sesame in /tmp/beaker-run_1-ab.c/rollouts/2", "open [redacted] in {rollout}"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_cleaner__paths_and_secrets__are_named_alike_each_time(said: str, kept: str) -> None:
    """What differs from attempt to attempt is replaced by what does not."""
    assert CLEAN(said) == kept
