"""YAML as a tree of raw words: what it stands for, and every way it is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.config_tree import ListNode, MapNode, Node, Scalar, plain_json
from beaker.files.yaml_tree import MAX_BYTES, MAX_NODES, parse_yaml

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "yaml.json").read_text(encoding="utf-8"))


def read(text: str) -> Any:
    """The JSON that `text` stands for; fails the test when it is refused."""
    made, problems = plain_json(parse_yaml(text.encode(), "f").unwrap(), file="f", path="$")
    assert problems == ()
    return made


@pytest.mark.parametrize("text, expected", VECTORS["json"])
def test_parse_yaml__vector__stands_for_what_is_listed(text: str, expected: Any) -> None:
    """Words get YAML 1.2's core types, and those of YAML 1.1 stay text."""
    made = read(text)
    assert json.dumps(made, sort_keys=True) == json.dumps(expected, sort_keys=True)


@pytest.mark.parametrize(
    ("text", "where", "advice"),
    [
        ("integrations:\n  tickets\n    entrypoint: a:b\n", "f:2:3", "write `tickets:`"),
        ("integrations:\n  # c\n  tickets\n\n    # x\n    entrypoint: a:b\n", "f:3:3", "write `tickets:`"),
        ("integrations\n  tickets:\n    entrypoint: a\n", "f:1:1", "write `integrations:`"),
        ("i:\n  t:\n    entrypoint a:b\n    source_dir: x\n", "f:3:5", "write `entrypoint: a:b`"),
        ("text: say: hi\n", "f:1:10", 'put text that holds ": " in quotes'),
        ("k: v\n  deeper: 1\n", "f:2:9", "line 1 has its value already; indent both alike"),
        ("a:\n  b: 1\n c: 2\n", "f:3:2", ""),
    ],
)
def test_parse_yaml__key_without_colon__is_named_with_its_own_line(text: str, where: str, advice: str) -> None:
    """A parser stumbles over the line after the mistake; the line that is to blame is the one that is told."""
    (problem,) = parse_yaml(text.encode(), "f").failure()
    assert (problem.code, problem.where, problem.hint) == ("BK101", where, advice)


@pytest.mark.parametrize("text, places, says", VECTORS["refused"])
def test_parse_yaml__refused_vector__names_every_place(text: str, places: list[str], says: str) -> None:
    """Each fault has its line, all that can be found are reported in the order of the file."""
    problems = parse_yaml(text.encode(), "f").failure()
    assert [problem.where for problem in problems] == places
    assert all(problem.code == "BK101" and says in problem.message for problem in problems)


@pytest.mark.parametrize(
    "data, where, says",
    [
        ("a: 1".encode("utf-16"), "f", "UTF-16"),
        (b"a: 1\nb: caf\xe9", "f:2", "0xe9"),
        (b"a" * (MAX_BYTES + 1), "f", "larger"),
    ],
)
def test_parse_yaml__other_bytes__say_which_encoding_is_meant(data: bytes, where: str, says: str) -> None:
    """UTF-16, Latin-1 and absurd sizes get words of their own."""
    (problem,) = parse_yaml(data, "f").failure()
    assert problem.where == where
    assert says in problem.message


def test_parse_yaml__raw_text_and_places__are_kept() -> None:
    """The schema can decide: the raw word, its quotes' absence and its line and column survive."""
    tree = parse_yaml(b"a: 0012\n\n  # c\nb: [1.10, 'no']\n", "f").unwrap()
    assert isinstance(tree, MapNode)
    assert tree.get("a") == Scalar("0012", "0012", 1, 4)
    assert tree.key("b") == Scalar("b", "b", 4, 1)
    items: Any = tree.get("b")
    assert items.items == (Scalar("1.10", 1.1, 4, 5), Scalar("no", "no", 4, 11))
    assert tree.get("c") is tree.key("c") is None


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_parse_yaml__deep_nesting__is_refused(opening: str) -> None:
    """Depth is bounded, whichever way it is written."""
    assert is_successful(
        parse_yaml((opening * 150 + "1" + {"[": "]", "{a: ": "}"}.get(opening, "") * 150).encode(), "f")
    )
    (problem,) = parse_yaml((opening * 300 + "1").encode(), "f").failure()
    assert "deeper than 200" in problem.message


def test_parse_yaml__aliases_that_multiply_or_deepen__are_refused() -> None:
    """Neither breadth nor depth can be hidden behind aliases."""
    wide = "a0: &a0 [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40)
    )
    (problem,) = parse_yaml(wide.encode(), "f").failure()
    assert str(MAX_NODES) in problem.message
    deep = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [[[[[[[[[[*a{n - 1}]]]]]]]]]]\n" for n in range(1, 30))
    (problem,) = parse_yaml(deep.encode(), "f").failure()
    assert "deeper than 200" in problem.message


@pytest.mark.parametrize("word", [".nan", "-.inf", ".Inf", "1e999"])
def test_plain_json__number_that_is_none__is_refused_with_its_line(word: str) -> None:
    """JSON has no such number; quoted it is text."""
    tree = parse_yaml(f"a:\n  - {word}\n".encode(), "f").unwrap()
    _, (problem,) = plain_json(tree, file="f", path="$")
    assert (problem.code, problem.where) == ("BK104", "f:2")
    assert problem.message.startswith("$.a[0] ")
    assert read(f"a: '{word}'") == {"a": word}


def test_plain_json__number_of_many_digits__stays_text() -> None:
    """A word of ten thousand digits is no number anyone means."""
    assert read("1" * 10_000) == "1" * 10_000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_parse_yaml__any_json_text__stands_for_itself(data: Any) -> None:
    """JSON is read as YAML to the value it has, whatever is in it."""
    assert read(json.dumps(data)) == data


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), JSON, max_size=4))
def test_parse_yaml__dumped_text__keeps_every_string(data: dict[str, Any]) -> None:
    """What a YAML writer quotes or leaves plain, the raw text is the text that was meant."""

    def texts(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: texts(child) for key, child in item.items()}
        return [texts(child) for child in item] if isinstance(item, list) else str(item)

    def raw(node: Node) -> Any:
        if isinstance(node, MapNode):
            return {key.raw: raw(child) for key, child in node.entries}
        return [raw(child) for child in node.items] if isinstance(node, ListNode) else node.raw

    assert raw(parse_yaml(yaml.safe_dump(texts(data)).encode(), "f").unwrap()) == texts(data)


@given(st.text(st.sampled_from(list("ab:-[]{}&*!'\"\n\t #|>?,<%@`0.\\~")), max_size=40) | st.text(max_size=30))
def test_parse_yaml__any_text__gives_a_tree_or_problems(text: str) -> None:
    """The reading is total, and every problem names the file."""
    data = text.encode("utf-8", "surrogatepass")
    found = parse_yaml(data, "f")
    if not is_successful(found):
        assert found.failure()
        assert all(problem.where.startswith("f") for problem in found.failure())


@given(st.binary(max_size=60))
def test_parse_yaml__any_bytes__give_a_tree_or_problems(data: bytes) -> None:
    """Bytes that are no text at all are refused, never raised about."""
    parse_yaml(data, "f")
