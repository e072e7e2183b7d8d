"""`beaker serve`: the project's place behind HTTP, for other commands, other folders and other tools."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf, positive
from beaker.cli.shell import REFUSED, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.service.server import Serving, Settings


def add_parser(subparsers: Any) -> None:
    """Add `beaker serve`."""
    leaf = add_leaf(
        subparsers,
        "serve",
        help=HELP["serve"],
        description="Answers the API for this project until it is stopped, and looks after its runs: at most "
        "--max-runs at once, the others wait. Its state is that of --local. Whoever asks must show the token.",
    )
    leaf.add_argument("--host", default="127.0.0.1", metavar="HOST", help="where to listen (127.0.0.1)")
    leaf.add_argument(
        "--port", type=positive(65535, least=0), default=8787, metavar="N", help="0 is any free one (8787)"
    )
    leaf.add_argument("--token-file", metavar="FILE", help="the token, made when missing (STATE/server/token)")
    leaf.add_argument("--max-runs", type=positive(1000), default=2, metavar="N", help="runs at the same time (2)")
    leaf.add_argument("--state", metavar="DIR", help="where the state lies (.beaker/local, BEAKER_LOCAL_DIR)")
    leaf.add_argument("--public-url", metavar="URL", help="how callers reach it, through a proxy")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Serve until a signal ends it (130, 143 or 129); 2 when it cannot, or when its state was deleted."""
    from beaker.cli.place import look_around
    from beaker.cli.signals import run_async
    from beaker.core.credentials import LOCAL
    from beaker.core.needless import SERVER_REASONS, needless_to_a_server
    from beaker.core.problems import Problem, Refused
    from beaker.core.selection import choose

    given = [option for option in SERVER_REASONS if getattr(arguments, option.strip("-").replace("-", "_"))]
    if (problem := needless_to_a_server(given)) is not None:
        raise Refused(problem)
    around = look_around(arguments, io)
    if around.problems:
        raise Refused(around.problems)
    if around.project is None:
        hint = "go to a folder with .beaker/beaker.yaml in or above it"
        raise Refused(Problem("BK720", "there is no project here to serve", str(io.cwd), hint))
    try:
        from beaker.service.server import Settings, serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("beaker"):
            raise
        hint = "install Beaker with its extra `serve` (starlette and uvicorn)"
        raise Refused(Problem("BK747", f"{error.name} is not installed, which serving needs", hint=hint)) from None
    settings = Settings(
        root=around.project.root,
        config_file=around.project.config_file,
        state_dir=None if arguments.state is None else (io.cwd / arguments.state).resolve(),
        host=arguments.host,
        port=arguments.port,
        token_file=None if arguments.token_file is None else io.cwd / arguments.token_file,
        max_runs=arguments.max_runs,
        public_url=_public_url(arguments.public_url),
        insecure_http=arguments.insecure_http,
    )
    entry = choose(around.config, None).value_or(None)
    agent = (entry.agent_key if entry is not None else None) or LOCAL
    run_async(
        serve(
            settings,
            io.environ,
            ready=lambda serving: _show(serving, settings, agent, io),
            say=lambda text: _log(text, io),
        )
    )
    return REFUSED  # unreachable: it ends by a signal or a refusal


def _public_url(given: str | None) -> str | None:
    from returns.pipeline import is_successful

    from beaker.core.credentials import LOCAL, choose_base_url
    from beaker.core.problems import Problem, Refused

    if given is None:
        return None
    judged = choose_base_url(given, {})
    if not is_successful(judged) or given.strip() == LOCAL:
        why = "must be an http(s) URL" if is_successful(judged) else judged.failure().message
        raise Refused(
            Problem("BK746", why, "--public-url", "give the address that callers use: https://beaker.example")
        )
    return given.strip().rstrip("/")


def _show(serving: "Serving", settings: "Settings", agent: str, io: Io) -> None:
    from beaker.cli.words import counted, quoted
    from beaker.core.problems import Problem

    url = settings.public_url or serving.url
    if io.json:
        import os

        io.json_line(
            {
                "url": url,
                "listening": serving.url,
                "token_file": str(serving.token_file),
                "state": str(serving.state_dir),
                "project": str(settings.root),
                "agent": agent,
                "max_runs": settings.max_runs,
                "pid": os.getpid(),
            }
        )
        return
    io.out("beaker serve: ", Styled("READY", "ok"), f" {one_line(url)}")
    io.out(f"  project  {one_line(str(settings.root))}")
    io.out(f"  state    {one_line(str(serving.state_dir))}")
    io.out(f"  token    in {one_line(str(serving.token_file))}")
    io.out(f"  runs     at most {counted(settings.max_runs, 'run')} at once")
    if serving.token_open:
        hint = f"chmod 600 {quoted(str(serving.token_file))}, unless that is meant"
        io.warn(Problem("BK745", "other users here can read the token", str(serving.token_file), hint))
    io.note()
    io.note(Styled("Next:", "heading"), " in another shell, in any folder")
    io.note(f"  export BEAKER_API_BASE_URL={quoted(url)} BEAKER_AGENT_KEY={quoted(agent)}")
    io.note(f'  export BEAKER_API_KEY="$(cat {quoted(str(serving.token_file))})"')
    io.note("  beaker run list")


def _log(text: str, io: Io) -> None:
    """A line of the server's log, with the time; under --json too, since nobody reads stderr as an answer."""
    from datetime import datetime

    try:
        io.derive(json=False).note(f"{datetime.fromtimestamp(io.now()).strftime('%Y-%m-%d %H:%M:%S')}  {text}")
    except OSError:
        pass  # whoever read the log has gone, or the disk that takes it is full: the runs go on all the same
