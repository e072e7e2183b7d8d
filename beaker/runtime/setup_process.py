"""The setup process: imports the Integration, checks rows, and holds one attempt's `prepare_run` open."""

import asyncio
from pathlib import Path
from typing import Any

from beaker.core.convert import to_json
from beaker.core.strict_json import dumps
from beaker.runtime.attempt import Attempt
from beaker.runtime.channel import Channel
from beaker.runtime.code_root import code_root_from_json
from beaker.runtime.failures import StageFailed, StageProblem
from beaker.runtime.importing import import_integration
from beaker.runtime.repeated_ids import fields_of_ids
from beaker.runtime.rows import CheckedDataset
from beaker.sdk.integration import Integration
from beaker.sdk.validation import validate_integration

Request = dict[str, Any]


async def serve(channel: Channel) -> None:
    """Answer `start`, then `check_rows` and `prepare`, until `close` or `stop`."""
    await _SetupProcess(channel).run()


class _SetupProcess:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._requests: asyncio.Queue[Request] = asyncio.Queue()
        self._main = asyncio.current_task()
        self._stop: Request | None = None
        self._checked: CheckedDataset | None = None

    async def run(self) -> None:
        self._channel.listen(self._on_request)
        ending: Request | None = None
        problems: list[StageProblem] = []
        try:
            start = await self._requests.get()
            try:
                imported = import_integration(code_root_from_json(start["code"]))
            except StageFailed as failure:
                self._refuse(start, failure.problems)
                return
            self._channel.answer(start, imported.described())
            ending, problems = await self._serve(imported.integration)
        except asyncio.CancelledError:
            if self._stop is None:
                raise
        ending = self._stop or ending
        if ending is not None:
            self._refuse(ending, problems) if problems else self._channel.answer(ending, {})

    async def _serve(self, integration: Integration) -> tuple[Request | None, list[StageProblem]]:
        """Answer requests; the one that ended it, and what failed while an open setup was left."""
        while (request := await self._requests.get())["op"] != "close":
            try:
                dataset = self._check_rows(integration, Path(request["dataset_dir"]))
            except StageFailed as failure:
                self._refuse(request, failure.problems)
                continue
            if request["op"] == "check_rows":
                self._channel.answer(request, {"row_counts": dataset.row_counts})
                continue
            ending, problems = await self._attempt(integration, dataset, request)
            if ending is not None:
                return ending, problems
        return request, []

    def _check_rows(self, integration: Integration, directory: Path) -> CheckedDataset:
        if self._checked is None or self._checked.directory != directory:
            adapter = validate_integration(integration)
            checked = CheckedDataset(directory, adapter, fields_of_ids(integration.run_setup))
            checked.check()
            self._checked = checked
        return self._checked

    async def _attempt(
        self, integration: Integration, dataset: CheckedDataset, request: Request
    ) -> tuple[Request | None, list[StageProblem]]:
        ended_by: Request | None = None

        async def ready(described: dict[str, Any]) -> None:
            nonlocal ended_by
            if not self._channel.answer(request, described):
                message = "the seed documents together are too large to be handed over"
                raise StageFailed(StageProblem("BK344", message, stage="prepare_run"))
            ended_by = await self._requests.get()

        attempt = Attempt(
            integration,
            dataset,
            request,
            announce=lambda stage: self._channel.event(self._stop or ended_by or request, "stage", stage=stage),
            send_cases=lambda split, lines: self._send_cases(request, split, lines),
            stopping=lambda: self._stop is not None,
        )
        problems = await attempt.hold(ready)
        if attempt.interrupted and self._stop is None:
            # By code that cancelled every task, or as the event loop ends: why is known where the process ends.
            self._channel.ends_during(attempt.interrupted, [to_json(problem) for problem in problems])
            raise asyncio.CancelledError
        if ended_by is None and self._stop is None:
            self._refuse(request, problems)
        return self._stop or ended_by, problems

    def _send_cases(self, request: Request, split: str, lines: list[str]) -> None:
        head = f'{{"id":{dumps(request["id"])},"event":"cases","split":{dumps(split)},"cases":['
        self._channel.send_encoded(f"{head}{','.join(lines)}]}}\n".encode("ascii"))

    def _refuse(self, request: Request, problems: "list[StageProblem] | tuple[StageProblem, ...]") -> None:
        self._channel.refuse(request, "raised", [to_json(problem) for problem in problems])

    def _on_request(self, request: Request) -> None:
        if request["op"] == "stop":
            self._stop = request
            if self._main is not None:
                self._main.cancel()
        else:
            self._requests.put_nowait(request)
