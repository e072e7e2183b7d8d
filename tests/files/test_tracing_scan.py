"""Whether code records what it asks its models, told from its text."""

from pathlib import Path

import pytest

from beaker.files import tracing_scan
from beaker.files.tracing_scan import find_recording, recording_line, scan_repo


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("async def run(case, runtime):\n    with runtime.trace.model_call('m'):\n        pass\n", 2),
        ("def run(trace):\n\n    trace.model_call('m')\n", 3),
        ("t = runtime.trace\nt.model_call('m')\n", 2),
        ("a = trace\nb = a\nb.model_call('m')\n", 3),
        ("from beaker.tracing import current_trace\ncurrent_trace().model_call('m')\n", 2),
        ("beaker.tracing.current_trace().model_call('m')\n", 1),
        ("from beaker.tracing.integrations import litellm\nx = litellm.instrument()\n", 2),
        ("from beaker.tracing.integrations.langchain import handler\nx(callbacks=[handler()])\n", 2),
        ("import beaker.tracing.integrations.litellm\nx = beaker.tracing.integrations.litellm.instrument()\n", 2),
        ("import beaker.tracing.integrations.litellm as l\nwith l.registered(): pass\n", 2),
        ("from beaker.tracing import integrations as i\nx(i.langchain.config(t))\n", 2),
        ("from beaker.tracing.integrations import litellm\nlitellm.instrument()\n", None),
        ("from beaker.tracing.integrations import claude_agent_sdk as c\nwith c.registered(t): pass\n", None),
        ("from beaker.tracing.integrations import verifiers\ne = verifiers.instrument(e)\n", None),
        ("other.model_call('m')\n", None),
        ("trace.span('m')\n", None),
        ("# trace.model_call('m')\n", None),
        ("trace.model_call\n", None),
        ("from elsewhere import litellm\nlitellm.instrument()\n", None),
        ("from beaker.tracing.integrations import litellm\nlitellm.completion()\n", None),
        ("from beaker.tracing.integrations import litellm\n", None),
        ("handler()\n", None),
        ("def broken(:\n", None),
        ("trace.model_call('\0')\n", None),
    ],
)
def test_recording_line__source__as_listed(source: str, line: int | None) -> None:
    """The first call that records; what only looks like it, and what is no Python, does not count."""
    assert recording_line(source) == line


CODE = """\
import agents, openai as o
from langgraph.graph import StateGraph as Graph
from llama_index.core import Index
from . import litellm
from beaker.tracing.integrations import langchain, verifiers
Graph().compile(); index.as_query_engine(); agents.tool(); o.OpenAI(); litellm.completion(); Agent()
graph.invoke(x, langchain.config(trace))
verifiers.instrument(env)
trace.model_call()
"""


def test_scan__repository__tells_what_is_used_and_recorded(tmp_path: Path) -> None:
    """Frameworks that are declared or imported, where they are used, what records already; tests are found too."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "p"\ndependencies = ["LangGraph>=1", "logfire"]\n[dependency-groups]\ndev = ["openai[x]"]\n'
    )
    (tmp_path / "app").mkdir()
    (tmp_path / "app/code.py").write_text(CODE)
    (tmp_path / "broken.py").write_text("def (")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/conftest.py").write_text("import anthropic\nanthropic.Anthropic()\ntrace.model_call()\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/gone.py").write_text("import litellm\n")
    scan = scan_repo(tmp_path).unwrap()
    assert [(one.name, one.declared, one.evidence, one.call_sites) for one in scan.detections] == [
        ("openai-agents", False, ("imports agents at app/code.py:1",), ()),
        ("langgraph", True, ("declares langgraph", "imports langgraph at app/code.py:2"), ("app/code.py:6",)),
        ("llama-index", False, ("imports llama_index at app/code.py:3",), ("app/code.py:6",)),
        ("openai-sdk", True, ("declares openai", "imports openai at app/code.py:1"), ("app/code.py:6",)),
        ("anthropic-sdk", False, ("imports anthropic at tests/conftest.py:1",), ()),
    ]
    assert (scan.existing_telemetry, scan.unread, scan.root) == (("logfire",), ("broken.py",), str(tmp_path))
    assert (scan.adapter_sites, scan.tool_adapter_sites) == (("app/code.py:7",), ("app/code.py:8",))
    assert scan.model_call_sites == ("app/code.py:9",)


def test_scan__too_much_or_no_folder__is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for looking whether anything is recorded; an empty folder uses nothing."""
    assert scan_repo(tmp_path).unwrap().detections == ()
    monkeypatch.setattr(tracing_scan, "MAX_FILES", 1)
    for name in ("a.py", "b.py"):
        (tmp_path / name).touch()
    assert scan_repo(tmp_path).failure().code == "BK749"
    assert scan_repo(tmp_path / "none").failure().code == "BK701"


def test_find_recording__code__is_looked_through_in_order(tmp_path: Path) -> None:
    """Tests, environments and files that cannot be read do not count; nothing is imported."""
    call = "trace.model_call('m')\nraise SystemExit\n"
    for skipped in ("tests/a.py", ".venv/lib/a.py", "test_a.py", "a_test.py", "conftest.py", "build/a.py", "a.txt"):
        (tmp_path / skipped).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / skipped).write_text(call)
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere")
    assert find_recording(tmp_path).unwrap() is None
    (tmp_path / "z.py").write_text(call)
    assert find_recording(tmp_path).unwrap() == "z.py:1"
    (tmp_path / "pkg").mkdir()
    (tmp_path / "b.py").write_bytes(b"# \xff\n" + call.encode())
    assert find_recording(tmp_path).unwrap() == "b.py:2"
    (tmp_path / "b.py").write_bytes(b"#" * (tracing_scan.MAX_FILE_BYTES + 1))
    assert find_recording(tmp_path).unwrap() == "z.py:1"


def test_find_recording__too_much_or_no_folder__is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is named; a folder that is not there is told."""
    monkeypatch.setattr(tracing_scan, "MAX_FILES", 1)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("")
    problem = find_recording(tmp_path).failure()
    assert (problem.code, "more than 1 Python files" in problem.message) == ("BK749", True)
    assert find_recording(tmp_path / "gone").failure().code == "BK701"
