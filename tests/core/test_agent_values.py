"""Values kept for agents: who gets which, what can be set, what is shown of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Success

from beaker.core.agent_values import (
    MAX_VALUE_BYTES,
    AgentValues,
    agent_id_in,
    agent_values_json,
    checked_value,
    described,
    described_value,
    empty_value,
    name_problem,
    only_name,
    organization_values,
    read_agent_values,
    read_values,
    value_problem,
    values_in,
    values_of,
    with_value,
    without_value,
)

NAMES = st.sampled_from(["OPENAI_API_KEY", "GOOGLE_API_KEY", "DB_URL"])
CHANGES = st.lists(st.tuples(st.sampled_from("ab"), NAMES, st.none() | st.text(max_size=3)))


def kept(changes: Any) -> AgentValues:
    """What is kept after these changes; `None` deletes."""
    values = AgentValues()
    for agent, name, text in changes:
        values = without_value(values, agent, name) if text is None else with_value(values, agent, name, text)
    return values


@given(CHANGES)
def test_changes__any__leave_the_last_value_of_each_name(changes: Any) -> None:
    """A value is what was set last, and goes with a deletion; reading what is stored gives it back."""
    wanted: dict[str, dict[str, str]] = {}
    for agent, name, text in changes:
        if text is None:
            wanted.get(agent, {}).pop(name, None)
        else:
            wanted.setdefault(agent, {})[name] = text
    values = kept(changes)
    assert values.agents == {agent: held for agent, held in wanted.items() if held}
    assert read_agent_values(agent_values_json(values), "f").unwrap() == values
    for agent in "ab":
        assert values_of(values, agent) == {**organization_values(values), **values.agents.get(agent, {})}


def test_organization_values__providers_key_of_one__counts_for_all() -> None:
    """Another agent has it too; a variable that is no provider's key stays with its agent."""
    values = kept([("a", "OPENAI_API_KEY", "k"), ("a", "DB_URL", "d")])
    assert values_of(values, "b") == {"OPENAI_API_KEY": "k"}
    assert values_of(with_value(values, "b", "OPENAI_API_KEY", "k"), "c") == {"OPENAI_API_KEY": "k"}


def test_organization_values__different_keys__count_for_their_agents_alone() -> None:
    """Which one a third agent would get is open, so it gets none."""
    values = kept([("a", "OPENAI_API_KEY", "1"), ("b", "OPENAI_API_KEY", "2")])
    assert (organization_values(values), values_of(values, "c")) == ({}, {})
    assert values_of(values, "b") == {"OPENAI_API_KEY": "2"}


@pytest.mark.parametrize(
    "stored",
    [
        None, [], "x", {}, {"format": "beaker.secrets/2", "agents": {}}, {"agents": {}}, {"format": "beaker.secrets/1"},
        {"format": "beaker.secrets/1", "agents": []}, {"format": "beaker.secrets/1", "agents": {"a": "s3cret"}},
        {"format": "beaker.secrets/1", "agents": {"a": {"N": 5}}},
    ],
)  # fmt: skip
def test_read_agent_values__anything_else__is_refused(stored: Any) -> None:
    """The problem names the file and nothing of what it holds."""
    problem = read_agent_values(stored, "s.json").failure()
    assert (problem.code, problem.where) == ("BK748", "s.json")
    assert "s3cret" not in repr(problem)


@pytest.mark.parametrize(
    ("name", "said"),
    [("OPENAI_API_KEY", None), ("lower", "upper-case"), ("BEAKER_X", "BEAKER_"), ("PATH", "platform"), ("", "upper")],
)
def test_name_problem__name__as_required_env_has_it(name: str, said: str | None) -> None:
    """What no integration may declare can have no value."""
    problem = name_problem(name)
    assert (problem is None) == (said is None)
    if problem is not None:
        assert problem.code == "BK147"
        assert said is not None
        assert said in problem.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", None), ("two\nlines", None), ("a\0b", "NUL"), ("\ud800", "no UTF-8"), ("x" * MAX_VALUE_BYTES, None),
        ("x" * (MAX_VALUE_BYTES + 1), "65537 bytes; at most 65536"), ("é" * (MAX_VALUE_BYTES // 2 + 1), "65538 bytes"),
    ],
    ids=["empty", "lines", "nul", "surrogate", "longest", "longer", "bytes"],
)  # fmt: skip
def test_value_problem__value__is_what_a_process_can_get(text: str, said: str | None) -> None:
    """The limit is one of bytes; the value itself is never said."""
    problem = value_problem("TOKEN", text)
    assert (problem is None) == (said is None)
    if problem is not None:
        assert said is not None
        assert (problem.code, said in problem.message, "TOKEN" in problem.message) == ("BK147", True, True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", "(empty)"), ("x" * 15, "(hidden)"), ("x" * 12 + "abcd", "************abcd")],
)
def test_described_value__value__shows_little(text: str, shown: str) -> None:
    """The last four of a long one, nothing of a short one."""
    item = described("N", text)
    assert (item["name"], item["value_length"]) == ("N", len(text))
    assert described_value(item) == shown


@pytest.mark.parametrize("item", [{}, {"value_last_four": 7}, {"value_last_four": ""}, {"value_length": None}])
def test_described_value__odd_answer__is_hidden(item: Any) -> None:
    """A place may leave out what it likes."""
    assert described_value(item) == "(hidden)"


def test_agent_values__representation__holds_no_value() -> None:
    """What is logged by accident is harmless."""
    assert "s3cret" not in repr(with_value(AgentValues(), "a", "N", "s3cret"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""), ("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\nb\n", "a\nb"), ("a\r", "a\r"),
        (" a ", " a "),
    ],
    ids=["empty", "none", "lf", "crlf", "two", "inside", "cr", "blanks"],
)  # fmt: skip
def test_checked_value__one_line_end__is_dropped(text: str, value: str) -> None:
    """What a pipe adds behind a value is none of it; everything else is."""
    assert checked_value("TOKEN", text).unwrap() == value


def test_checked_value__what_no_variable_can_hold__is_refused() -> None:
    """As by `value_problem`."""
    assert checked_value("TOKEN", "a\0\n").failure() == value_problem("TOKEN", "a\0")


FILE = "A=1\nexport B='two'\n# C=3\nlower=x\nBEAKER_AGENT_KEY=k\n"


@pytest.mark.parametrize(
    ("names", "found"),
    [(["A"], {"A": "1"}), (["B", "A", "B"], {"B": "two", "A": "1"})],
)
def test_values_in__named__are_taken(names: list[str], found: dict[str, str]) -> None:
    """In the order of the names; other lines, wrong ones too, do not get into the way."""
    taken = values_in(f"{FILE}D=4\nD=5\n", names, "f").unwrap()
    assert list(taken.items()) == list(found.items())


def test_values_in__quotes__are_judged_by_their_line() -> None:
    """One that ends, wherever on the line, is none that goes on; with names, other lines are nobody's concern."""
    text = "A='x'\nB=\"x\" # c\nC=it's\nD=\"open\nrubbish\n"
    assert values_in(text, ["A", "B", "C"], "f").unwrap() == {"A": "x", "B": '"x"', "C": "it's"}
    assert [problem.where for problem in values_in(text, [], "f").failure()] == ["f:4", "f:5"]


def test_values_in__no_names__takes_everything() -> None:
    """A file that holds only what can be set needs no names."""
    assert values_in("A=1\nB=\n", [], "f").unwrap() == {"A": "1", "B": ""}


@pytest.mark.parametrize(
    ("text", "names", "messages", "hint"),
    [
        ("", [], ["the file sets no variable"], "NAME=value"),
        ("# A=1\n", [], ["the file sets no variable"], "NAME=value"),
        (FILE, [], ["no value can be set for 'lower'", "no value can be set for 'BEAKER_AGENT_KEY'"], "NAME... --from"),
        (FILE, ["A", "C", "PATH"], ["the file does not set C", "no value can be set for 'PATH'"], ""),
        (f"A={'s3cret' * 12000}\n", ["A"], ["the value of A has 72000 bytes"], ""),
        ('A=1\nPEM="s3cret\nb"\n\n# c\n', [], ["begins the value of PEM has no end", "the line sets no variable"], ""),
        ("A='s3cret\nb\nC=\"", ["A"], ["the quote that begins the value of A has no end"], "--value-stdin"),
        ("s3cret", [], ["the line sets no variable"], "--value-stdin"),
        ("A=1\nB=2\nA=s3cret\nA=4\n", [], ["A is set a second time; line 1 sets it first"] * 2, "leave one"),
        ("A=1\nB=2\nB=3\nA=s3cret\n", ["A"], ["A is set a second time; line 1 sets it first"], "leave one"),
    ],
    ids=["empty", "comment", "all", "named", "long", "lines", "quote", "no line", "twice", "named twice"],
)
def test_values_in__what_cannot_be_set__is_refused_whole(
    text: str, names: list[str], messages: list[str], hint: str
) -> None:
    """Every fault is said, with the file, and no value."""
    problems = values_in(text, names, "f.env").failure()
    assert len(problems) == len(messages)
    for problem, message in zip(problems, messages, strict=True):
        assert (problem.code, problem.where.partition(":")[0]) == ("BK147", "f.env")
        assert message in problem.message
        assert hint in problem.hint
        assert "s3cret" not in repr(problem)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ({"env_vars": []}, []),
        ({"env_vars": [{"name": "A", "value_length": 3}, {"name": ""}]}, ["A", ""]),
        ({"env_vars": [{"name": "A"}, {"value_length": 3}]}, None),
        ({"env_vars": [{"name": 7}]}, None),
        ({"env_vars": ["A"]}, None),
        ({"env_vars": {}}, None),
        ({}, None),
    ],
)
def test_read_values__what_is_no_variable__is_a_broken_answer(answer: dict[str, Any], names: list[str] | None) -> None:
    """A list with rubbish in it is not told as a shorter one."""
    read = read_values(answer)
    if names is None:
        assert read.failure().code == "BK804"
    else:
        assert [item["name"] for item in read.unwrap()] == names


def test_only_name__none_or_several__is_refused() -> None:
    """One value goes with one name."""
    assert only_name(["A"]) == Success("A")
    for names, said in (([], "no name is given, and one value"), (["A", "B"], "2 names are given, and one value")):
        problem = only_name(names).failure()
        assert (problem.code, problem.message, problem.where) == ("BK905", said, "NAME")
        assert problem.hint == "several are set from a file: --from-file FILE"


def test_empty_value__is_warned_of() -> None:
    """Somebody may want it so, so that it is no refusal."""
    assert empty_value("A", "x") is None
    problem = empty_value("A", "")
    assert problem is not None
    assert (problem.code, problem.hint) == ("BK147", "give it its value")
    assert problem.message == "standard input is empty, so A is set to nothing"


def test_agent_id__answer_without_one__breaks_the_contract() -> None:
    """It must be a text that says something."""
    assert agent_id_in({"id": "ag_1"}, "k") == Success("ag_1")
    for answer in ({}, {"id": ""}, {"id": 7}):
        problem = agent_id_in(answer, "k").failure()
        assert (problem.code, problem.where) == ("BK804", "k")
        assert problem.message == "the service did not say the id of the agent"
