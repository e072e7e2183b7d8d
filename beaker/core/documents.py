"""Documents of a customer's store, changes to them, and the rules that make documents a tree.

A document is known by its place, `(group, name)`; two places are the same document when their `document_key` is equal
(the group casefolded, the name NFC-normalised and casefolded), because a careless file system makes them one file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
from returns.result import Failure, Result, Success

from beaker.core import text
from beaker.core.problems import Problem, Problems
from beaker.core.reserved_names import reserved_part
from beaker.core.strict_json import digest
from beaker.core.values import value

MAX_DOCUMENTS = 2_000
MAX_DOCUMENT_BYTES = 1_000_000
MAX_TREE_BYTES = 20_000_000
MAX_NAME_CHARACTERS = 1_024
MAX_COMPONENT_BYTES = 255

Place: TypeAlias = tuple[str, str]
"""Where a document stands: `(group, name)`."""


@value(kw_only=True)
class TargetDocument:
    """A document that a run starts from, or that a store holds now.

    `source_id` is the customer's own key; `group` a declared document group; `name` a relative path inside it;
    `content` text, kept byte for byte in UTF-8; `version` what the store calls this state, if it has such a thing;
    `editable=False` keeps candidates from changing it. `TypeError` / `ValueError` name the field at fault.
    """

    source_id: str
    group: str
    name: str
    content: str
    version: str | None = None
    editable: bool = True

    def __attrs_post_init__(self) -> None:
        _settle(
            self,
            source_id=text.text,
            group=text.name,
            name=text.relative_path,
            content=_content,
            version=text.optional_text,
        )
        if not isinstance(self.editable, bool):
            raise TypeError(f"TargetDocument.editable must be True or False, not {type(self.editable).__name__}")


@value(kw_only=True)
class CreateDocumentChange:
    """A document to create at a place that is free: `content` (text) as `name` in `group`. `op` is fixed."""

    group: str
    name: str
    content: str
    op: Literal["create"] = attrs.field(default="create", init=False)

    def __attrs_post_init__(self) -> None:
        _settle(self, group=text.name, name=text.relative_path, content=_content)


@value(kw_only=True)
class UpdateDocumentChange:
    """New `content` for a document, on the condition that it still has `base_sha256` (SHA-256 of its UTF-8 bytes)
    and, where both sides state one, `base_version`.

    `source_id` is the customer's own key of it; `group` and `name` say where it stands. `op` is fixed.
    """

    source_id: str
    group: str
    name: str
    content: str
    base_sha256: str
    base_version: str | None = None
    op: Literal["update"] = attrs.field(default="update", init=False)

    def __attrs_post_init__(self) -> None:
        _settle(self, source_id=text.text, group=text.name, name=text.relative_path, content=_content)
        _settle(self, base_sha256=text.sha256_hex, base_version=text.optional_text)


@value(kw_only=True)
class DeleteDocumentChange:
    """A document to delete, on the same condition as an update: `base_sha256`, and `base_version` where both state one.

    `source_id` is the customer's own key of it; `group` and `name` say where it stands. `op` is fixed.
    """

    source_id: str
    group: str
    name: str
    base_sha256: str
    base_version: str | None = None
    op: Literal["delete"] = attrs.field(default="delete", init=False)

    def __attrs_post_init__(self) -> None:
        _settle(self, source_id=text.text, group=text.name, name=text.relative_path)
        _settle(self, base_sha256=text.sha256_hex, base_version=text.optional_text)


DocumentChange: TypeAlias = CreateDocumentChange | UpdateDocumentChange | DeleteDocumentChange
"""One change of a change set; works in `isinstance`."""


@value
class DocumentChangeSet:
    """All changes that a candidate of the run `run_id` makes to the documents of one target.

    `changes` are `DocumentChange` values in the order of their places. `seed_hash` and `candidate_hash` say which
    documents it leads from and to; `groups` are the target's groups, sorted (empty in sets from before there could be
    several targets). Whether the operations fit each other and a store is decided by `beaker.core.changesets.plan`, not
    here.
    """

    run_id: str
    seed_hash: str
    candidate_hash: str
    changes: tuple[DocumentChange, ...]
    groups: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            run_id: str,
            seed_hash: str,
            candidate_hash: str,
            changes: Iterable[DocumentChange],
            groups: Iterable[str] = (),
        ) -> None: ...

    def __attrs_post_init__(self) -> None:
        _settle(self, run_id=text.text, seed_hash=text.sha256_hex, candidate_hash=text.sha256_hex)
        _settle(self, changes=_changes, groups=_names)


def document_key(group: str, name: str) -> Place:
    """The place under which two spellings are one document."""
    return group.casefold(), name.lower() if name.isascii() else text.collision_key(name)


def content_sha256(content: str) -> str:
    """SHA-256 of the content's UTF-8 bytes, lower-case hexadecimal: what a change's `base_sha256` is compared with."""
    return sha256(content.encode()).hexdigest()


def utf8_size(content: str) -> int:
    """Bytes of `content` in UTF-8."""
    return len(content) if content.isascii() else len(content.encode())


def check_documents(documents: Iterable[TargetDocument]) -> Result[None, Problems]:
    """The document-tree rules over the documents of one target, every fault at once.

    At most 2,000 documents of at most 1,000,000 UTF-8 bytes, 20,000,000 together; every place once, also after
    `document_key`; no document where another needs a directory; every `source_id` once; names that can be files and
    do not lead into `.git` or `.beaker`, under whatever spelling a file system takes for these.
    """
    listed = tuple(documents)
    if len(listed) > MAX_DOCUMENTS:
        return Failure((_too_many(len(listed)),))
    problems = [*_content_faults(((one.group, one.name), one.content) for one in listed)]
    problems += _place_faults([(one.group, one.name) for one in listed])
    problems += _source_faults(listed)
    problems += _total_faults(one.content for one in listed)
    return Failure(tuple(problems)) if problems else Success(None)


def check_candidate_files(groups: Iterable[str], files: Mapping[Place, str]) -> Result[None, Problems]:
    """The rules for a candidate's files of one target, `{(group, name): content}`, every fault at once.

    Groups must be declared (exact case), names must be normal relative paths as a document may have, and the limits
    and collision rules of `check_documents` hold.
    """
    if len(files) > MAX_DOCUMENTS:
        return Failure((_too_many(len(files)),))
    declared = set(groups)
    problems = [*_candidate_faults(declared, files), *_content_faults(files.items())]
    problems += _place_faults(list(files))
    problems += _total_faults(files.values())
    return Failure(tuple(problems)) if problems else Success(None)


def seed_hash(documents: Iterable[TargetDocument]) -> str:
    """SHA-256 over the canonical JSON of the documents of one target, ordered by `(group, name)`; order-insensitive."""
    ordered = sorted(documents, key=lambda one: (one.group, one.name))
    return digest(
        [
            {
                "content": one.content,
                "editable": one.editable,
                "group": one.group,
                "name": one.name,
                "source_id": one.source_id,
                "version": one.version,
            }
            for one in ordered
        ]
    )


def candidate_hash(files: Mapping[Place, str]) -> str:
    """SHA-256 over the canonical JSON of a candidate's files, ordered by `(group, name)`.

    `files` must have passed `check_candidate_files`: a lone surrogate has no UTF-8 form and raises `ValueError`.
    """
    return digest(
        [{"content": files[place], "group": place[0], "name": place[1]} for place in sorted(files)],
    )


def name_fault(name: str) -> str | None:
    """Why no document may be a file of this name, or `None`."""
    if (part := reserved_part(name)) is not None:
        return f"the name leads into {part!r}, a folder of Git or Beaker for some file system"
    if len(name) > MAX_NAME_CHARACTERS:
        return f"the name has {len(name)} characters; at most {MAX_NAME_CHARACTERS} are allowed"
    if "\0" in name:
        return "the name holds a NUL character"
    if len(name) > MAX_COMPONENT_BYTES // 4:
        longest = max(len(part.encode("utf-8", "surrogatepass")) for part in name.split("/"))
        if longest > MAX_COMPONENT_BYTES:
            return f"a part of the name has {longest} bytes; at most {MAX_COMPONENT_BYTES} are allowed"
    return None


def _settle(instance: object, **rules: Any) -> None:
    """Replace each named field by what its rule stores; a frozen value can only be settled while it is made."""
    owner = type(instance).__name__
    for field, rule in rules.items():
        object.__setattr__(instance, field, rule(getattr(instance, field), f"{owner}.{field}"))


def _content(content: object, label: str) -> str:
    if not isinstance(content, str):
        raise TypeError(f"{label} must be a string, not {type(content).__name__}")
    return text.encodable(content, label)


def _changes(changes: Any, label: str) -> tuple[DocumentChange, ...]:
    made = tuple(changes)
    for change in made:
        if not isinstance(change, DocumentChange):
            raise TypeError(f"{label} must hold document changes, not {type(change).__name__}")
    return made


def _names(groups: Any, label: str) -> tuple[str, ...]:
    return tuple(text.name(group, label) for group in tuple(groups))


def _too_many(count: int) -> Problem:
    return Problem("BK601", f"{count} documents; a document target may hold at most {MAX_DOCUMENTS}")


def _content_faults(files: Iterable[tuple[Place, str]]) -> Iterator[Problem]:
    for (group, name), content in files:
        where = f"{group}/{name}"
        if (fault := name_fault(name)) is not None:
            yield Problem("BK600", fault, where if len(where) <= 300 else f"{where[:297]}...")
        try:
            size = utf8_size(content)
        except UnicodeEncodeError:
            yield Problem("BK608", "the content holds a lone surrogate, which has no UTF-8 form", where)
            continue
        if size > MAX_DOCUMENT_BYTES:
            yield Problem("BK602", f"{size} bytes; a document may have at most {MAX_DOCUMENT_BYTES}", where)


def _total_faults(contents: Iterable[str]) -> Iterator[Problem]:
    total = sum(len(content.encode("utf-8", "surrogatepass")) for content in contents)
    if total > MAX_TREE_BYTES:
        yield Problem("BK603", f"{total} bytes in all documents together; at most {MAX_TREE_BYTES} are allowed")


def _place_faults(places: Sequence[Place]) -> Iterator[Problem]:
    first: dict[Place, Place] = {}
    for group, name in places:
        key = document_key(group, name)
        if (other := first.get(key)) is None:
            first[key] = (group, name)
        elif other == (group, name):
            yield Problem("BK604", "stands twice", f"{group}/{name}")
        else:
            spelled = f"{other[0]}/{other[1]}"
            yield Problem("BK604", f"differs from {spelled} only in case or Unicode form", f"{group}/{name}")
    for (group_key, name_key), (group, name) in first.items():
        for directory in directories_of(name_key[: MAX_NAME_CHARACTERS + 1]):
            if (holder := first.get((group_key, directory))) is not None:
                taken = f"{holder[0]}/{holder[1]}"
                yield Problem("BK605", f"needs the directory {taken}, which is a document", f"{group}/{name}")


def directories_of(name: str) -> Iterator[str]:
    """The directories above a name inside its group, nearest first: `a/b/c` gives `a/b`, `a`."""
    while (cut := name.rfind("/")) >= 0:
        name = name[:cut]
        yield name


def _source_faults(documents: Iterable[TargetDocument]) -> Iterator[Problem]:
    first: dict[str, TargetDocument] = {}
    for one in documents:
        other = first.setdefault(one.source_id, one)
        if other is not one:
            message = f"the source_id {one.source_id!r} belongs to {other.group}/{other.name} already"
            yield Problem("BK606", message, f"{one.group}/{one.name}")


def _candidate_faults(declared: set[str], files: Mapping[Place, str]) -> Iterator[Problem]:
    for group, name in files:
        where = f"{group}/{name}"
        if group not in declared:
            known = ", ".join(sorted(declared)) or "none"
            yield Problem("BK607", f"{group!r} is not a declared document group (declared: {known})", where)
        try:
            normal = text.relative_path(name, "the name")
        except ValueError as error:
            yield Problem("BK600", str(error), where)
            continue
        if normal != name:
            yield Problem("BK600", "the name must not hold backslashes or begin or end with white space", where)
