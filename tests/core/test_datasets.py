"""Laws of datasets: paths, manifest digests, references, splits, declarations."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.datasets import (
    HELD_OUT_NAMES,
    SPLITS,
    DatasetFile,
    DatasetReference,
    artifact_path,
    content_fault,
    declare_dataset,
    manifest_digest,
    named_files,
    names_content,
    newest_revision,
    parse_reference,
    promotion,
    validate_splits,
)

VECTORS = Path(__file__).parent.parent / "vectors"
MANIFESTS = json.loads((VECTORS / "manifests.json").read_text(encoding="utf-8"))
DATASETS = json.loads((VECTORS / "datasets.json").read_text(encoding="utf-8"))
HASH = "0" * 64


def file_of(path: str, content: str) -> DatasetFile:
    data = content.encode()
    return DatasetFile(path, len(data), sha256(data).hexdigest())


def naive_payload(files: list[DatasetFile]) -> str:
    """The hashed text, written a second time from the words of the contract, character by character."""

    def quoted(text: str) -> str:
        made = ""
        for character in text:
            if character in '"\\':
                made += f"\\{character}"
            elif "\x7f" > character >= " ":
                made += character
            else:
                units = character.encode("utf-16-be", "surrogatepass")
                for index in range(0, len(units), 2):
                    made += f"\\u{units[index]:02x}{units[index + 1]:02x}"
        return f'"{made}"'

    by_points = sorted(files, key=lambda file: [ord(character) for character in file.path])
    listed = [
        f'{{"path":{quoted(file.path)},"sha256":"{file.sha256}","size_bytes":{file.size_bytes}}}' for file in by_points
    ]
    return f"[{','.join(listed)}]"


@pytest.mark.parametrize("case", MANIFESTS["cases"], ids=lambda case: case["why"])
def test_manifest_digest__vector(case: dict[str, Any]) -> None:
    """The published payloads and digests hold, for both implementations."""
    files = [file_of(path, content) for path, content in case["files"].items()]
    payload = naive_payload(files)
    assert case["payload"] in (None, payload)
    assert sha256(payload.encode("ascii")).hexdigest() == case["digest"]
    assert manifest_digest(files).unwrap() == case["digest"]


@st.composite
def paths(draw: st.DrawFn) -> str:
    parts = draw(
        st.lists(st.text(st.characters(exclude_characters="/\\\x7f", min_codepoint=32), min_size=1), min_size=1)
    )
    path = "/".join(parts)
    try:
        return artifact_path(path, "path")
    except ValueError:
        assume(False)
        raise


@given(
    st.dictionaries(paths(), st.tuples(st.integers(0, 10**15), st.binary(min_size=32, max_size=32)), max_size=6),
    st.randoms(use_true_random=False),
)
def test_manifest_digest__second_implementation__agrees_in_any_order(
    files: dict[str, tuple[int, bytes]], random: Any
) -> None:
    """Over all paths, sizes and hashes both implementations agree, and the order given never matters."""
    made = [DatasetFile(path, size, digest.hex().upper()) for path, (size, digest) in files.items()]
    assert len({file.path for file in made}) == len(made)
    expected = sha256(naive_payload(made).encode("ascii")).hexdigest()
    random.shuffle(made)
    assert manifest_digest(made).unwrap() == expected


def test_manifest_digest__undecodable_name__is_escaped_as_a_lone_surrogate() -> None:
    """File-name bytes that are no UTF-8 take part as `\\udcXX`."""
    file = DatasetFile("a\udcff.txt", 0, HASH)
    assert '"a\\udcff.txt"' in naive_payload([file])
    assert manifest_digest([file]).unwrap() == sha256(naive_payload([file]).encode()).hexdigest()


def test_manifest_digest__path_twice__is_refused() -> None:
    """Two files that normalise to one path make no manifest."""
    outcome = manifest_digest([DatasetFile("a/b", 0, HASH), DatasetFile("./a//b", 1, HASH)])
    assert (outcome.failure().code, outcome.failure().where) == ("BK205", "a/b")


@pytest.mark.parametrize(("written", "normal"), MANIFESTS["paths"])
def test_artifact_path__vector(written: str, normal: str | None) -> None:
    """Paths are normalised or refused as the table says."""
    if normal is None:
        with pytest.raises(ValueError, match="path"):
            artifact_path(written, "path")
    else:
        assert artifact_path(written, "path") == normal


@given(st.text())
def test_artifact_path__normal_path__stays(written: str) -> None:
    """Normalising is done once and for all, and never leads out of the dataset."""
    try:
        normal = artifact_path(written, "path")
    except ValueError:
        return
    assert artifact_path(normal, "path") == normal
    assert not normal.startswith("/")
    assert ".." not in normal.split("/")


@pytest.mark.parametrize("wrong", [None, 3, b"a", ["a"]])
def test_artifact_path__no_text__is_refused(wrong: object) -> None:
    """Only text can be a path."""
    with pytest.raises(ValueError, match="must be a string"):
        artifact_path(wrong, "path")


@pytest.mark.parametrize(
    "size, digest", [(-1, HASH), (True, HASH), (1.0, HASH), ("1", HASH), (1, "00"), (1, None), (1, "g" * 64)]
)
def test_dataset_file__wrong_size_or_hash__is_refused(size: Any, digest: Any) -> None:
    """A file states a whole number of bytes and a whole SHA-256."""
    with pytest.raises(ValueError, match="DatasetFile"):
        DatasetFile("a", size, digest)


def test_dataset_file__hash__is_trimmed_and_lower_cased() -> None:
    """A hash is stored in one spelling."""
    assert DatasetFile(" a ", 0, f" {'AB' * 32}\n") == DatasetFile("a", 0, "ab" * 32)


@pytest.mark.parametrize(("written", "name", "revision"), DATASETS["references"])
def test_parse_reference__vector(written: object, name: str | None, revision: str | None) -> None:
    """References are read or refused as the table says."""
    outcome = parse_reference(written)
    if name is None:
        assert outcome.failure().code == "BK206"
        assert outcome.failure().hint
    else:
        assert outcome.unwrap() == DatasetReference(name, revision)


@given(st.text())
def test_parse_reference__read__prints_as_it_was_meant(written: str) -> None:
    """A reference that was read reads the same from its own text."""
    outcome = parse_reference(written)
    if is_successful(outcome):
        assert parse_reference(str(outcome.unwrap())) == outcome


@pytest.mark.parametrize(
    ("reference", "revision", "wanted"),
    [
        ("inv", None, DatasetReference("inv")),
        ("inv@r1", None, DatasetReference("inv", "r1")),
        ("inv", " r1 ", DatasetReference("inv", "r1")),
        ("inv@r1", "r1", DatasetReference("inv", "r1")),
        ("a@b@r1", None, DatasetReference("a@b", "r1")),
        ("https://x/y", None, "BK206"),
        ("@r1", None, "BK206"),
        ("", "r1", "BK206"),
        ("inv@r1", "r2", "BK203"),
        ("inv", " ", "BK203"),
        ("inv@production", None, "BK203"),
        ("inv", "production", "BK203"),
    ],
)
def test_promotion__names_one_revision_or_none(reference: str, revision: str | None, wanted: object) -> None:
    """A revision is named once, or twice alike; `production` is the outcome of a promotion, never its subject."""
    outcome = promotion(reference, revision)
    assert (outcome.unwrap() if is_successful(outcome) else outcome.failure().code) == wanted


def test_newest_revision__is_the_first_of_its_name_that_has_one() -> None:
    """A listing is sorted newest first; entries of other names, without a revision, or of no shape do not count."""
    listed = [{"name": "other", "revision": "r0"}, {"name": "inv"}, "junk", {"name": "inv", "revision": ""}]
    assert newest_revision(listed, "inv").failure().code == "BK204"
    more = [*listed, {"name": "inv", "revision": "r2"}, {"name": "inv", "revision": "r1"}]
    assert newest_revision(more, "inv").unwrap() == "r2"


@pytest.mark.parametrize("case", DATASETS["cases"], ids=str)
def test_validate_splits__vector(case: dict[str, Any]) -> None:
    """Splits are accepted or refused as the table says, every fault at once, with the hint where one helps."""
    outcome = validate_splits(case["found"], declared=case.get("declared"), for_run=case.get("for_run", False))
    if case["codes"]:
        assert [problem.code for problem in outcome.failure()] == case["codes"]
        assert case.get("hint", "") in " ".join(problem.hint for problem in outcome.failure())
    else:
        assert outcome.unwrap() == {split: case["found"][split] for split in SPLITS}


counts = st.one_of(st.integers(-2, 5), st.booleans(), st.none(), st.text(max_size=2), st.floats())


@given(
    st.dictionaries(st.sampled_from([*SPLITS, "val", "x"]), st.integers(0, 3)),
    st.none() | st.dictionaries(st.sampled_from([*SPLITS, "Test", "val", " train", ""]), counts),
    st.booleans(),
)
def test_validate_splits__anything__is_judged(
    found: dict[str, int], declared: dict[str, Any] | None, for_run: bool
) -> None:
    """Accepted means: both splits found, rows in both for a run, and nothing declared that disagrees."""
    outcome = validate_splits(found, declared=declared, for_run=for_run)
    agree = all(
        name in SPLITS and type(count) is int and count >= 0 and found.get(name, count) == count
        for name, count in (declared or {}).items()
    )
    both = all(split in found and (found[split] > 0 or not for_run) for split in SPLITS)
    assert is_successful(outcome) == (agree and both)


def declared_files(*names: str) -> list[DatasetFile]:
    return [DatasetFile(name, 1, HASH) for name in names]


def test_declare_dataset__sound__carries_its_digest() -> None:
    """A sound declaration comes back whole, with the digest of its files."""
    files = declared_files("train.jsonl", "test.jsonl", "images/a.png")
    made = declare_dataset(" invoices ", files, splits={"train": 3, "test": 0}, metadata={"k": "v"}).unwrap()
    assert made.name == "invoices"
    assert made.splits == {"train": 3, "test": 0}
    assert made.manifest_digest == manifest_digest(files).unwrap()
    assert made.metadata == {"k": "v"}


@pytest.mark.parametrize(
    "name, files, splits, codes",
    [
        (" ", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, ["BK212"]),
        (None, ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, ["BK212"]),
        ("a@b", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, ["BK212"]),
        ("s3://a", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, ["BK212"]),
        ("a\x1b[0m", ["train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, ["BK212"]),
        ("a", [], {}, ["BK213", "BK210", "BK210"]),
        ("a", ["train.jsonl", "train.jsonl", "test.jsonl"], {"train": 1, "test": 1}, ["BK205"]),
        ("a", ["train.jsonl"], {"train": 1}, ["BK210"]),
        ("a", ["train.jsonl", "sub/test.jsonl"], {"train": 1, "test": 1}, ["BK210"]),
        ("a", ["train.jsonl", "test.jsonl"], {"train": 1}, ["BK209"]),
        ("a", ["train.jsonl", "test.jsonl"], {"train": 1, "test": "x"}, ["BK208"]),
        ("a", ["train.jsonl", "val.jsonl"], {"train": 1, "val": 1}, ["BK207", "BK210"]),
    ],
)
def test_declare_dataset__faulty__is_refused(
    name: object, files: list[str], splits: dict[str, object], codes: list[str]
) -> None:
    """Names, files and counts of a declaration are judged together."""
    outcome = declare_dataset(name, declared_files(*files), splits=splits)
    assert [problem.code for problem in outcome.failure()] == codes


def test_declare_dataset__metadata_that_is_no_json__is_refused() -> None:
    """Metadata is strict JSON."""
    files = declared_files("train.jsonl", "test.jsonl")
    outcome = declare_dataset("a", files, splits={"train": 1, "test": 1}, metadata={"k": float("nan")})
    assert [problem.code for problem in outcome.failure()] == ["BK202"]


def test_held_out_names__none_is_a_split() -> None:
    """The names that only earn a hint are never splits."""
    assert not HELD_OUT_NAMES & set(SPLITS)


def test_names_content__revision__does_so_only_as_a_whole_digest() -> None:
    """`sha256:` and 64 hexadecimal digits; anything else is a label."""
    assert names_content(f"sha256:{'a' * 64}")
    assert names_content(f"sha256:{'A' * 64}")
    digest = "a" * 64
    for label in (digest, "sha256:", f"sha256:{digest[1:]}", f"sha256:{digest}a", f"x sha256:{digest}", "7", None, 7):
        assert not names_content(label)


def test_content_fault__files__must_be_those_of_the_revision() -> None:
    """All of them, with the bytes they had; the case of the digits does not matter."""
    files = [DatasetFile("train.jsonl", 1, "a" * 64), DatasetFile("test.jsonl", 2, "b" * 64)]
    revision = f"sha256:{manifest_digest(files).unwrap().upper()}"
    assert content_fault(revision, reversed(files)) is None
    for others in (files[:1], [*files, files[0]], [files[0], DatasetFile("test.jsonl", 3, "b" * 64)]):
        fault = content_fault(revision, others)
        assert fault is not None
        assert (fault.code, revision in fault.message) == ("BK813", True)


def test_named_files__texts_anywhere_in_a_row__are_found() -> None:
    """At any depth, in any spelling of the path; longer texts, keys, numbers and unknown paths name nothing."""
    known = {"a.wav", "clips/b.wav", "c" * 1024}
    row = {"x": "./a.wav", "y": [{"z": ["clips\\b.wav", "../a.wav", 7, None]}], "a.wav": 1, "t": "c" * 1024}
    assert sorted(named_files(row, known)) == sorted(known)
    assert [*named_files({"t": " " * 1024 + "a.wav", "u": "d.wav", "v": ""}, known)] == []
    assert [*named_files("a.wav", known)] == ["a.wav"]
