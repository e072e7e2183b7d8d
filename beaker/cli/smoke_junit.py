"""What smoke found, as a JUnit report: the format in which CI services show tests."""

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.core.problems import Problem
    from beaker.runtime.smoke_values import SmokeOutcome, StageReport

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, escaped or not."""


def write_junit(path: "Path", integration_id: str, outcome: "SmokeOutcome", *, strict: bool) -> None:
    """Write `path` anew, at once; `Refused` when that is impossible."""
    from beaker.core.problems import Refused
    from beaker.files.atomic import os_problem, write_bytes

    try:
        write_bytes(path, junit(integration_id, outcome, strict=strict))
    except OSError as error:
        raise Refused(os_problem(error, "write the JUnit report", path)) from None


def junit(integration_id: str, outcome: "SmokeOutcome", *, strict: bool) -> bytes:
    """One test suite with one test case per stage that was reached, and one for placeholders where that was looked at.

    A placeholder is a failure when `strict`, else it is skipped.
    """
    suite = ElementTree.Element("testsuite", name=_text(f"beaker run smoke: {integration_id}"))
    for stage in outcome.stages:
        _add_stage(suite, integration_id, stage)
    if outcome.readiness is not None:
        case = ElementTree.SubElement(suite, "testcase", classname=_text(integration_id), name="readiness")
        if outcome.reasons:
            found = ElementTree.SubElement(case, "failure" if strict else "skipped", message="placeholders are left")
            found.text = _text("\n".join(outcome.reasons))
    if outcome.warnings:
        ElementTree.SubElement(suite, "system-err").text = _text("\n".join(map(_line, outcome.warnings)))
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    suite.set("errors", "0")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _add_stage(suite: ElementTree.Element, integration_id: str, stage: "StageReport") -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=_text(integration_id), name=stage.stage)
    if stage.problems:
        first = stage.problems[0]
        failure = ElementTree.SubElement(case, "failure", type=first.code, message=_text(first.message))
        told = [*map(_line, stage.problems), str(getattr(first, "traceback", ""))]
        failure.text = _text("\n".join(part for part in told if part))
    if stage.captured:
        ElementTree.SubElement(case, "system-out").text = _text(stage.captured)


def _line(problem: "Problem") -> str:
    place = f"{problem.where}: " if problem.where else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{problem.code} {place}{problem.message}{hint}"


def _text(text: str) -> str:
    """`text` with what XML cannot hold made visible."""
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
