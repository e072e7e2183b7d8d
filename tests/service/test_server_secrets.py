"""Laws of what a server keeps to itself."""

import os
import stat
from pathlib import Path

import pytest

from beaker.core.problems import Refused
from beaker.service.server_secrets import KEY_BYTES, read_token, signing_key


def test_signing_key__made_once__is_private_and_stays(tmp_path: Path) -> None:
    """Restarting changes no address."""
    said: list[str] = []
    key = signing_key(tmp_path / "key", said.append)
    assert len(key) == KEY_BYTES
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert signing_key(tmp_path / "key", said.append) == key
    assert said == []


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"00", b"ab" * 31, b"ab" * 33, b"zz" * 32, b"ab " * 32, b"AB" * 32, b"\xff" * 64]
)
def test_signing_key__not_as_made__is_made_anew_and_told(tmp_path: Path, content: bytes) -> None:
    """An empty or short key would let anybody sign."""
    said: list[str] = []
    (tmp_path / "key").write_bytes(content)
    (tmp_path / "key").chmod(0o600)
    key = signing_key(tmp_path / "key", said.append)
    assert (len(key), len(said)) == (KEY_BYTES, 1)
    assert signing_key(tmp_path / "key", said.append) == key
    assert len(said) == 1


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
@pytest.mark.parametrize("name", ["key", "token"])
def test_secret__that_others_may_write__is_refused(tmp_path: Path, mode: int, name: str) -> None:
    """Whoever writes it can sign, or call."""
    path = tmp_path / name
    path.write_text("ab" * KEY_BYTES)
    path.chmod(mode)
    with pytest.raises(Refused) as refused:
        signing_key(path, print) if name == "key" else read_token(path)
    assert [(one.code, name in one.message) for one in refused.value.problems] == [("BK745", True)]


def test_signing_key__pipe__is_refused(tmp_path: Path) -> None:
    """It would wait for ever."""
    os.mkfifo(tmp_path / "key")
    with pytest.raises(Refused):
        signing_key(tmp_path / "key", print)
