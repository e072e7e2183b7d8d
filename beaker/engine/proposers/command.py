"""The `command` proposer: any program that edits a working copy and exits with 0."""

import asyncio
import json
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core.proposer_command import PROJECT, PYTHON
from beaker.core.proposer_settings import COMMAND
from beaker.core.strict_json import dumps
from beaker.core.targets import declaration_json
from beaker.core.usage import ModelUsage, usage_of
from beaker.core.values import value
from beaker.core.wording import counted
from beaker.engine.candidates import CandidateTree, changed_paths
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import PROPOSALS
from beaker.engine.evidence import write_evidence
from beaker.engine.folders import remove_tree
from beaker.engine.judging import Scope
from beaker.engine.plan import RunPlan
from beaker.engine.proposal import Proposal, ProposalRequest
from beaker.engine.proposers.registered import registered_command, registered_environment
from beaker.engine.setting_up import Opened
from beaker.engine.working_copy import EVIDENCE, JUDGING_SECONDS, LaidOut, lay_out, take_back
from beaker.files.git_ignore import ignored_paths
from beaker.files.patience import Patience
from beaker.runtime.shortening import shortened
from beaker.runtime.supervisor import Completed, Supervisor

CAPTURE = 65536
"""Bytes kept of each of standard output and standard error."""

USAGE_FILE = "usage.json"
"""Where, in the evidence, a command may say what models it used."""

LARGEST_USAGE = 1_000_000

LONGEST_MESSAGE = 1_000
"""Characters kept of why there is no child."""


@value(kw_only=True)
class CommandProposer:
    """Runs `command` in a fresh working copy below `folder` and judges what it left.

    `environ` is the whole environment but for the `BEAKER_*` names added here; `scope` says what may be edited, and
    `write(tree, folder)` writes the repository of a candidate. `project` gives a read-only checkout, asked for only
    when the command mentions `{project}`, and `return_project` takes it back; `{python}` is the project's interpreter.
    `ignored` says which paths the project ignores, `clean` takes secrets and the run's own folders out of text.
    `timeout` is in seconds, `called` what messages call the command.
    """

    supervisor: Supervisor
    command: tuple[str, ...]
    environ: Mapping[str, str]
    scope: Scope
    folder: Path
    timeout: float
    write: Callable[[CandidateTree, Path], None]
    project: Callable[[], Path]
    return_project: Callable[[Path], None]
    ignored: Callable[[Sequence[str]], set[str]]
    clean: Callable[[str], str]
    called: str = "the command"

    async def propose(self, request: ProposalRequest) -> Proposal:
        """Run the command once; see `beaker.engine.proposal.Proposer`. Raises `OSError` when the disk refuses,
        and `Refused` when Git does."""
        root = self.folder / str(request.number)
        project: Path | None = None
        try:
            laid_out = await asyncio.to_thread(self._lay_out, root, request)
            command = tuple(word.replace(PYTHON, self.supervisor.python) for word in self.command)
            if any(PROJECT in word for word in command):
                project = await asyncio.to_thread(self.project)
                command = tuple(word.replace(PROJECT, str(project)) for word in command)
            done = await self.supervisor.run_command(
                command, cwd=root, env=self._environment(root, request.seed), timeout=self.timeout, capture=CAPTURE
            )
            stdout, stderr = self.clean(done.stdout), self.clean(done.stderr)
            made = _not_started(done, self.command[0]) or _failure(done, self.timeout, stderr, self.called)
            if made is None:
                made = await self._judged(laid_out)
            message = shortened(made.message, LONGEST_MESSAGE, self.clean)
            usage = await asyncio.to_thread(_usage, root / EVIDENCE / USAGE_FILE)
            return Proposal(made.outcome, message, made.tree, made.changed, stdout, stderr, usage)
        finally:
            if project is not None:
                self.return_project(project)
            await asyncio.shield(asyncio.to_thread(remove_tree, root))

    def _lay_out(self, root: Path, request: ProposalRequest) -> LaidOut:
        remove_tree(root)
        laid_out = lay_out(root, request.parent, self.scope, self.write)
        write_evidence(root / EVIDENCE, request.evidence)
        return laid_out

    async def _judged(self, laid_out: LaidOut) -> Proposal:
        patience = Patience(JUDGING_SECONDS)
        try:
            return await asyncio.to_thread(self._judge, laid_out, patience)
        finally:
            patience.end()  # nobody ends a thread: one that is still at it learns that nobody waits

    def _judge(self, laid_out: LaidOut, patience: Patience) -> Proposal:
        """What a command that exited with 0 left."""
        left = take_back(laid_out, self.scope, ignored=self.ignored, patience=patience)
        if not is_successful(left):
            misdeed = left.failure()
            return Proposal(misdeed.outcome, misdeed.message)
        changed = changed_paths(laid_out.parent, left.unwrap())
        if not changed:
            return Proposal("no_change", f"{self.called} changed {self._nothing()}")
        return Proposal("child", tree=left.unwrap(), changed=changed)

    def _nothing(self) -> str:
        """What a command may change, in words that follow "changed"."""
        kinds = ("document",) * bool(self.scope.groups) + ("file of the targets",) * bool(self.scope.paths)
        return f"no {' and no '.join(kinds)}"

    def _environment(self, root: Path, seed: int) -> dict[str, str]:
        targets: Any = declaration_json(self.scope.targets)
        return {
            **self.environ,
            "BEAKER_WORKSPACE": str(root),
            "BEAKER_EVIDENCE": str(root / EVIDENCE),
            "BEAKER_TARGETS": dumps(targets),
            "BEAKER_SOURCE_DIR": self.scope.source_dir,
            "BEAKER_PROPOSAL_SEED": str(seed),
            "BEAKER_USAGE": str(root / EVIDENCE / USAGE_FILE),
        }


def _not_started(done: Completed, program: str) -> Proposal | None:
    """The outcome of a command that the system did not start, with `program` as the settings name it, or `None`."""
    if done.returncode not in (126, 127) or done.stdout or not done.stderr.startswith("cannot start "):
        return None
    if done.returncode == 127:
        why = "no such program was found, or not the one that its #! line names"
        advice = "correct its name, or look at your PATH"
    elif "Exec format" in done.stderr:
        why = "it is no program, and has no #! line"
        advice = "begin it with a line such as #!/usr/bin/env python3, or put its interpreter in front"
    else:
        why = "it is not executable"
        advice = "`chmod +x` it and commit that, or put its interpreter in front"
    return Proposal("crashed", f"cannot start {program}: {why}; {advice}")


def _failure(done: Completed, timeout: float, stderr: str, called: str) -> Proposal | None:
    """The outcome of a command that did not exit with 0, or `None`."""
    if done.timed_out:
        return Proposal("timed_out", f"{called} did not end within {counted(f'{timeout:g}', 'second')}")
    if done.returncode == 0:
        return None
    last = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    return Proposal("crashed", f"{called} {_ending(done.returncode)}{f': {last[:300]}' if last else ''}")


def _ending(returncode: int | None) -> str:
    if returncode is not None and returncode < 0:
        try:
            return f"was ended by {signal.Signals(-returncode).name}"
        except ValueError:
            return f"was ended by signal {-returncode}"
    return f"ended with exit status {returncode}"


def _usage(path: Path) -> tuple[ModelUsage, ...]:
    """What the command says it used; nothing when it says none, or in another form."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_USAGE:
            return ()
        stated = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ()
    entries = stated if isinstance(stated, list) else [stated]
    return usage_of({"usage": [{"calls": 1, **entry} for entry in entries if isinstance(entry, dict)]})


def command_proposer(
    plan: RunPlan, supervisor: Supervisor, checkouts: Checkouts, *, opened: Opened, clean: Callable[[str], str]
) -> CommandProposer:
    """The proposer of a run whose settings name a command, or one that a package registers."""
    optimizer, registered = plan.settings.optimizer, plan.settings.optimizer.proposer
    command, environ, called = optimizer.command, plan.proposer_env, "the command"
    if registered != COMMAND:
        command, called = registered_command(registered), f"the proposer {registered!r}"
        environ = registered_environment(environ, optimizer.proposer_options)
    return CommandProposer(
        supervisor=supervisor,
        command=command,
        environ=environ,
        scope=plan.scope(opened.targets, opened.seeds),
        folder=plan.work / PROPOSALS,
        timeout=optimizer.timeouts.proposal,
        write=checkouts.write,
        project=checkouts.project,
        return_project=checkouts.return_project,
        ignored=lambda paths: ignored_paths(checkouts.ignore_rules(), paths),
        clean=clean,
        called=called,
    )
