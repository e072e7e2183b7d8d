"""Addresses of bytes: good for one file, for a while, and from one service only."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from beaker.service.signed_transfers import DOWNLOAD_SECONDS, SignedTransfers, allows_download, allows_upload

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KEY, OTHER = b"k" * 32, b"o" * 32
DIGEST = "ab" * 32


def transfers() -> SignedTransfers:
    return SignedTransfers("http://127.0.0.1:8787/", KEY, lambda: NOW)


def query(url: str) -> dict[str, str]:
    return {name: texts[0] for name, texts in parse_qs(urlsplit(url).query).items()}


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8"), min_size=1))
def test_upload__address__leads_to_its_file_and_no_other(artifact_id: str, path: str) -> None:
    """What the path says, decoded, is what was signed."""
    url = urlsplit(transfers().upload_url(artifact_id, path))
    assert url.netloc == "127.0.0.1:8787"
    _, room, named, *rest = url.path.split("/")
    assert (room, unquote(named), unquote("/".join(rest))) == ("uploads", artifact_id, path)
    signature = query(url.geturl())["signature"]
    assert allows_upload(KEY, artifact_id, path, signature)
    assert not allows_upload(KEY, artifact_id, f"{path}x", signature)
    assert not allows_upload(KEY, f"{artifact_id}x", path, signature)
    assert not allows_upload(OTHER, artifact_id, path, signature)


def test_upload__boundary_between_id_and_path__cannot_be_moved() -> None:
    """`a/b` of `c` is not `b` of `c/a`."""
    signature = query(transfers().upload_url("ab", "c"))["signature"]
    assert not allows_upload(KEY, "a", "bc", signature)


def test_download__address__is_good_for_a_while() -> None:
    """To the second; another time, blob, key or kind of address does not go with the signature."""
    found = query(transfers().blob_url(DIGEST, "changes/ä b.json"))
    expires, signature = found["expires"], found["signature"]
    end = NOW + timedelta(seconds=DOWNLOAD_SECONDS)
    assert allows_download(KEY, DIGEST, expires, signature, now=NOW)
    assert allows_download(KEY, DIGEST, expires, signature, now=end)
    assert not allows_download(KEY, DIGEST, expires, signature, now=end + timedelta(seconds=1))
    assert not allows_download(KEY, DIGEST, "2099-01-01T00:00:00.000000Z", signature, now=NOW)
    assert not allows_download(KEY, "cd" * 32, expires, signature, now=NOW)
    assert not allows_download(OTHER, DIGEST, expires, signature, now=NOW)
    assert not allows_upload(KEY, DIGEST, expires, signature)


def test_signature__of_any_kind__may_be_anything() -> None:
    """What comes over the wire is compared, never believed."""
    for shown in ("", "ä", "\ud800", "x" * 10_000):
        assert not allows_upload(KEY, "a", "b", shown)
        assert not allows_download(KEY, DIGEST, shown, shown, now=NOW)
