"""Which fields of rows are known to make the ids of cases."""

from textwrap import dedent, indent

import pytest

from beaker.core.row_ids import RowField, id_fields

ID, KEY, PART = RowField("id", False), RowField("key", True), RowField("part", True)


def hook(body: str, head: str = "async def load_cases(self, row, *, runtime):") -> str:
    """The source of a hook."""
    return f"{head}\n{indent(dedent(body), '    ')}\n"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ('yield Case(id=row["id"], input={}, expected=None)', (ID,)),
        ("yield beaker.Case(id=row.key)", (KEY,)),
        ('"""Loads."""\nyield Case(id=str(row.key))', (KEY,)),
        ('yield Case(id=f"{row.key}-{row.part!r}")', (KEY, PART)),
        ('yield Case(id="case-" + row.key + row.part + row.key)', (KEY, PART)),
        ("name = row.key\nx: int = read(row)\nyield Case(id=name, input=x)", (KEY,)),
        ("files = await fetch(row)\nyield Case(id=row.key, files=files)", (KEY,)),
    ],
)
def test_id_fields__one_case_named_by_fields__are_those(body: str, fields: tuple[RowField, ...]) -> None:
    """Fields are found through text made of them and names given to them, each once."""
    assert id_fields(hook(body)) == fields
    assert id_fields(indent(hook(body), "    ")) == fields


@pytest.mark.parametrize(
    "body",
    [
        "if row.key:\n    yield Case(id=row.key)",
        "for at in range(2):\n    yield Case(id=row.key)",
        "yield Case(id=row.key)\nyield Case(id=row.key)",
        "yield Case(id=row.key)\nreturn",
        "yield row",
        "yield make(id=row.key)",
        "yield Case(row.key)",
        'yield Case(id="one")',
        "yield Case(id=row)",
        "yield Case(id=row.key.lower())",
        'yield Case(id=f"{row.key:>{row.part}}")',
        "yield Case(id=next(ids))",
        "yield Case(id=str(row.key, 'ascii'))",
        "yield Case(id=row.key * 2)",
        "yield Case(id=row[0])",
        "yield Case(id=other.key)",
        "yield Case(id=other['key'])",
        "yield Case(**row)",
        "yield Case(id=row.key, input=(yield Case(id=1)))",
        "row = next(others)\nyield Case(id=row.key)",
        "name = row.key\nname = name + next(ids)\nyield Case(id=name)",
        "name = (row := other)\nyield Case(id=row.key)",
        "name: str\nyield Case(id=row.key)",
        "a, b = row\nyield Case(id=row.key)",
        "name = name\nyield Case(id=name)",
        "pass",
    ],
)
def test_id_fields__anything_else__is_not_judged(body: str) -> None:
    """Rows that may give no case, several, or an id of something else show nothing."""
    assert id_fields(hook(body)) == ()


@pytest.mark.parametrize(
    "source",
    [
        "",
        "load_cases = lambda self, row: 1",
        "async def load_cases(",
        "\0",
        hook("yield Case(id=row.key)", "def load_cases(self, row, *, runtime):"),
        hook("yield Case(id=row.key)", "async def load_cases(self, *, row, runtime):"),
        hook("yield Case(id=row.key)", "@twice\nasync def load_cases(self, row, *, runtime):"),
    ],
)
def test_id_fields__no_such_function__is_not_judged(source: str) -> None:
    """What is no plain asynchronous function shows nothing."""
    assert id_fields(source) == ()
