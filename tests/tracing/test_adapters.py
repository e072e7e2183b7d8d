"""Adapters told what frameworks tell them: the frameworks themselves need not be installed."""

import asyncio
import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from beaker.sdk.trace import NOOP_TRACE
from beaker.tracing import activate_trace
from beaker.tracing.integrations import langchain, litellm, openai_agents, verifiers

ADAPTERS = ("claude_agent_sdk", "langchain", "litellm", "openai_agents", "pydantic_ai", "verifiers")


class Environment:
    """An environment of `verifiers`, as far as an adapter looks."""

    def __init__(self, **skipped: list[str]) -> None:
        self.skipped_args = skipped
        self.called: list[Any] = []

    async def call_tool(self, tool_name: str, tool_args: Any, tool_call_id: str | None = None, **more: Any) -> Any:
        self.called.append((tool_name, tool_args, tool_call_id, more))
        if tool_name == "fails":
            raise ValueError("no")
        return {"role": "tool", "content": f"did {tool_name}"}


@pytest.mark.parametrize("name", ADAPTERS)
def test_import__without_the_framework__loads_nothing_of_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each adapter is imported without its framework, and without any other one."""
    monkeypatch.delitem(sys.modules, f"beaker.tracing.integrations.{name}")
    before = {*sys.modules}
    assert importlib.import_module(f"beaker.tracing.integrations.{name}").__doc__
    assert {one for one in {*sys.modules} - before if not one.startswith("beaker.")} == set()


def test_verifiers__tools__are_recorded_in_place(recording: Any) -> None:
    """Arguments, result and id of each call; hidden arguments by name only; a failure passes on."""
    env = Environment(look=["secret"])
    assert verifiers.instrument(env, trace=recording.trace) is env
    assert verifiers.is_instrumented(env)
    assert verifiers.instrument(env, trace=recording.trace) is env
    answer = asyncio.run(env.call_tool("look", {"q": 1, "secret": "s3cret"}, "c1", state={"x": 1}))
    assert answer == {"role": "tool", "content": "did look"}
    assert env.called == [("look", {"q": 1, "secret": "s3cret"}, "c1", {"state": {"x": 1}})]
    with pytest.raises(ValueError, match="no"):
        asyncio.run(env.call_tool("fails", {}))
    first, second = recording.made()["tool_calls"]
    assert (first["name"], first["arguments"], first["call_id"], first["output"]) == (
        "look",
        {"q": 1},
        "c1",
        "did look",
    )
    assert first["attributes"] == {verifiers.HIDDEN_ARGUMENTS_ATTRIBUTE: "secret"}
    assert (second["error"], "output" in second) == ("ValueError: no", False)


def test_verifiers__unpinned__follows_the_active_trace(recording: Any) -> None:
    """Without a trace of its own the environment records where one is active."""
    env = verifiers.instrument(Environment())
    asyncio.run(env.call_tool("a", {}))
    with activate_trace(recording.trace):
        asyncio.run(env.call_tool("b", {}))
    assert [one["name"] for one in recording.made()["tool_calls"]] == ["b"]


def test_verifiers__what_cannot_be_recorded__is_refused(recording: Any) -> None:
    """No tools, or another trace; an inert trace leaves the environment alone."""
    with pytest.raises(TypeError, match="has no call_tool"):
        verifiers.instrument(object())
    env = Environment()
    assert not verifiers.is_instrumented(verifiers.instrument(env, trace=NOOP_TRACE))
    verifiers.instrument(env, trace=recording.trace)
    with pytest.raises(ValueError, match="another trace"):
        verifiers.instrument(env)


def said(kind: str, content: Any, **more: Any) -> Any:
    """A message as LangChain has them."""
    return SimpleNamespace(type=kind, content=content, **more)


def generated(message: Any = None, text: str = "", output: Any = None) -> Any:
    """An answer as LangChain has them."""
    one = SimpleNamespace(text=text) if message is None else SimpleNamespace(message=message, text=text)
    return SimpleNamespace(generations=[[one]], llm_output=output)


def test_langchain__a_graph__is_recorded_as_its_run_ids_say(recording: Any) -> None:
    """Nodes lie within the graph, models and tools within nodes, inner chains are left out, steps hand over."""
    handler = langchain.handler(recording.trace)
    handler.on_chain_start({"name": "G"}, {"messages": [said("human", "q")]}, run_id="g", parent_run_id=None)
    node = {"langgraph_node": "ask", "langgraph_step": 1, "thread_id": "t1"}
    handler.on_chain_start(None, {"a": 1}, run_id="n1", parent_run_id="g", metadata=node, name="ask")
    handler.on_chain_start(None, {"a": 1}, run_id="inner", parent_run_id="n1", metadata=node, name="inner")
    handler.on_chat_model_start(
        {"id": ["x", "Chat"]},
        [[said("system", "s"), said("human", "q", name="u")]],
        run_id="m",
        parent_run_id="inner",
        metadata={**node, "ls_provider": "openai", "ls_model_name": "m-0"},
        invocation_params={"model": "m-1", "reasoning_effort": "low", "base_url": "https://h/v1"},
    )
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "input_token_details": {"cache_read": 3}}
    asked = [{"name": "look", "args": {}, "id": "c1"}]
    answer = said("ai", "", tool_calls=asked, usage_metadata=usage, response_metadata={"model_name": "m-1-may"})
    handler.on_llm_end(generated(answer), run_id="m", parent_run_id="inner")
    handler.on_chain_end({"a": 2}, run_id="inner")
    handler.on_chain_end({"a": 2}, run_id="n1")
    step = {"langgraph_node": "act", "langgraph_step": 2}
    handler.on_chain_start(None, {"a": 2}, run_id="n2", parent_run_id="g", metadata=step, name="act")
    handler.on_tool_start({"name": "look"}, "{}", run_id="t", parent_run_id="n2", inputs={"q": 1})
    handler.on_tool_end(said("tool", "found", tool_call_id="c1"), run_id="t")
    handler.on_retriever_start({"id": ["a", "R"]}, "query", run_id="r", parent_run_id="n2")
    handler.on_retriever_end([SimpleNamespace(page_content="p", metadata={"s": 1})], run_id="r")
    handler.on_chain_error(KeyError("k"), run_id="n2")
    handler.on_chain_end({"a": 3}, run_id="g")
    made = recording.made()
    stages = {one["n"]: one for one in made["stages"]}
    assert [(one["name"], stages.get(one.get("parent"), {}).get("name")) for one in stages.values()] == [
        ("G", None),
        ("ask", "G"),
        ("act", "G"),
        ("R", "act"),
    ]
    assert [one.get("error") for one in stages.values()] == [None, None, "KeyError: 'k'", None]
    (call,) = made["model_calls"]
    assert (call["operation"], call["provider"], call["model"], call["server_address"]) == (
        "chat",
        "openai",
        "m-1",
        "https://h/v1",
    )
    assert stages[call["parent"]]["name"] == "ask"
    assert call["input"] == [{"role": "system", "content": "s"}, {"role": "user", "content": "q", "name": "u"}]
    assert call["output"] == [{"role": "assistant", "content": "", "tool_calls": asked}]
    assert call["usage"] == {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "cached_input_tokens": 3}
    assert call["attributes"] == {"gen_ai.request.reasoning_effort": "low", "gen_ai.response.model": "m-1-may"}
    (tool,) = made["tool_calls"]
    assert (tool["name"], tool["arguments"], tool["call_id"], tool["output"]) == ("look", {"q": 1}, "c1", "found")
    (handed,) = made["handoffs"]
    assert (handed["name"], handed["from_stage"], handed["to_stage"]) == ("ask->act", "ask", "act")
    assert made["warnings"] == []


def test_langchain__switches_and_failures__are_kept(recording: Any) -> None:
    """Retrievers and handoffs can be left out; a stream that was given up keeps what had come; old models say usage."""
    handler = langchain.handler(recording.trace, retrievers=False, handoffs=False)
    for step in (1, 2):
        node = {"langgraph_node": f"n{step}", "langgraph_step": step}
        handler.on_chain_start(None, "x", run_id=step, parent_run_id="g", metadata=node)
    handler.on_retriever_start({}, "q", run_id="r", parent_run_id=1)
    handler.on_llm_start({"name": "Old"}, ["complete this"], run_id="l", parent_run_id="r")
    counts = {"token_usage": {"prompt_tokens": 4, "completion_tokens": 6}}
    handler.on_llm_end(generated(text="done", output=counts), run_id="l")
    handler.on_chat_model_start({}, [[said("human", "q")], [said("human", "p")]], run_id="s")
    for piece in ("a", "b"):
        handler.on_llm_new_token(piece, run_id="s")
    handler.on_llm_error(GeneratorExit(), run_id="s")
    handler.on_llm_end(generated(), run_id="unknown")
    handler.on_tool_end("x", run_id="unknown")
    handler.on_text("ignored")
    made = recording.made()
    old, stream = made["model_calls"]
    assert (old["operation"], old["model"], old["input"], old["usage"]["input_tokens"]) == (
        "text_completion",
        "Old",
        "complete this",
        4,
    )
    assert {one["n"]: one["name"] for one in made["stages"]}[old["parent"]] == "n1"
    assert (stream["output"], stream["interrupted"]) == ("ab", True)
    assert len(stream["input"]) == 2
    assert made["handoffs"] == []


def test_langchain__existing_callbacks__are_kept_and_never_doubled(recording: Any) -> None:
    """A list, a manager's copy, or nothing; an inert trace gives back what it was given."""
    trace, mine = recording.trace, object()
    handler = langchain.handler(trace)
    assert langchain.handler(trace) is handler
    assert langchain.handler(trace, retrievers=False) is not handler
    assert langchain.instrument(trace) == [handler]
    assert langchain.instrument(trace, existing=[mine, handler]) == [mine, handler]
    assert langchain.config(trace, existing={"tags": ["t"], "callbacks": [mine]}) == {
        "tags": ["t"],
        "callbacks": [mine, handler],
    }

    class Manager:
        def __init__(self, handlers: list[Any]) -> None:
            self.handlers = handlers

        def copy(self) -> "Manager":
            return Manager([*self.handlers])

        def add_handler(self, one: Any, inherit: bool) -> None:
            self.handlers.append(one)

    manager = Manager([mine])
    copied = langchain.instrument(trace, existing=manager)
    assert (copied.handlers, manager.handlers) == ([mine, handler], [mine])
    assert langchain.instrument(trace, existing=copied).handlers == [mine, handler]
    with pytest.raises(TypeError, match="not int"):
        langchain.instrument(trace, existing=3)
    given = {"callbacks": manager}
    assert langchain.config(NOOP_TRACE, existing=given) is given
    assert (langchain.handler(NOOP_TRACE), langchain.instrument(NOOP_TRACE)) == (None, [])
    assert langchain.instrument(NOOP_TRACE, existing=manager) is manager


def span(key: str, kind: str, parent: str | None = None, *, run: str = "run", error: Any = None, **data: Any) -> Any:
    """A span as the OpenAI Agents SDK has them."""
    return SimpleNamespace(
        trace_id=run, span_id=key, parent_id=parent, error=error, span_data=SimpleNamespace(type=kind, **data)
    )


def played(processor: Any, one: Any, *inner: Any, **late: Any) -> None:
    """A span that begins and ends around others; `late` is known at its end only."""
    processor.on_span_start(one)
    for other in inner:
        other()
    vars(one.span_data).update(late)
    processor.on_span_end(one)


def test_openai_agents__spans__become_operations(recording: Any) -> None:
    """Agents and turns are stages, generations and responses model calls, functions tools with the id of their call."""
    (processor,) = openai_agents.instrument(recording.trace)
    processor.on_trace_start(SimpleNamespace(trace_id="run"))
    question = [{"role": "user", "content": "q"}]
    settings = {"base_url": "https://models.example/v1"}
    generation = span(
        "g", "generation", "a", input=question, output=None, model="m-1", usage=None, model_config=settings
    )
    response = span("r", "response", "a", input=None, response=None)
    answered = SimpleNamespace(
        id="resp_1",
        model="gpt-x",
        output=[{"type": "function_call", "name": "look", "call_id": "c2"}],
        reasoning=SimpleNamespace(effort="high"),
        usage=SimpleNamespace(input_tokens=7, output_tokens=1),
    )
    tool = lambda key: span(key, "function", "a", name="look", input='{"q": 1}', output=None)  # noqa: E731
    asked = [{"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look"}}]}]
    played(
        processor,
        span("a", "agent", name="helper", tools=["look"], handoffs=None, output_type="str"),
        lambda: played(processor, generation, output=asked, usage={"input_tokens": 4, "output_tokens": 2}),
        lambda: played(processor, tool("t1"), output="plain"),
        lambda: played(processor, response, input=[{"role": "user", "content": "p"}], response=answered),
        lambda: played(processor, tool("t2"), output='{"r": 2}'),
        lambda: played(processor, span("h", "handoff", "a", from_agent="helper", to_agent=None), to_agent="boss"),
        lambda: played(processor, span("w", "guardrail", "a", name="safe", triggered=True)),
        lambda: played(processor, span("l", "mcp_tools", "a", server="s", result=None), result=["x"]),
        lambda: played(processor, span("c", "custom", "a", name="mine", data={"k": 1}, error={"message": "broke"})),
        lambda: played(processor, span("s", "speech", "a", input="hi", output="SOUND", model="v")),
    )
    processor.on_trace_end(SimpleNamespace(trace_id="run"))
    made = recording.made()
    first, second = made["model_calls"]
    assert (first["provider"], first["model"], first["server_address"]) == ("models.example", "m-1", "models.example")
    assert (first["input"], first["output"], first["usage"]["total_tokens"]) == (
        [{"role": "user", "content": "q"}],
        asked,
        6,
    )
    assert (second["provider"], second["model"], second["input"]) == (
        "openai",
        "gpt-x",
        [{"role": "user", "content": "p"}],
    )
    assert second["attributes"] == {
        "gen_ai.response.id": "resp_1",
        "gen_ai.response.model": "gpt-x",
        "gen_ai.request.reasoning_effort": "high",
    }
    assert [one["model"] for one in made["usage"]] == ["models.example:m-1", "openai:gpt-x"]
    assert [(one["name"], one.get("call_id"), one["arguments"], one["output"]) for one in made["tool_calls"]] == [
        ("look", "c1", {"q": 1}, "plain"),
        ("look", "c2", {"q": 1}, {"r": 2}),
        ("mcp.list_tools", None, {"server": "s"}, ["x"]),
    ]
    stages = {one["name"]: one for one in made["stages"]}
    assert stages["helper"]["attributes"] == {"beaker.agent.tools": "look", "beaker.agent.output_type": "str"}
    assert {name: one.get("error") for name, one in stages.items()} == {
        "helper": None,
        "handoff": None,
        "safe": "Ended: the guardrail was triggered",
        "mine": "Ended: broke",
        "speech": None,
    }
    assert "SOUND" not in str(made)
    assert {one.get("parent") for one in made["stages"] if one["name"] != "helper"} == {stages["helper"]["n"]}
    assert [(one["name"], one["from_stage"], one["to_stage"]) for one in made["handoffs"]] == [
        ("boss", "helper", "boss")
    ]


def test_openai_agents__runs__belong_to_the_trace_that_is_active(recording: Any, recording_with: Any) -> None:
    """Of two traces at once each gets its own runs; unfinished spans end with an error; later ones are dropped."""
    other = recording_with()
    (mine,), (theirs,) = (openai_agents.instrument(one.trace) for one in (recording, other))
    for run, trace in (("one", recording.trace), ("two", other.trace)):
        with activate_trace(trace):
            for processor in (mine, theirs):
                processor.on_trace_start(SimpleNamespace(trace_id=run))
        for processor in (mine, theirs):
            processor.on_span_start(span(run, "custom", name=run, run=run, data={}))
    for processor in (mine, theirs):
        processor.shutdown()
        processor.on_span_start(span("late", "custom", name="late", run="one", data={}))
        processor.force_flush()
    for one, name in ((recording, "one"), (other, "two")):
        assert [(stage["name"], stage["error"]) for stage in one.made()["stages"]] == [
            (name, "Ended: it was not ended")
        ]


class Provider:
    """The trace provider of the OpenAI Agents SDK, as far as an adapter looks."""

    def __init__(self, *processors: Any) -> None:
        self._multi_processor = SimpleNamespace(_processors=processors)

    def register_processor(self, one: Any) -> None:
        self._multi_processor._processors += (one,)

    def set_processors(self, several: list[Any]) -> None:
        self._multi_processor._processors = tuple(several)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The SDK with one processor of its own."""
    made = Provider("own")
    agents, tracing = ModuleType("agents"), ModuleType("agents.tracing")
    tracing.get_trace_provider = lambda: made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agents", agents)
    monkeypatch.setitem(sys.modules, "agents.tracing", tracing)
    return made


def test_openai_agents__registered__leaves_everything_as_it_was(recording: Any, provider: Provider) -> None:
    """The processor is there inside the block only; with `existing` the others are away meanwhile."""
    has = lambda: provider._multi_processor._processors  # noqa: E731
    with openai_agents.registered(recording.trace) as processors:
        assert (has(), len(processors)) == (("own", *processors), 1)
    assert has() == ("own",)
    with openai_agents.registered(recording.trace, existing=["mine"]) as processors:
        assert (has(), processors[0]) == (tuple(processors), "mine")
    assert has() == ("own",)
    with openai_agents.registered(NOOP_TRACE, existing=["mine"]) as processors:
        assert (has(), processors) == (("own",), ["mine"])
    assert openai_agents.wait() is asyncio.run(openai_agents.flush()) is True


def test_openai_agents__disabled_or_missing__is_refused(recording: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing would be recorded, so that is said; an inert trace needs nothing."""
    monkeypatch.setitem(sys.modules, "agents", None)
    with pytest.raises(RuntimeError, match="openai-agents"), openai_agents.registered(recording.trace):
        pass
    monkeypatch.setenv(openai_agents.DISABLED_VARIABLE, "True")
    with pytest.raises(RuntimeError, match="disabled"):
        openai_agents.instrument(recording.trace)
    assert openai_agents.instrument(NOOP_TRACE, existing=["x"]) == ["x"]


@pytest.fixture
def model_library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """LiteLLM, as far as an adapter looks."""
    made, logger = ModuleType("litellm"), ModuleType("litellm.integrations.custom_logger")
    made.callbacks, made.success_callback, made._async_success_callback = ["own"], [], []  # type: ignore[attr-defined]
    logger.CustomLogger = type("CustomLogger", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "litellm", made)
    monkeypatch.setitem(sys.modules, "litellm.integrations", ModuleType("litellm.integrations"))
    monkeypatch.setitem(sys.modules, "litellm.integrations.custom_logger", logger)
    return made


def asked(key: str, **more: Any) -> dict[str, Any]:
    return {
        "litellm_call_id": key,
        "custom_llm_provider": "openai",
        "litellm_params": {},
        "optional_params": {},
        **more,
    }


ANSWER = SimpleNamespace(model="m-may", usage=SimpleNamespace(prompt_tokens=3, completion_tokens=2))


def test_litellm__calls__are_recorded_when_they_are_logged(recording: Any, model_library: Any) -> None:
    """A call begins when it is made and ends when it is logged, in any thread; a stream when it is whole."""
    with litellm.registered(recording.trace, existing=["mine"]) as block:
        (logger,) = block.adapters
        assert model_library.callbacks == ["own", "mine", logger]
        model_library._async_success_callback += [logger, "other"]
        logger.log_pre_api_call("m", ["hi"], asked("1", optional_params={"reasoning_effort": "low"}))
        logger.log_pre_api_call("m", ["hi"], asked("1"))
        assert (block.is_settled(), block.wait(0)) == (False, False)
        logger.log_success_event(asked("1"), ANSWER, None, None)
        logger.log_success_event(asked("1"), ANSWER, None, None)
        logger.log_pre_api_call("m", ["stream"], asked("2", stream=True))
        logger.log_success_event(asked("2", stream=True), "piece", None, None)
        asyncio.run(
            logger.async_log_success_event(asked("2", stream=True, complete_streaming_response=ANSWER), "", 0, 0)
        )
        logger.log_pre_api_call("m", ["fails"], asked("3", api_base="https://h"))
        asyncio.run(logger.async_log_failure_event(asked("3", exception=ValueError("no")), None, 0, 0))
        logger.log_pre_api_call("m", ["no id"], {})
        assert block.is_settled()
        assert litellm.wait(0)
    assert (model_library.callbacks, model_library._async_success_callback) == (["own"], ["other"])
    made = recording.made()
    first, second, third = made["model_calls"]
    assert (first["provider"], first["model"], first["input"], first["usage"]["input_tokens"]) == (
        "openai",
        "m",
        ["hi"],
        3,
    )
    assert first["attributes"] == {"gen_ai.request.reasoning_effort": "low", "gen_ai.response.model": "m-may"}
    assert (second["usage"]["output_tokens"], third["error"], third["server_address"]) == (
        2,
        "ValueError: no",
        "https://h",
    )
    assert made["warnings"] == []


def test_litellm__answers_that_never_come__are_told(recording: Any, model_library: Any, monkeypatch: Any) -> None:
    """Leaving waits a while only, and the trace says what is missing; asynchronous blocks do the same."""
    monkeypatch.setattr(litellm, "GRACE_SECONDS", 0.01)

    async def block() -> None:
        async with litellm.registered(recording.trace) as made:
            made.adapters[0].log_pre_api_call("m", ["hi"], asked("1"))
            assert not await litellm.flush(0.01)

    asyncio.run(block())
    made = recording.made()
    assert made["model_calls"][0]["error"] == "Ended: its answer was not logged"
    assert [one["message"] for one in made["warnings"]] == [
        "the answer to 1 of the calls that LiteLLM made was not recorded: TimeoutError"
    ]


def test_litellm__calls__belong_to_the_trace_that_is_active(
    recording: Any, recording_with: Any, model_library: Any
) -> None:
    """The callbacks of all blocks hear of every call; each takes its own."""
    other = recording_with()
    loggers = [litellm.instrument(one.trace, existing=["x"])[1] for one in (recording, other)]
    with activate_trace(other.trace):
        for logger in loggers:
            logger.log_pre_api_call("m", ["hi"], asked("1"))
            logger.log_success_event(asked("1"), ANSWER, None, None)
    assert recording.made() is None
    assert len(other.made()["model_calls"]) == 1


def test_litellm__outside_of_a_block__is_warned_of(recording: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for nothing is fine where nothing records, and a mistake where something does."""
    assert litellm.wait()
    with activate_trace(recording.trace), pytest.warns(RuntimeWarning, match="registered"):
        assert not asyncio.run(litellm.flush())
    assert "outside of" in recording.made()["warnings"][0]["message"]
    with litellm.registered(NOOP_TRACE, existing=["x"]) as block:
        assert (block.callbacks, block.adapters, block.wait(), litellm.wait()) == (["x"], [], True, True)
    assert litellm.instrument(NOOP_TRACE, existing=["x"]) == ["x"]
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(RuntimeError, match="not installed"):
        litellm.instrument(recording.trace)
