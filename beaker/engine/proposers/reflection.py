"""The `reflection` proposer: a language model that is shown the evidence and rewrites one file."""

import asyncio
from collections.abc import Callable

import attrs
from returns.pipeline import is_successful

from beaker.core.problems import Problem, Refused
from beaker.core.reflection.answer import Edit, read_answer, settled
from beaker.core.reflection.budget import SMALLEST_PROMPT, Window, cut, window
from beaker.core.reflection.chat import ChatAnswer, Message, smaller
from beaker.core.reflection.files import WorkingFile
from beaker.core.reflection.prompt import AGAIN, Prompt, build_prompt
from beaker.core.reflection.settings import Reflection
from beaker.core.repository_tree import RepositoryFile, edited_files, inside_targets
from beaker.core.reserved_names import reserved_part
from beaker.core.usage import ModelUsage, summed
from beaker.core.values import value
from beaker.core.wording import counted
from beaker.engine.candidates import CandidateTree, changed_paths, tree_files
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import Clean
from beaker.engine.judging import Scope, child_tree
from beaker.engine.plan import RunPlan
from beaker.engine.proposal import Proposal, ProposalRequest
from beaker.engine.proposers.chat_client import ChatClient, TooLong
from beaker.engine.setting_up import Opened
from beaker.engine.working_copy import DOCUMENTS
from beaker.engine.working_repository import REPOSITORY
from beaker.runtime.shortening import shortened

LONGEST_MESSAGE = 1_000
"""Characters kept of why there is no child."""

QUESTIONS = 2
"""How often a model is asked for an edit that can be read, for one proposal."""

SHRINKS = 5
"""How often a prompt is made shorter for a model whose context it exceeds."""

LARGEST_FILE = 1_000_000
"""Bytes of a file that a model may be shown; larger ones are named to nobody."""

QUOTED_TOKENS = 400
"""Of an answer without an edit, what the model is reminded of."""


@value(kw_only=True)
class ReflectionProposer:
    """Asks the model of `settings` for one edit of a file within `scope`.

    `file(tree, path)` gives a file of a candidate's repository, `connect` a client for one proposal. `timeout` bounds a
    proposal, in seconds; `clean` takes secrets and the run's own folders out of what is kept.
    """

    settings: Reflection
    scope: Scope
    timeout: float
    connect: Callable[[], ChatClient]
    file: Callable[[CandidateTree, str], RepositoryFile | None]
    clean: Clean

    async def propose(self, request: ProposalRequest) -> Proposal:
        """Ask once; see `beaker.engine.proposal.Proposer`."""
        talk = _Talk(self.connect())
        try:
            async with asyncio.timeout(self.timeout):
                made = await self._reflect(request, talk)
        except TimeoutError:
            limit = counted(f"{self.timeout:g}", "second")
            made = Proposal("timed_out", f"the model did not answer within {limit}")
        except Refused as refused:
            (problem, *_) = refused.problems
            made = Proposal("crashed", f"{problem.message}; {problem.hint}" if problem.hint else problem.message)
        finally:
            await talk.client.close()
        return attrs.evolve(  # type: ignore[misc]  # a value is an attrs class
            made,
            message=shortened(made.message, LONGEST_MESSAGE, self.clean),
            usage=summed(talk.usage),
            artifacts={name: self.clean(text) for name, text in talk.artifacts.items()},
        )

    async def _reflect(self, request: ProposalRequest, talk: "_Talk") -> Proposal:
        files = await asyncio.to_thread(self._files, request.parent)
        places = self._places(files)
        prompt, answer, room = await self._ask(request, files, places, talk)
        known, shown = [file.path for file in files], [file.path for file in prompt.shown]
        for number in range(1, QUESTIONS + 1):
            read = read_answer(answer.text, known=known, places=places, shown=shown, cut_off=answer.cut_off)
            if is_successful(read):
                return self._judge(request.parent, read.unwrap(), files)
            if number < QUESTIONS:
                again = AGAIN.format(why=read.failure().message, path=prompt.example)
                try:
                    answer = await talk.ask(
                        [*_messages(prompt), _said(cut(answer.text, QUOTED_TOKENS)), Message("user", again)], room
                    )
                except TooLong:
                    break
        return Proposal("no_change", f"the model's answer holds no edit: {read.failure().message}")

    async def _ask(
        self, request: ProposalRequest, files: list[WorkingFile], places: list[str], talk: "_Talk"
    ) -> tuple[Prompt, ChatAnswer, int]:
        """The first answer, its prompt, and the tokens an answer may have; prompts get shorter until one fits."""
        room = window(self.settings.context_tokens, self.settings.max_output_tokens)
        for _ in range(SHRINKS):
            prompt = build_prompt(
                files,
                places=places,
                summary=request.evidence.summary,
                cases=request.evidence.cases,
                window=room,
                seed=request.seed,
            )
            try:
                return prompt, await talk.ask(_messages(prompt), room.answer), room.answer
            except TooLong as error:
                said, less = str(error), smaller(prompt.tokens, error.body)
                if less < SMALLEST_PROMPT:
                    break
                room = Window(less, room.answer)
        raise Refused(_no_room(said))

    def _files(self, parent: CandidateTree) -> list[WorkingFile]:
        """The text files of a candidate that are within the scope."""
        locked = {(seed.group, seed.name) for seed in self.scope.seeds if not seed.editable}
        found = [
            WorkingFile(f"{DOCUMENTS}/{group}/{name}", content, editable=(group, name) not in locked)
            for (group, name), content in sorted(tree_files(parent).items())
        ]
        paths = self.scope.paths
        for path in edited_files(parent.repository, self.scope.commit) if paths else ():
            if inside_targets(path, paths) and reserved_part(path) is None:
                file = self.file(parent, path)
                text = None if file is None else _text(file.content)
                if text is not None:
                    found.append(WorkingFile(f"{REPOSITORY}/{path}", text))
        return found

    def _places(self, files: list[WorkingFile]) -> list[str]:
        """The folders in which a file may be made."""
        known = {file.path for file in files}
        declared = [f"{REPOSITORY}/{path}".rstrip("/") for path in self.scope.paths]
        return [
            *(f"{DOCUMENTS}/{group}" for group in self.scope.groups),
            *(one for one in declared if one not in known),
        ]

    def _judge(self, parent: CandidateTree, edit: Edit, files: list[WorkingFile]) -> Proposal:
        """What became of a candidate with one edit."""
        before = next((file.text for file in files if file.path == edit.path), None)
        content = None if edit.content is None else settled(edit.content, before)
        try:
            data = b"" if content is None else content.encode()
        except UnicodeEncodeError:
            return Proposal("invalid_tree", f"{edit.path}: the model's text is not UTF-8")
        documents, repository = tree_files(parent), dict(parent.repository)
        root, _, path = edit.path.partition("/")
        if root == DOCUMENTS:
            group, _, name = path.partition("/")
            if group not in self.scope.groups:
                return Proposal("outside_targets", f"{edit.path}: no group of documents is declared there")
            documents.pop((group, name), None)
            if content is not None:
                documents[group, name] = content
        elif not self.scope.paths:
            return Proposal("outside_targets", f"{edit.path}: the repository is no target")
        elif content is None:
            repository[path] = None
        else:
            known = self.file(parent, path)
            repository[path] = RepositoryFile("100644" if known is None else known.mode, data)
        child = child_tree(self.scope, documents, repository)
        if not is_successful(child):
            misdeed = child.failure()
            return Proposal(misdeed.outcome, misdeed.message)
        changed = changed_paths(parent, child.unwrap())
        if not changed:
            return Proposal("no_change", f"the model's edit leaves {edit.path} as it is")
        return Proposal("child", tree=child.unwrap(), changed=changed)


class _Talk:
    """One conversation: what was asked and answered, and what it cost."""

    def __init__(self, client: ChatClient) -> None:
        self.client = client
        self.usage: list[ModelUsage] = []
        self.artifacts: dict[str, str] = {}
        self._asked = 0

    async def ask(self, messages: list[Message], answer_tokens: int) -> ChatAnswer:
        """Ask; the prompt is kept before the answer is there, and stays when there is none."""
        self._asked += 1
        suffix = f"-{self._asked}" if self._asked > 1 else ""
        self.artifacts[f"prompt{suffix}.md"] = "\n\n".join(f"# {one.role}\n\n{one.content}" for one in messages)
        answer = await self.client.ask(messages, answer_tokens=answer_tokens)
        self.usage.append(answer.usage)
        self.artifacts[f"answer{suffix}.md"] = answer.text
        return answer


def _messages(prompt: Prompt) -> list[Message]:
    return [Message("system", prompt.system), Message("user", prompt.user)]


def _said(text: str) -> Message:
    return Message("assistant", text)


def _no_room(said: str) -> Problem:
    hint = "say with reflection.context_tokens how many tokens the model takes, or choose one that takes more"
    return Problem("BK563", f"no prompt is short enough for the model: {said}", hint=hint)


def _text(content: bytes) -> str | None:
    """A file's text; `None` for one that is binary or too large."""
    if len(content) > LARGEST_FILE or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def reflection_proposer(plan: RunPlan, checkouts: Checkouts, *, opened: Opened, clean: Clean) -> ReflectionProposer:
    """The proposer of a run whose settings name a model."""
    optimizer = plan.settings.optimizer
    settings = optimizer.reflection
    assert settings is not None
    return ReflectionProposer(
        settings=settings,
        scope=plan.scope(opened.targets, opened.seeds),
        timeout=optimizer.timeouts.proposal,
        connect=lambda: ChatClient(settings, plan.reflection_key),
        file=checkouts.file,
        clean=clean,
    )
