"""The page about a run that comes with each of its candidates."""

from collections.abc import Iterable, Iterator
from typing import Any

from beaker.service.answers import candidate_id, run_json
from beaker.service.candidates import Found
from beaker.service.database import Database
from beaker.service.reports import candidates_json, eval_reports

REPORT = "report.html"


def report_file(
    database: Database, found: Found, documents: tuple[Any, Any], files: Iterable[tuple[str, bytes]]
) -> Iterator[tuple[str, bytes]]:
    """`report.html`: the run, with this candidate held against the baseline.

    `documents` are those of the baseline and of the candidate; `files` what else the download holds: its patch is
    shown.
    """
    # A page is made only for a download.
    from beaker.core.report import RunReport, report_page

    run, state, number = found.run, found.state, found.number
    patch = next((data for path, data in files if path == "patch.diff"), b"")
    reports = [report for one in sorted({0, number}) for report in eval_reports(database, run, state, one)]
    page = report_page(
        RunReport(
            run=run_json(database, run),
            candidates=candidates_json(database, run, state),
            reports={"eval_reports": reports},
            candidate_id=candidate_id(run.id, number),
            before=documents[0],
            after=documents[1],
            patch=patch.decode("utf-8", "replace"),
        )
    )
    yield REPORT, page.encode()
