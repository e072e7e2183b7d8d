"""The command line as a tree: usage, global switches, implied actions, what comes later, completion."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.completion import SHIPPED, completion_script
from beaker.cli.endpoints import COMMAND_ENDPOINTS
from beaker.cli.parser import COMMANDS, LATER_OPTIONS, build_parser
from beaker.core.endpoints import ENDPOINT


def leaves(parser: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every command that does something, by its words."""
    below = [action for action in parser._actions if hasattr(action, "choices") and isinstance(action.choices, dict)]
    if not below:
        return [(path, parser)]
    return [leaf for action in below for name, child in action.choices.items() for leaf in leaves(child, (*path, name))]


@pytest.mark.parametrize("argv", [[], ["run", "status"], ["dataset"], ["nonsense"], ["run", "--bogus"], ["changes"]])
def test_usage__wrong__exits_2_with_usage_and_reason(argv: list[str], beaker: Callable[..., Any]) -> None:
    """A command line that is none says why and how it should look."""
    done = beaker(*argv)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: BK900 ")
    assert "hint: usage: beaker" in done.err


@pytest.mark.parametrize(
    ("argv", "said", "usage"),
    [
        (["run", "foo"], "invalid choice: 'foo'", "usage: beaker run "),
        (["run", "status", "x", "y"], "unrecognized arguments: y", "usage: beaker run status "),
        (["dataset", "list", "--bogus"], "unrecognized arguments: --bogus", "usage: beaker dataset list "),
        (["run", "smoke", "--config-file", "x"], "beaker --config-file PATH run smoke", "usage: beaker run smoke "),
        (["run", "list", "--base-url=u"], "beaker --base-url URL run list", "usage: beaker run list "),
    ],
)
def test_usage__wrong_word__is_judged_by_the_innermost_command(
    argv: list[str], said: str, usage: str, beaker: Callable[..., Any]
) -> None:
    """The command that cannot take a word refuses it, with its own usage; a misplaced option is told its place."""
    done = beaker(*argv)
    assert done.code == 2
    assert said in done.err
    assert f"hint: {usage}" in done.err


def test_usage__json__is_a_json_problem(beaker: Callable[..., Any]) -> None:
    """Where JSON was asked for, even a usage error is JSON."""
    done = beaker("run", "status", "--json")
    assert json.loads(done.err)["error"]["code"] == "BK900"


def test_help__every_level__exits_0(beaker: Callable[..., Any]) -> None:
    """Help is on stdout at every level."""
    for path, _ in leaves(build_parser()):
        for depth in range(len(path) + 1):
            done = beaker(*path[:depth], "--help")
            assert (done.code, done.err) == (0, "")
            assert done.out.startswith("usage: beaker")


def test_help__root__is_that_of_the_whole_tree(beaker: Callable[..., Any]) -> None:
    """The list of commands, which is made without them, is the one that the commands would give."""
    whole = build_parser().format_help()
    assert build_parser(listed_only=True).format_help() == whole
    assert beaker("-h").out == beaker("--help").out == whole


def test_json__every_command__has_it() -> None:
    """Every command answers with --json, and takes the global switches behind it."""
    for path, parser in leaves(build_parser()):
        options = {option for action in parser._actions for option in action.option_strings}
        assert {"--json", "--local", "--quiet", "--verbose"} <= options, path


def test_endpoints__registry__names_every_command_and_real_endpoints() -> None:
    """Every command but the demo, which runs the others, says what it calls."""
    assert {" ".join(path) for path, _ in leaves(build_parser())} == {*COMMAND_ENDPOINTS, "demo"}
    assert {name for names in COMMAND_ENDPOINTS.values() for name in names} <= ENDPOINT.keys()


@pytest.mark.parametrize(
    "switch", ["--local", "--quiet", "--verbose", "--no-resume", "--json", "--insecure-http", "--wide"]
)
def test_switch__before_or_after_the_command__is_the_same(switch: str) -> None:
    """A switch may stand on either side; its absence behind the command does not undo it."""
    parser = build_parser()
    name = switch.strip("-").replace("-", "_")
    before, after, none = (
        vars(parser.parse_args(argv))[name]
        for argv in ([switch, "run", "list"], ["run", "list", switch], ["run", "list"])
    )
    assert (before, after, none) == (True, True, False)


@pytest.mark.parametrize(
    ("argv", "action"),
    [
        (["run"], "trigger"),
        (["run", "--dataset", "d"], "trigger"),
        (["--local", "run", "--json"], "trigger"),
        (["run", "list"], "list"),
        (["run", "status", "r1"], "status"),
    ],
)
def test_run__without_action__means_trigger(argv: list[str], action: str) -> None:
    """`beaker run` alone triggers; an action is what it says."""
    assert build_parser().parse_args(argv).action == action


def test_run__options_before_an_action__are_refused_not_dropped(beaker: Callable[..., Any]) -> None:
    """Options in front of an action belong to no action: never silently ignored."""
    assert beaker("run", "--dataset", "d", "status", "r1").code == 2


@pytest.mark.parametrize("option", LATER_OPTIONS)
def test_later_option__is_refused_with_the_reason(option: str, beaker: Callable[..., Any]) -> None:
    """What another edition has is refused with a reason, never ignored."""
    for argv in (["run", "trigger", option], ["run", "pull", "r1", f"{option}=x"]):
        done = beaker(*argv)
        assert done.code == 2
        assert "BK901" in done.err
        assert LATER_OPTIONS[option] in done.err


def test_version__prints_name_and_version(beaker: Callable[..., Any]) -> None:
    """`beaker --version` is one line."""
    from beaker import __version__

    done = beaker("--version")
    assert (done.code, done.out) == (0, f"beaker-sdk {__version__}\n")


@pytest.mark.parametrize(
    ("argv", "unwanted"),
    [
        (["--version"], {"httpx", "yaml", "asyncio", "attrs", "attr", "cattrs", "returns", "json"}),
        (["--version"], {"argparse", "typing", "shutil", "gettext"}),
        (["--help"], {"beaker.cli.run", "beaker.cli.dataset", "beaker.cli.smoke"}),
        (["--help"], {"httpx", "yaml", "asyncio", "attrs", "attr", "cattrs", "returns", "json"}),
        (["--local", "run", "status", "r1"], {"httpx", "asyncio", "starlette"}),
    ],
)
def test_start__light_commands__import_little(argv: list[str], unwanted: set[str], tmp_path: Path) -> None:
    """What answers at once does not wait for heavy imports."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations: {}\n")
    script = (
        "import sys\nfrom beaker.cli.__main__ import main\n"
        f"main({argv!r})\nprint('MODULES', *sorted({unwanted!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["MODULES"]


def test_module__python_m__runs_the_same(tmp_path: Path) -> None:
    """`python -m beaker.cli` is the console script."""
    done = subprocess.run(
        [sys.executable, "-m", "beaker.cli", "--version"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith("beaker-sdk ")


def test_modules__of_commands__import_nothing_heavy_at_their_top() -> None:
    """Every start imports the command modules, so their own top level stays with argparse and the shell."""
    allowed = {"argparse", "collections.abc", "contextlib", "pathlib", "typing", "importlib", "beaker"}
    for name in COMMANDS.values():
        path = Path(__file__).parents[2] / (name.replace(".", "/") + ".py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                assert node.module in allowed or node.module.startswith("beaker.cli."), f"{name}: {node.module}"
                assert node.module != "beaker.cli.place", f"{name} imports what opens a place at its top"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion__names_every_command(
    shell: str, beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """The script knows every command and its options; with --json it is a text in one line."""
    wrapped = beaker("completion", shell, "--json")
    conforms(json.loads(wrapped.out), "cli-completion.json")
    assert json.loads(wrapped.out)["script"] + "\n" == beaker("completion", shell).out
    done = beaker("completion", shell)
    assert done.code == 0
    for path, _ in leaves(build_parser()):
        assert path[-1] in done.out
    assert "--poll-interval" in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion__of_a_built_package__is_what_the_parsers_give(shell: str) -> None:
    """The wheel carries the scripts that its own parsers make, in the package and where shells look."""
    if not SHIPPED.is_dir():
        pytest.skip("no built package is at work")
    file = SHIPPED / f"beaker.{shell}"
    assert file.read_text(encoding="utf-8") == completion_script(shell) + "\n"
    places = {"bash": "bash-completion/completions/beaker", "zsh": "zsh/site-functions/_beaker"}
    shared = Path(sys.prefix) / "share" / places.get(shell, "fish/vendor_completions.d/beaker.fish")
    assert shared.read_bytes() == file.read_bytes()


def test_completion__of_a_built_package__imports_no_command(tmp_path: Path) -> None:
    """A shell that asks for the script at its start does not wait for the commands."""
    (tmp_path / "beaker.zsh").write_text("as shipped\n")
    unwanted = {
        "httpx",
        "yaml",
        "asyncio",
        "attrs",
        "cattrs",
        "returns",
        "json",
        "beaker.cli.run",
        "beaker.cli.dataset",
    }
    script = (
        "import sys, pathlib\nfrom beaker.cli import completion\nfrom beaker.cli.__main__ import main\n"
        f"completion.SHIPPED = pathlib.Path({str(tmp_path)!r})\nmain(['completion', 'zsh'])\n"
        f"print('MODULES', *sorted({unwanted!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "as shipped\nMODULES\n"


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["beaker", "da"], "dataset"),
        (["beaker", "--local", "run", "st"], "status"),
        (["beaker", "run", "status", "r1", "--wa"], "--watch"),
    ],
)
def test_completion__bash__completes(line: list[str], expected: str, beaker: Callable[..., Any]) -> None:
    """Bash completes commands and options, also behind switches and arguments."""
    words = " ".join(f"'{word}'" for word in line)
    script = (
        f"{beaker('completion', 'bash').out}\nCOMP_WORDS=({words})\nCOMP_CWORD={len(line) - 1}\n"
        '_beaker\necho "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]
