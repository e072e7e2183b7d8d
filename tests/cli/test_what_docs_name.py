"""What the pages and the guides for coding agents name is there: commands, options, settings, names of Python."""

import argparse
import ast
import builtins
import importlib
import inspect
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import beaker
import beaker.sdk.inference
import beaker.sdk.judging
import beaker.sdk.utils
import beaker.testing
from beaker.cli.parser import build_parser, parse
from beaker.cli.shell import Io
from beaker.core.problems import Refused
from beaker.files.published import published_schemas

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "beaker" / "skills").glob("*/SKILL.md"))
HISTORY = {"changelog.md", "generations.md"}
"""Pages about what other generations had."""
PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in HISTORY)]
BLOCK = re.compile(r"^( *)```(?:\{code-block\} )?(?P<kind>\w*)\n(?P<text>.*?)^\1```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
SHELL = {"sh", "console", "bash", "shell"}
TREE = build_parser()


def named(path: Path) -> str:
    return path.parent.name if path.name == "SKILL.md" else path.name


def blocks(path: Path, kinds: set[str]) -> list[str]:
    """The code of a page that is of these kinds, without what it is indented by."""
    found = BLOCK.finditer(path.read_text(encoding="utf-8"))
    return [
        re.sub(rf"^{one[1]}", "", re.sub(r"\A:caption:.*\n\n", "", one["text"]), flags=re.MULTILINE)
        for one in found
        if one["kind"] in kinds
    ]


def spans(path: Path) -> list[str]:
    """Every piece of code inside of sentences and tables, on one line, once."""
    text = BLOCK.sub("", path.read_text(encoding="utf-8")).removeprefix("---\n")
    return list(dict.fromkeys(" ".join(one.replace("\\|", "|").split()) for one in SPAN.findall(text)))


def command_lines(block: str) -> Iterator[list[str]]:
    """The arguments of every `beaker` that a block of shell starts."""
    typed = block.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in typed):
        typed = [line[2:] for line in typed if line.startswith("$ ")]
    for line in typed:
        # Shell operators are words of their own, and comments are none.
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, "#"
        words: list[str] = []
        for word in [*lexer, ";"]:
            if not set(word) <= set("();<>|&"):
                words.append(word)
                continue
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            if words and Path(words[0]).name == "beaker":
                yield words[1:]
            words = []


def leaves(parser: argparse.ArgumentParser, *words: str) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command of the tree below `parser`, groups among them."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from leaves(below, *words, name)


COMMANDS = dict(leaves(TREE))
OPTIONS = {option for parser in COMMANDS.values() for action in parser._actions for option in action.option_strings}
OF_OTHERS = {
    "--require-hashes", "--no-index", "--find-links", "--no-deps", "--dev", "--group", "--whitespace=nowarn", "--index",
    "--only-binary", "--system-site-packages", "--generate-hashes", "--junit-xml", "--reset-author", "--unshallow",
    "--max-turns", "--permission-mode", "--beaker-integration", "--python",
}  # fmt: skip
"""Options of other programs that pages speak of."""


def fault_of_command(words: list[str], *, whole: bool) -> str:
    """What is wrong with the arguments of one `beaker`: with `whole`, they are a command line as it would be typed."""
    if whole:
        try:
            parse(words, Io(stdout=io.StringIO(), stderr=io.StringIO(), stdin=io.StringIO(), environ={}, cwd=ROOT))
        except Refused as refused:
            return str(refused)
        except SystemExit:
            pass
        return ""
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    path: tuple[str, ...] = ()
    root = {option for action in TREE._actions for option in action.option_strings}
    for word in (word for word in words if not word.startswith("-")):
        if (*path, word) in COMMANDS:
            path = (*path, word)
    parser = COMMANDS[path]
    if not path and words and not words[0].startswith("-"):
        return f"no command {words[0]!r}"
    if any(isinstance(action, argparse._SubParsersAction) for action in parser._actions):
        after = words[words.index(path[-1]) + 1 :] if path else words[:0]
        if after and re.fullmatch(r"[a-z-]+", after[0]):
            return f"no command {after[0]!r} of {' '.join(path)}"
    known = root | {option for action in parser._actions for option in action.option_strings}
    # Options in front of an action that is implied belong to it.
    if (implied := (*path, "trigger")) in COMMANDS:
        known |= {option for action in COMMANDS[implied]._actions for option in action.option_strings}
    return " ".join(f"no option {option} of {' '.join(path)}" for option in options if option not in known)


def alternatives(words: list[str]) -> Iterator[list[str]]:
    """`agent list|create` as the two command lines that it stands for."""
    at = next((n for n, word in enumerate(words) if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", word)), None)
    if at is None:
        yield words
        return
    for word in words[at].split("|"):
        yield [*words[:at], word, *words[at + 1 :]]


@pytest.mark.parametrize("path", [*GUIDES, *PAGES], ids=named)
def test_page__commands__are_there_with_their_options(path: Path) -> None:
    """A block can be typed as it stands, and what is named inside of a sentence exists."""
    faults = []
    for block in blocks(path, SHELL):
        faults += [
            f"{words}: {fault}" for words in command_lines(block) if (fault := fault_of_command(words, whole=True))
        ]
    for span in spans(path):
        if span.startswith("beaker ") and "..." not in span:
            words = re.sub(r"[\[\]]", "", span.partition(" | ")[0].partition(" && ")[0]).split()[1:]
            for one in alternatives(words):
                if fault := fault_of_command(one, whole=False):
                    faults.append(f"`{span}`: {fault}")
        elif span.startswith("--"):
            option = re.split(r"[ =]", span)[0]
            if option not in OPTIONS | OF_OTHERS and span not in OF_OTHERS:
                faults.append(f"`{span}`: no such option")
    assert faults == []


@pytest.mark.parametrize("path", [*GUIDES, *PAGES], ids=named)
def test_page__names_of_the_package__can_be_imported(path: Path) -> None:
    """`beaker.x.y` is a module or something in one, and examples import what there is."""
    texts = [*spans(path), *blocks(path, {"python"})]
    dotted = {one for text in texts for one in re.findall(r"(?<![\w./-])beaker(?:\.[A-Za-z_]\w*)+", text)}
    faults = [name for name in sorted(dotted) if not is_there(name)]
    for block in blocks(path, {"python"}):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "beaker":
                imported = [f"{node.module}.{one.name}" for one in node.names]
                faults += [name for name in imported if not is_there(name)]
    assert faults == []


OTHER_DOTTED = {"beaker.yaml", "beaker.dev", "beaker.proposers", "beaker.engines", "beaker.fish", "beaker.evidence"}
"""Names of files, hosts, formats and groups of entry points, which only look like modules."""


def is_there(name: str) -> bool:
    if name in OTHER_DOTTED:
        return True
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except AttributeError:
            return False
        return True
    return False


def promised(node: Any) -> Iterator[str]:
    """Every key that a JSON Schema knows, at whatever place, and every word that a value may be."""
    if isinstance(node, dict):
        yield from (name for name in node.get("properties", {}) if isinstance(node.get("properties"), dict))
        yield from (word for word in node.get("enum", ()) if isinstance(word, str))
        for below in node.values():
            yield from promised(below)
    elif isinstance(node, list):
        for below in node:
            yield from promised(below)


def names_of_python() -> set[str]:
    """Public names of the package, the attributes of its classes, and the arguments of what can be called."""
    modules = (beaker, beaker.testing, beaker.sdk.judging, beaker.sdk.inference, beaker.sdk.utils)
    known: set[str] = set(dir(builtins))
    for module in modules:
        for name in dir(module):
            found = getattr(module, name)
            known.add(name)
            if inspect.isclass(found) and found.__module__.startswith("beaker"):
                known |= set(dir(found)) | set(getattr(found, "__annotations__", ()))
            is_error = inspect.isclass(found) and issubclass(found, BaseException)
            if callable(found) and not is_error and getattr(found, "__module__", "").startswith("beaker"):
                known |= set(inspect.signature(found).parameters)
    return known | {"model_call"}


HOOKS = {"run_case", "score_case", "prepare_run", "load_cases", "open_candidate", "row_model"}
SETTINGS = set(promised(published_schemas()["beaker-yaml.json"]))
OF_EXAMPLES = {"invoices", "bills", "tickets", "longest"}


@pytest.mark.parametrize("path", GUIDES, ids=named)
def test_guide__settings_and_names__exist(path: Path) -> None:
    """A setting that a guide names is one of the configuration, a name one of Python's or of what --json prints."""
    answers = {word for schema in published_schemas().values() for word in promised(schema)}
    known = SETTINGS | answers | names_of_python() | HOOKS | {"finish_reason"}
    faults = []
    for span in spans(path):
        if re.fullmatch(r"[a-z]+(_[a-z0-9]+)+|[A-Z][a-z]+([A-Z][a-z]+)+", span) and span not in known:
            faults.append(span)
    assert faults == []


@pytest.mark.parametrize("path", [*GUIDES, *PAGES], ids=named)
def test_page__settings_in_blocks__are_those_of_the_configuration(path: Path) -> None:
    """YAML that somebody would copy into the configuration has only keys that the configuration has."""
    if path.name == "ci.md":
        pytest.skip("its blocks are of CI services")
    found = {key for block in blocks(path, {"yaml"}) for key in keys(yaml.safe_load(block))}
    assert sorted(found - SETTINGS - OF_EXAMPLES) == []


def keys(node: Any) -> Iterator[str]:
    for name, below in node.items() if isinstance(node, dict) else ():
        yield name
        yield from keys(below)


def test_guide__example_of_an_integration__runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of the guide is one that can be loaded, and runs and scores a case."""
    (example,) = blocks(ROOT / "beaker" / "skills" / "beaker-integration" / "SKILL.md", {"python"})
    (tmp_path / "guide_integration.py").write_text(example)
    (tmp_path / "tickets.py").write_text("def route(ticket, rules):\n    return rules.strip()\n")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "routing.txt").write_text("billing\n")
    for module in ("guide_integration", "tickets"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    loaded = beaker.testing.load_integration("guide_integration:integration", root=tmp_path)
    rows = [{"id": "t1", "ticket": "My invoice", "team": "billing"}]
    prepared = beaker.testing.run_setup_once(loaded, rows)
    (case,) = prepared.train
    result = beaker.testing.run_case_once(loaded, case, documents=prepared.documents)
    assert beaker.testing.score_once(loaded, case, result).objective == 1.0


@pytest.mark.parametrize(
    "typed",
    [
        "beaker run smok",
        "beaker run smoke --nonsense",
        "X=1 .venv/bin/beaker dataset upload",
        "true && beaker nonsense  # a comment",
        "$ beaker explain BK101 | beaker nonsense",
    ],
)
def test_block__command_that_is_not_there__is_found(typed: str) -> None:
    """What is wrong in a block of shell is seen, wherever in its lines it stands."""
    assert any(fault_of_command(words, whole=True) for words in command_lines(typed))


@pytest.mark.parametrize("span", ["beaker nonsense", "beaker run nonsense", "beaker run pull --nonsense", "beaker x|y"])
def test_span__command_that_is_not_there__is_found(span: str) -> None:
    """So is what is wrong inside of a sentence."""
    assert any(fault_of_command(one, whole=False) for one in alternatives(span.split()[1:]))


def test_pages__links__lead_to_what_is_there() -> None:
    """A link from the README, a page or a guide names a file of the checkout; the site's index has every page."""
    faults = []
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *GUIDES):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", BLOCK.sub("", path.read_text(encoding="utf-8"))):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                faults.append(f"{named(path)}: {target}")
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").split()
    faults += [path.stem for path in PAGES[1:] if path.stem not in {*index, "index"}]
    assert faults == []
