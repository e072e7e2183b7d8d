"""Reports as pages: answers of an API in, one self-contained HTML file out. Pure, as all of the core."""

from beaker.core.report.evaluation_page import evaluation_page
from beaker.core.report.run_page import RunReport, candidate_ids, compared_candidate, report_page

__all__ = ["RunReport", "candidate_ids", "compared_candidate", "evaluation_page", "report_page"]
