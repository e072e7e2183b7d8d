"""Which frameworks a repository uses, from facts about its modules, and what is left to do."""

import pytest

from beaker.core.frameworks import (
    ADAPTERS,
    FRAMEWORKS,
    MAX_SITES,
    MODEL_ADAPTERS,
    MODEL_CALL,
    TELEMETRY,
    TOOL_ADAPTERS,
    ModuleFacts,
    RepoScan,
    scanned,
    wiring_task,
)


def facts(path: str = "a.py", *, is_test: bool = False, **more: object) -> ModuleFacts:
    return ModuleFacts(path, is_test, **more)  # type: ignore[arg-type]


def scan(declared: tuple[str, ...] = (), *modules: ModuleFacts) -> RepoScan:
    return scanned("/r", declared, modules)


def test_table__order_and_adapters__are_those_of_the_contract() -> None:
    """The more particular framework comes first; names are there once."""
    assert [(one.name, one.adapter) for one in FRAMEWORKS] == [
        ("claude-agent-sdk", None),
        ("pydantic-ai", "pydantic_ai"),
        ("openai-agents", "openai_agents"),
        ("langgraph", "langchain"),
        ("langchain", "langchain"),
        ("llama-index", None),
        ("verifiers", "verifiers"),
        ("litellm", "litellm"),
        ("openai-sdk", None),
        ("anthropic-sdk", None),
    ]
    assert sorted(TOOL_ADAPTERS, key=str) == ["verifiers"]
    assert sorted(MODEL_ADAPTERS) == ["langchain", "litellm", "openai_agents", "pydantic_ai"]
    assert ADAPTERS == "beaker.tracing.integrations"


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda one: one.name)
def test_scan__each_framework__is_found_by_every_name_and_module(framework: object) -> None:
    """A declared distribution, in any spelling, or an import is enough; what it is used by is named."""
    for name in framework.distributions:  # type: ignore[attr-defined]
        spelled = name.upper().replace("-", "_")
        (only,) = [one for one in scan((spelled,)).detections if one.framework == framework]
        assert (only.declared, only.evidence, only.call_sites) == (True, (f"declares {name}",), ())
    for module in framework.modules:  # type: ignore[attr-defined]
        called = [f"{module}.x.{symbol}" for symbol in framework.symbols]  # type: ignore[attr-defined]
        calls = tuple((call, 7 + at) for at, call in enumerate(called))
        made = scan((), facts(imports=((f"{module}.x", 3),), calls=calls))
        (only,) = [one for one in made.detections if one.framework == framework]
        assert (only.declared, only.evidence) == (False, (f"imports {module} at a.py:3",))
        assert only.call_sites == tuple(f"a.py:{line}" for _, line in calls)
        assert only.name == framework.name  # type: ignore[attr-defined]
        adapter = framework.adapter  # type: ignore[attr-defined]
        assert only.adapter == (None if adapter is None else f"beaker.tracing.integrations.{adapter}")


def test_scan__nothing__finds_nothing() -> None:
    """What is neither declared nor imported is not there, and other libraries are not."""
    made = scan(
        ("requests", "opentelemetry"), facts(imports=(("json", 1), ("openai_other", 2)), calls=(("json.x", 1),))
    )
    assert (made.detections, made.primary, made.instrumented) == ((), None, False)
    assert (made.declared_distributions, made.imported_modules) == (
        frozenset({"requests", "opentelemetry"}),
        frozenset({"json", "openai_other"}),
    )
    assert (made.root, made.existing_telemetry, made.unread) == ("/r", (), ())


def test_scan__imports__are_evidence_where_they_come_first() -> None:
    """The first module, in order, that imports something is named; tests count for that, not as places of use."""
    modules = (
        facts("conftest.py", is_test=True, imports=(("openai.types", 4),), calls=(("openai.OpenAI", 5),)),
        facts(
            "m.py", imports=(("openai", 1),), calls=(("openai.OpenAI", 2), ("openai.other", 3), ("anthropic.OpenAI", 4))
        ),
    )
    (only,) = scanned("/r", (), modules, unread=("u.py",)).detections
    assert (only.evidence, only.call_sites) == (("imports openai at conftest.py:4",), ("m.py:2",))
    assert scanned("/r", (), modules, unread=("u.py",)).unread == ("u.py",)


def test_scan__many_places_of_use__are_named_up_to_a_limit_and_once() -> None:
    """The first ones, each once."""
    calls = tuple(("openai.OpenAI", line) for line in (1, 1, *range(2, 20)))
    (only,) = scan((), facts(imports=(("openai", 1),), calls=calls)).detections
    assert only.call_sites == tuple(f"a.py:{line}" for line in range(1, MAX_SITES + 1))


def test_scan__methods__count_where_the_framework_is_imported() -> None:
    """`index.as_query_engine()` is nothing without LlamaIndex, nor is another method of it."""
    calls = ((".as_query_engine", 2), (".query", 3), ("x.as_query_engine", 4))
    (with_it,) = scan((), facts(imports=(("llama_index.core", 1),), calls=calls)).detections
    assert with_it.call_sites == ("a.py:2",)
    (without,) = scan(("llama-index",), facts(imports=(("json", 1),), calls=calls)).detections
    assert without.call_sites == ()


def test_scan__recorded__is_told_apart_and_outside_of_tests() -> None:
    """An adapter of tools alone records no model, and one that only has a name records nothing."""
    recorded = ((MODEL_CALL, 1), ("litellm", 2), ("verifiers", 3), ("claude_agent_sdk", 4))
    made = scan((), facts(recorded=recorded), facts("t.py", is_test=True, recorded=recorded))
    assert (made.model_call_sites, made.adapter_sites, made.tool_adapter_sites) == (
        ("a.py:1",),
        ("a.py:2",),
        ("a.py:3",),
    )
    assert [scan((), facts(recorded=(one,))).instrumented for one in recorded] == [True, True, False, False]


def test_scan__telemetry__is_found_by_either_name() -> None:
    """What records elsewhere is named by its distribution."""
    for distribution, module in TELEMETRY:
        assert scan((distribution,)).existing_telemetry == (distribution,)
        assert scan((), facts(imports=((f"{module}.a", 1),))).existing_telemetry == (distribution,)


def test_scan__several_frameworks__the_first_one_is_primary() -> None:
    """As the table orders them, not as they are declared."""
    made = scan(("openai", "litellm", "langgraph"))
    assert made.primary is not None
    assert [made.primary.name, *(one.name for one in made.detections)] == [
        "langgraph",
        "langgraph",
        "litellm",
        "openai-sdk",
    ]


@pytest.mark.parametrize(
    ("declared", "more", "task"),
    [
        (
            (),
            {},
            "Have calls of models recorded: put `runtime.trace.model_call` around each call, and give it the response "
            "with `output`.",
        ),
        (
            ("langgraph", "langchain"),
            {},
            "Have calls of models recorded: use beaker.tracing.integrations.langchain where the code makes or runs "
            "what asks models.",
        ),
        (
            ("litellm", "openai", "logfire", "langsmith"),
            {"imports": (("openai", 1),), "calls": (("openai.OpenAI", 9),)},
            "Have calls of models recorded: use beaker.tracing.integrations.litellm where the code makes or runs what "
            "asks models; put `runtime.trace.model_call` around each call of openai-sdk, and give it the response with "
            "`output`; record no call twice: what an adapter records needs no `model_call`; leave logfire and "
            "langsmith as it is. Begin at a.py:9.",
        ),
        (
            ("verifiers", "openai", "anthropic"),
            {"imports": (("verifiers", 1),), "calls": (("verifiers.ToolEnv", 4),)},
            "Have calls of models recorded: put `runtime.trace.model_call` around each call of openai-sdk and "
            "anthropic-sdk, and give it the response with `output`; verifiers: the adapter records tools only, so "
            "record models too. Begin at a.py:4.",
        ),
        (
            ("verifiers",),
            {},
            "Have calls of models recorded: put `runtime.trace.model_call` around each call, and give it the response "
            "with `output`; verifiers: the adapter records tools only, so record models too.",
        ),
        (
            ("litellm", "pydantic-ai"),
            {},
            "Have calls of models recorded: use beaker.tracing.integrations.pydantic_ai and "
            "beaker.tracing.integrations.litellm where the code makes or runs what asks models.",
        ),
        (
            ("litellm",),
            {"recorded": (("litellm", 1),)},
            "Calls of models are recorded. Run a case and look at its trace: one entry a call, each with its usage.",
        ),
    ],
)
def test_task__says_what_is_left(declared: tuple[str, ...], more: dict[str, object], task: str) -> None:
    """Adapters where there are some, by hand elsewhere, nothing twice, what is there already left alone."""
    assert wiring_task(scan(declared, facts(**more))) == task
