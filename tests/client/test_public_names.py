"""Names of the client that tools rely on: manifests, statuses, and the parts of a launch."""

from pathlib import Path
from typing import Any

import pytest

import beaker.client
from beaker import artifact_manifest, client, run_status

DIGEST = "01920194e0acdb12117df11a810ba2fa80905dbd61a01fe8f4452a73203e203c"
OTHER = "F850FB359AA633DC9F8B757FC13C06BEAB2AFF7FD2CB431390BB728990D9C5AF"
EXAMPLE_A = [
    {"path": "train.jsonl", "sha256": DIGEST, "size_bytes": 51},
    {"path": "./test.jsonl", "sha256": f" {OTHER} ", "size_bytes": "51"},
]


def test_manifest__example_of_the_contract__has_its_digest() -> None:
    """Whatever the order and the spelling."""
    canonical = artifact_manifest.canonical_manifest_files(EXAMPLE_A)
    assert [file["path"] for file in canonical] == ["test.jsonl", "train.jsonl"]
    expected = "444b17fa3b9a7d7d8471f9345889dc7ae2d1c341547c459b953a7ed26a0c6d03"
    assert artifact_manifest.manifest_digest(EXAMPLE_A) == expected
    assert artifact_manifest.manifest_digest(EXAMPLE_A[::-1]) == expected
    assert artifact_manifest.digest_canonical_manifest_files(canonical) == expected


@pytest.mark.parametrize("size, read", [(5, 5), ("5", 5), (5.9, 5), (0, 0)])
def test_manifest__size__is_a_whole_number(size: Any, read: int) -> None:
    """As text too; fractions are dropped."""
    (file,) = artifact_manifest.canonical_manifest_files([{"path": "a", "sha256": DIGEST, "size_bytes": size}])
    assert file["size_bytes"] == read


@pytest.mark.parametrize(
    "file",
    [
        {"path": "a", "sha256": DIGEST, "size_bytes": size}
        for size in (True, None, -1, "5.0", float("nan"), float("inf"), [])
    ]
    + [{"path": "../a", "sha256": DIGEST, "size_bytes": 1}, {"path": "a", "sha256": "x", "size_bytes": 1}, {}],
)
def test_manifest__what_no_manifest_holds__is_refused(file: Any) -> None:
    """Sizes, paths and digests; and two files of one path."""
    with pytest.raises(ValueError, match=r"size_bytes|path|sha256"):
        artifact_manifest.manifest_digest([file])
    good = {"path": "a/b", "sha256": DIGEST, "size_bytes": 1}
    with pytest.raises(ValueError, match="a/b"):
        artifact_manifest.manifest_digest([good, good | {"path": "a//b"}])


def test_digests__of_a_file__in_both_spellings(tmp_path: Path) -> None:
    """Hex, and base64 as object stores want it."""
    (tmp_path / "train.jsonl").write_bytes(b'{"id":"t1","input":{"q":"2+2"},"expected":{"a":4}}\n')
    assert artifact_manifest.file_sha256_hex(tmp_path / "train.jsonl") == DIGEST
    assert artifact_manifest.SHA256_HEX_PATTERN.fullmatch(DIGEST)
    assert artifact_manifest.normalize_sha256(f" {DIGEST.upper()}\n") == DIGEST
    assert artifact_manifest.sha256_hex_to_base64(DIGEST) == "AZIBlOCs2xIRffEagQui+oCQXb1hoB/o9EUqcyA+IDw="
    assert artifact_manifest.normalize_artifact_path("./a//b/.") == "a/b"
    assert artifact_manifest.MAX_ARTIFACT_PATH_LENGTH == 1024
    with pytest.raises(ValueError, match="sha256"):
        artifact_manifest.normalize_sha256(7)  # type: ignore[arg-type]


def test_statuses__ended_ones__are_some_of_all() -> None:
    """The public names of the lists."""
    assert set(run_status.TERMINAL_RUN_STATUSES) < set(run_status.RUN_STATUSES)


def test_launch_config__selectors__are_taken_out() -> None:
    """Reference and id, whatever they are called; what is meant for this machine does not travel."""
    config = {"datasetRef": "inv", "local_dataset_path": "d", "model": "m", "dataset_id": None}
    assert client.strip_local_only_config_keys(config) == {"datasetRef": "inv", "model": "m", "dataset_id": None}
    assert client.pop_dataset_selectors(config) == ("inv", None)
    assert config == {"local_dataset_path": "d", "model": "m"}
    assert client.pop_dataset_selectors({"datasetId": "art_1"}) == (None, "art_1")
    assert client.pop_dataset_selectors({}) == (None, None)
    with pytest.raises(ValueError, match="each select"):
        client.pop_dataset_selectors({"dataset": "a", "dataset_id": "b"})
    assert {"dataset", "datasetId", "localDatasetPath"} < client.CLIENT_RESOLVED_CONFIG_KEYS


def test_launch_config__keys__are_those_of_a_launch() -> None:
    """Every wrong one is named."""
    client.ensure_supported_launch_config_keys({"model": "m", "extra": {"anything": 1}})
    with pytest.raises(ValueError, match=r"(?s)modle.*tenant"):
        client.ensure_supported_launch_config_keys({"modle": "m", "tenant": 1})
    assert (client.TRANSPORT_RETRY_ATTEMPTS, client.TRANSPORT_RETRY_BACKOFF_SECONDS) == (3, 0.5)


def test_client__names__are_all_there() -> None:
    """Each is found where it is promised, and nothing else is."""
    assert all(getattr(beaker.client, name) is not None for name in beaker.client.__all__)
    assert set(beaker.client.__all__) <= set(dir(beaker.client))
    with pytest.raises(AttributeError, match="Nothing"):
        _ = beaker.client.Nothing
