"""Frameworks that ask models: which of them a repository uses, where, and how their calls come to be recorded.

Nothing is looked at here: `beaker.files.tracing_scan` gathers the facts.
"""

from collections.abc import Iterable

from beaker.core.dependencies import normalized
from beaker.core.values import value

MAX_SITES = 5
"""Places that are named of each framework."""

MODEL_CALL = "model_call"
"""Stands in `ModuleFacts.recorded` for a call that the code records itself."""

ADAPTERS = "beaker.tracing.integrations"
"""Where the adapters are."""


@value(kw_only=True)
class Framework:
    """A library that asks models: how it is declared, imported and used, and which adapter records it, if any does.

    `symbols` are called by their name, `methods` on anything in a module that imports the framework. `models` tells
    whether the adapter records calls of models, not of tools alone.
    """

    name: str
    distributions: tuple[str, ...]
    modules: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    adapter: str | None = None
    models: bool = True


FRAMEWORKS: tuple[Framework, ...] = (
    Framework(
        name="claude-agent-sdk",
        distributions=("claude-agent-sdk", "claude-code-sdk"),
        modules=("claude_agent_sdk", "claude_code_sdk"),
        symbols=("query", "ClaudeSDKClient"),
    ),
    Framework(
        name="pydantic-ai",
        distributions=("pydantic-ai", "pydantic-ai-slim"),
        modules=("pydantic_ai",),
        symbols=("Agent",),
        adapter="pydantic_ai",
    ),
    Framework(
        name="openai-agents",
        distributions=("openai-agents",),
        modules=("agents",),
        symbols=("Agent", "Runner"),
        adapter="openai_agents",
    ),
    Framework(
        name="langgraph",
        distributions=("langgraph",),
        modules=("langgraph",),
        symbols=("StateGraph",),
        adapter="langchain",
    ),
    Framework(
        name="langchain",
        distributions=("langchain", "langchain-core", "langchain-openai"),
        modules=("langchain", "langchain_core", "langchain_openai"),
        symbols=("ChatOpenAI", "ChatAnthropic", "LLMChain"),
        adapter="langchain",
    ),
    Framework(
        name="llama-index",
        distributions=("llama-index", "llama-index-core"),
        modules=("llama_index",),
        symbols=("QueryEngine",),
        methods=("as_query_engine",),
    ),
    Framework(
        name="verifiers",
        distributions=("verifiers",),
        modules=("verifiers",),
        symbols=("ToolEnv", "StatefulToolEnv", "load_environment"),
        adapter="verifiers",
        models=False,
    ),
    Framework(
        name="litellm",
        distributions=("litellm",),
        modules=("litellm",),
        symbols=("completion", "acompletion"),
        adapter="litellm",
    ),
    Framework(name="openai-sdk", distributions=("openai",), modules=("openai",), symbols=("OpenAI", "AsyncOpenAI")),
    Framework(
        name="anthropic-sdk",
        distributions=("anthropic",),
        modules=("anthropic",),
        symbols=("Anthropic", "AsyncAnthropic"),
    ),
)
"""What is looked for, the most particular first: where several are used, the first one says how to go about it."""

TELEMETRY: tuple[tuple[str, str], ...] = (
    ("logfire", "logfire"),
    ("opentelemetry-sdk", "opentelemetry"),
    ("sentry-sdk", "sentry_sdk"),
    ("openinference", "openinference"),
    ("langsmith", "langsmith"),
    ("braintrust", "braintrust"),
)
"""Distributions, and the modules they bring, that record elsewhere and are left as they are."""

MODEL_ADAPTERS = frozenset(one.adapter for one in FRAMEWORKS if one.models and one.adapter is not None)
"""Adapters that record calls of models."""

TOOL_ADAPTERS = frozenset(one.adapter for one in FRAMEWORKS if not one.models)
"""Adapters that record calls of tools alone."""


@value
class ModuleFacts:
    """What the text of one module says. `path` is from the root of what was looked through; lines count from 1.

    `imports` are the modules it imports, dotted, with the line; `calls` what it calls, dotted where that was imported,
    else the name of the method after a dot; `recorded` the places where something is recorded: `MODEL_CALL`, or the
    name of an adapter.
    """

    path: str
    is_test: bool
    imports: tuple[tuple[str, int], ...] = ()
    calls: tuple[tuple[str, int], ...] = ()
    recorded: tuple[tuple[str, int], ...] = ()


@value(kw_only=True)
class Detection:
    """A framework that is used: declared, imported or both, told in `evidence`; `call_sites` are the first places,
    outside of tests, where it is made use of."""

    framework: Framework
    declared: bool
    evidence: tuple[str, ...]
    call_sites: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the framework."""
        return self.framework.name

    @property
    def adapter(self) -> str | None:
        """The module that records it, dotted; `None` where calls are recorded by hand."""
        return None if self.framework.adapter is None else f"{ADAPTERS}.{self.framework.adapter}"


@value(kw_only=True)
class RepoScan:
    """What a repository says of models, without having been run. Sites are `file:line`."""

    root: str
    declared_distributions: frozenset[str]
    imported_modules: frozenset[str]
    detections: tuple[Detection, ...]
    existing_telemetry: tuple[str, ...] = ()
    adapter_sites: tuple[str, ...] = ()
    tool_adapter_sites: tuple[str, ...] = ()
    model_call_sites: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def primary(self) -> Detection | None:
        """The framework that says how to go about it."""
        return self.detections[0] if self.detections else None

    @property
    def instrumented(self) -> bool:
        """Whether calls of models are recorded anywhere."""
        return bool(self.adapter_sites or self.model_call_sites)


def scanned(
    root: str, declared: Iterable[str], modules: Iterable[ModuleFacts], *, unread: Iterable[str] = ()
) -> RepoScan:
    """What distributions that are declared and modules, in the order of their paths, come to.

    Frameworks are found in tests too; what is wired, and where, counts outside of tests only. `unread` are files that
    could not be read as Python.
    """
    names = frozenset(map(normalized, declared))
    kept = tuple(modules)
    first: dict[str, str] = {}
    for facts in kept:
        for module, line in facts.imports:
            first.setdefault(module.partition(".")[0], f"{facts.path}:{line}")
    code = [facts for facts in kept if not facts.is_test]
    sites = [(what, f"{facts.path}:{line}") for facts in code for what, line in facts.recorded]
    found = (_detected(framework, names, first, code) for framework in FRAMEWORKS)
    return RepoScan(
        root=root,
        declared_distributions=names,
        imported_modules=frozenset(first),
        detections=tuple(one for one in found if one is not None),
        existing_telemetry=tuple(name for name, module in TELEMETRY if name in names or module in first),
        adapter_sites=tuple(site for what, site in sites if what in MODEL_ADAPTERS),
        tool_adapter_sites=tuple(site for what, site in sites if what in TOOL_ADAPTERS),
        model_call_sites=tuple(site for what, site in sites if what == MODEL_CALL),
        unread=tuple(unread),
    )


def _detected(
    framework: Framework, declared: frozenset[str], first: dict[str, str], code: list[ModuleFacts]
) -> Detection | None:
    named = [name for name in framework.distributions if name in declared]
    imported = [module for module in framework.modules if module in first]
    if not named and not imported:
        return None
    used = [f"{facts.path}:{line}" for facts in code for call, line in facts.calls if _uses(framework, call, facts)]
    return Detection(
        framework=framework,
        declared=bool(named),
        evidence=(
            *(f"declares {name}" for name in named),
            *(f"imports {module} at {first[module]}" for module in imported),
        ),
        call_sites=tuple(dict.fromkeys(used))[:MAX_SITES],
    )


def _uses(framework: Framework, call: str, facts: ModuleFacts) -> bool:
    root, _, rest = call.partition(".")
    name = rest.rpartition(".")[2]
    if root in framework.modules:
        return name in (*framework.symbols, *framework.methods)
    imported = {module.partition(".")[0] for module, _ in facts.imports}
    return not root and name in framework.methods and not imported.isdisjoint(framework.modules)


def wiring_task(scan: RepoScan) -> str:
    """What is left to do in the code so that calls of models are recorded, in a paragraph for whoever does it: a
    person or a coding agent. Says so when nothing is.
    """
    if scan.instrumented:
        return "Calls of models are recorded. Run a case and look at its trace: one entry a call, each with its usage."
    adapters = dict.fromkeys(one.adapter for one in scan.detections if one.framework.models and one.adapter is not None)
    tools = [one for one in scan.detections if not one.framework.models]
    by_hand = [one.name for one in scan.detections if one.adapter is None]
    steps = [f"use {' and '.join(adapters)} where the code makes or runs what asks models"] if adapters else []
    if by_hand or not adapters:
        where = f" of {' and '.join(by_hand)}" if by_hand else ""
        steps.append(f"put `runtime.trace.model_call` around each call{where}, and give it the response with `output`")
    if tools:
        steps.append(f"{' and '.join(one.name for one in tools)}: the adapter records tools only, so record models too")
    if adapters and by_hand:
        steps.append("record no call twice: what an adapter records needs no `model_call`")
    if scan.existing_telemetry:
        steps.append(f"leave {' and '.join(scan.existing_telemetry)} as it is")
    sites = list(dict.fromkeys(site for one in scan.detections for site in one.call_sites))[:MAX_SITES]
    look = f" Begin at {', '.join(sites)}." if sites else ""
    return f"Have calls of models recorded: {'; '.join(steps)}.{look}"
