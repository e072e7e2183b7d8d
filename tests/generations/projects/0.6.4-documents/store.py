from beaker import ChangeSet, CreateDocumentChange


def apply(changes: ChangeSet) -> list[str]:
    assert isinstance(changes, ChangeSet)
    return [change.name for change in changes.changes if isinstance(change, CreateDocumentChange)]
