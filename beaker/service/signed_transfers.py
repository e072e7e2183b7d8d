"""Addresses of blob bytes over HTTP: unguessable, good for one file, and for a while only.

They stand in for a credential: whoever moves bytes under one sends no token. What an address allows is signed with a
key that only the service knows, so nothing has to be remembered and an address survives a restart.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import quote, urlencode

from beaker.core.strict_json import dumps
from beaker.service.ports import timestamp

DOWNLOAD_SECONDS = 900
"""How long a download address is good for. An upload address is as long as the upload that was announced."""


class SignedTransfers:
    """Addresses below `base_url`, signed with `key`; `now` answers in UTC."""

    def __init__(self, base_url: str, key: bytes, now: Callable[[], datetime]) -> None:
        self._base = base_url.rstrip("/")
        self._key = key
        self._now = now

    def upload_url(self, artifact_id: str, path: str) -> str:
        """Where the bytes of one announced file go."""
        query = urlencode({"signature": _signature(self._key, "upload", artifact_id, path)})
        return f"{self._base}/uploads/{quote(artifact_id, safe='')}/{quote(path)}?{query}"

    def blob_url(self, digest: str, name: str) -> str:
        """Where the bytes of a blob come from; `name` is what they are called there."""
        until = timestamp(self._now() + timedelta(seconds=DOWNLOAD_SECONDS))
        query = urlencode({"expires": until, "signature": _signature(self._key, "blob", digest, until)})
        return f"{self._base}/blobs/{digest}/{quote(name)}?{query}"


def allows_upload(key: bytes, artifact_id: str, path: str, signature: str) -> bool:
    """Whether the signature of an upload address is ours. Whether the time is over, the announced upload says."""
    return _same(_signature(key, "upload", artifact_id, path), signature)


def allows_download(key: bytes, digest: str, expires: str, signature: str, *, now: datetime) -> bool:
    """Whether the signature of a download address is ours and its time is not over."""
    return _same(_signature(key, "blob", digest, expires), signature) and timestamp(now) <= expires


def _signature(key: bytes, *signed: str) -> str:
    made = hmac.new(key, dumps(list(signed)).encode("ascii"), sha256).digest()
    return urlsafe_b64encode(made).rstrip(b"=").decode("ascii")


def _same(ours: str, theirs: str) -> bool:
    return hmac.compare_digest(ours.encode(), theirs.encode("utf-8", "replace"))
