"""Recording what LangChain and LangGraph do: calls of models and tools, the nodes of graphs, retrievers, handoffs.

graph.invoke(question, langchain.config(runtime.trace))
"""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from beaker.sdk.trace import Trace
from beaker.tracing.following import Following, amend, shared

PARTIAL = 16_384
"""Characters that are kept of a stream that was given up."""

_ROLES = {"human": "user", "ai": "assistant"}


def config(
    trace: Trace, *, existing: Mapping[str, Any] | None = None, retrievers: bool = True, handoffs: bool = True
) -> dict[str, Any]:
    """A config for `invoke` and its kin that has everything recorded with `trace`; `existing` is what it is to hold
    besides, and all it holds when nothing records. `handoffs` are recorded where a graph goes from node to node.
    """
    made: dict[str, Any] = existing if isinstance(existing, dict) else dict(existing or {})
    if not trace.enabled:
        return made
    callbacks = instrument(trace, existing=made.get("callbacks"), retrievers=retrievers, handoffs=handoffs)
    return {**made, "callbacks": callbacks}


def instrument(trace: Trace, *, existing: Any = None, retrievers: bool = True, handoffs: bool = True) -> Any:
    """Callbacks that record with `trace`, after those of `existing`: a list, or a copy of a callback manager.

    `TypeError` for anything else. Adding them twice is harmless. When nothing records `existing` stays as it is, `None`
    an empty list.
    """
    if existing is not None and not isinstance(existing, list | tuple) and not hasattr(existing, "add_handler"):
        raise TypeError(f"callbacks are a list or a callback manager, not {type(existing).__name__}")
    made = handler(trace, retrievers=retrievers, handoffs=handoffs)
    if made is None:
        return [] if existing is None else existing
    if existing is None or isinstance(existing, list | tuple):
        given = [*(existing or ())]
        return given if made in given else [*given, made]
    manager = existing.copy()
    if made not in manager.handlers:
        manager.add_handler(made, True)
    return manager


def handler(trace: Trace, *, retrievers: bool = True, handoffs: bool = True) -> Any:
    """The callback handler that records with `trace`, one for each pair of switches; `None` when nothing records."""
    if not trace.enabled:
        return None
    key = (__name__, retrievers, handoffs)
    return shared(trace, key, lambda: _handler_class()(trace, retrievers=retrievers, handoffs=handoffs))


def _handler_class() -> type["CallbackHandler"]:
    """The handler as a class that LangChain takes for one of its own, where LangChain is there."""
    try:
        from langchain_core.callbacks import BaseCallbackHandler  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return CallbackHandler
    return type("BeakerCallbackHandler", (CallbackHandler, BaseCallbackHandler), {})


class CallbackHandler:
    """What LangChain calls as things happen. Operations lie within each other as its run ids say."""

    raise_error = False
    run_inline = True  # in the caller's thread and in order
    ignore_llm = ignore_chat_model = ignore_chain = ignore_agent = ignore_retry = ignore_custom_event = False
    ignore_retriever = False

    def __init__(self, trace: Trace, *, retrievers: bool, handoffs: bool) -> None:
        self._trace = trace
        self._retrievers = retrievers
        self._handoffs = handoffs
        self._following = Following()
        self._nodes: dict[Any, tuple[str, int]] = {}
        self._partial: dict[Any, list[str]] = {}
        self._latest: dict[Any, tuple[str, int]] = {}
        self._lock = threading.Lock()

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **more: Any) -> None:
        """A chat model is asked."""
        conversations = [[_message(one) for one in conversation] for conversation in messages]
        self._model(run_id, "chat", conversations[0] if len(conversations) == 1 else conversations, serialized, more)

    def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: Any, **more: Any) -> None:
        """A model is asked to complete texts."""
        given = prompts[0] if len(prompts) == 1 else [*prompts]
        self._model(run_id, "text_completion", given, serialized, more)

    def on_llm_new_token(self, token: Any, *, run_id: Any, **_: Any) -> None:
        """A piece of an answer."""
        pieces = self._partial.get(run_id)
        if pieces is not None and sum(map(len, pieces)) < PARTIAL:
            pieces.append(token if isinstance(token, str) else str(token))

    def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
        """The answer of a model, with what it used."""
        self._partial.pop(run_id, None)
        operation = self._following.find(run_id)
        if operation is None:
            return
        generations = [one for several in response.generations for one in several]
        messages = [getattr(one, "message", None) for one in generations]
        given = [
            _message(message) if message is not None else {"role": "assistant", "content": one.text}
            for message, one in zip(messages, generations, strict=True)
        ]
        operation.output(given)
        first = messages[0] if messages else None
        answered = getattr(first, "response_metadata", None) or {}
        model = answered.get("model_name") or answered.get("model") if isinstance(answered, Mapping) else None
        if isinstance(model, str):
            operation.attribute("gen_ai.response.model", model)
        counts = _usage(getattr(first, "usage_metadata", None), getattr(response, "llm_output", None))
        if counts:
            operation.usage(**counts)
        self._following.end(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        """A model failed, or its stream was given up."""
        operation, pieces = self._following.find(run_id), self._partial.pop(run_id, [])
        if operation is not None and pieces:
            operation.output("".join(pieces)[:PARTIAL])
        self._following.end(run_id, error)

    def on_tool_start(self, serialized: Any, input_str: Any, *, run_id: Any, **more: Any) -> None:
        """A tool is called."""
        inputs = more.get("inputs")
        name = _named(serialized, more) or "tool"
        arguments = input_str if inputs is None else inputs
        call = self._trace.tool_call(name, arguments=arguments, call_id=more.get("tool_call_id"))
        self._following.begin(run_id, call, parent=more.get("parent_run_id"))

    def on_tool_end(self, output: Any, *, run_id: Any, **_: Any) -> None:
        """What a tool gave."""
        operation = self._following.find(run_id)
        if operation is not None:
            call_id = getattr(output, "tool_call_id", None)
            if isinstance(call_id, str):
                amend(operation, call_id=call_id)
            operation.output(getattr(output, "content", output))
        self._following.end(run_id)

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **more: Any) -> None:
        """A chain or a graph begins, or a node of it: the outermost ones and nodes are recorded."""
        parent, node = more.get("parent_run_id"), _node(more.get("metadata"))
        with self._lock:
            around = self._nodes.get(parent)
            if node is not None:
                self._nodes[run_id] = node
        if parent is not None and (node is None or node == around):
            self._following.pass_on(run_id, parent)
            return
        attributes: dict[str, Any] = {"beaker.langchain.root": True} if parent is None else {}
        name = _named(serialized, more) or "chain"
        if node is not None:
            name = node[0]
            attributes |= {"beaker.langgraph.node": node[0], "beaker.langgraph.step": node[1]}
            self._hand_off(parent, node, inputs)
        thread = _mapping(more.get("metadata")).get("thread_id")
        if isinstance(thread, str):
            attributes["beaker.langgraph.thread_id"] = thread
        stage = self._trace.stage(name, inputs=_inputs(inputs), attributes=attributes)
        self._following.begin(run_id, stage, parent=parent)

    def on_chain_end(self, outputs: Any, *, run_id: Any, **_: Any) -> None:
        """What a chain, a graph or a node gave."""
        operation = self._following.find(run_id)
        if operation is not None:
            operation.output(_inputs(outputs))
        self._end_chain(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        """A chain, a graph or a node failed."""
        self._end_chain(run_id, error)

    def on_retriever_start(self, serialized: Any, query: Any, *, run_id: Any, **more: Any) -> None:
        """Documents are looked for."""
        parent = more.get("parent_run_id")
        if not self._retrievers:
            self._following.pass_on(run_id, parent)
            return
        name = _named(serialized, more) or "retriever"
        stage = self._trace.stage(name, inputs=query, attributes={"beaker.langchain.retriever": True})
        self._following.begin(run_id, stage, parent=parent)

    def on_retriever_end(self, documents: Any, *, run_id: Any, **_: Any) -> None:
        """The documents that were found."""
        operation = self._following.find(run_id)
        if operation is not None:
            found = [
                {"content": getattr(one, "page_content", one), "metadata": getattr(one, "metadata", None)}
                for one in documents
            ]
            operation.output(found)
        self._following.end(run_id)

    def _failed(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        """A tool or a retriever failed."""
        self._following.end(run_id, error)

    def _ignored(self, *_: Any, **__: Any) -> None:
        """Nothing that is recorded."""

    on_tool_error = on_retriever_error = _failed
    on_text = on_agent_action = on_agent_finish = on_retry = on_custom_event = _ignored

    def _model(self, run_id: Any, operation: str, given: Any, serialized: Any, more: dict[str, Any]) -> None:
        metadata, asked = _mapping(more.get("metadata")), _mapping(more.get("invocation_params"))
        settings = _mapping(_mapping(serialized).get("kwargs"))
        model = _first(
            asked.get("model"), asked.get("model_name"), metadata.get("ls_model_name"), settings.get("model")
        )
        address = _first(asked.get("base_url"), settings.get("base_url"), settings.get("openai_api_base"))
        call = self._trace.model_call(
            operation=operation,
            provider=_first(metadata.get("ls_provider")) or "",
            model=model or _named(serialized, more) or "",
            input_messages=given,
            server_address=address,
        )
        self._partial[run_id] = []
        self._following.begin(run_id, call, parent=more.get("parent_run_id"))
        effort = _first(asked.get("reasoning_effort"))
        found = self._following.find(run_id)
        if effort is not None and found is not None:
            found.attribute("gen_ai.request.reasoning_effort", effort)

    def _end_chain(self, run_id: Any, error: BaseException | None) -> None:
        with self._lock:
            self._nodes.pop(run_id, None)
            self._latest.pop(run_id, None)
        self._following.end(run_id, error)

    def _hand_off(self, graph: Any, node: tuple[str, int], inputs: Any) -> None:
        """A graph goes on to a further step: the node before hands to this one."""
        with self._lock:
            before = self._latest.get(graph)
            if before is None or node[1] > before[1]:
                self._latest[graph] = node
        if self._handoffs and before is not None and node[1] > before[1]:
            named = f"{before[0]}->{node[0]}"
            self._trace.handoff(named, _inputs(inputs), from_stage=before[0], to_stage=node[0])


def _node(metadata: Any) -> tuple[str, int] | None:
    """The node of a graph, and the step in which it runs."""
    found = _mapping(metadata)
    name, step = found.get("langgraph_node"), found.get("langgraph_step")
    return (name, step if isinstance(step, int) else 0) if isinstance(name, str) else None


def _message(message: Any) -> Any:
    """A message of LangChain's as providers write it; anything else as it is."""
    kind = getattr(message, "type", None)
    if not isinstance(kind, str):
        return message
    made: dict[str, Any] = {"role": _ROLES.get(kind, kind), "content": getattr(message, "content", None)}
    for field in ("name", "tool_calls", "tool_call_id"):
        value = getattr(message, field, None)
        if value:
            made[field] = value
    return made


def _inputs(given: Any) -> Any:
    """What a chain is given or gives, with the messages in it as providers write them."""
    if isinstance(given, Mapping):
        return {str(key): _inputs(value) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [_message(one) for one in given]
    return _message(given)


def _usage(stated: Any, output: Any) -> dict[str, int]:
    """Token counts: of the message, or of the whole answer as older models say it."""
    with suppress(AttributeError, TypeError, ValueError, KeyError):
        if stated is not None:
            counts = {key: stated[key] for key in ("input_tokens", "output_tokens", "total_tokens") if key in stated}
            details = _mapping(stated.get("input_token_details"))
            cached = {"cached_input_tokens": details.get("cache_read")}
            written = {"cache_write_input_tokens": details.get("cache_creation")}
            return counts | {key: value for key, value in (cached | written).items() if value is not None}
        reported = _mapping(_mapping(output).get("token_usage"))
        names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
        return {name: reported[key] for key, name in names.items() if isinstance(reported.get(key), int)}
    return {}


def _named(serialized: Any, more: Mapping[str, Any]) -> str | None:
    found = _mapping(serialized)
    path: Any = found.get("id")
    last = path[-1] if isinstance(path, Sequence) and not isinstance(path, str) and path else None
    return _first(more.get("name"), found.get("name"), last)


def _first(*given: Any) -> str | None:
    """The first text that says something."""
    return next((one for one in given if isinstance(one, str) and one), None)


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
