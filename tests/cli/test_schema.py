"""`beaker schema`: what commands print with --json, as schemas that stand alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.endpoints import COMMAND_ENDPOINTS
from beaker.cli.schema import COMMAND_SCHEMAS, ERROR
from beaker.files.published import published_schemas

validators = pytest.importorskip("jsonschema", reason="needs jsonschema")


def test_table__has_every_command_and_only_published_schemas() -> None:
    """No command prints JSON that is not described, and no schema of a command is forgotten."""
    assert COMMAND_SCHEMAS.keys() == {*COMMAND_ENDPOINTS, "demo", ERROR}
    named = {name for names in COMMAND_SCHEMAS.values() for name in names}
    published = {name for name in published_schemas() if name.startswith("cli-")}
    assert published - named == {"cli-agent.json"}  # others refer to it
    assert named <= published_schemas().keys()


@pytest.mark.parametrize("command", COMMAND_SCHEMAS)
def test_schema__of_each_command__is_valid_and_needs_no_other_file(
    command: str, beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """What is printed is a JSON Schema that a validator uses as it is, without looking anything up."""
    schema = json.loads(beaker("schema", *command.split(), "--json").out)
    conforms(schema, "cli-schema.json")
    validator = validators.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert not validator.is_valid(["no answer is a list"])


def test_schema__error__takes_a_real_refusal(beaker: Callable[..., Any]) -> None:
    """A refusal is what the schema of errors says, by a validator that is not ours."""
    schema = json.loads(beaker("schema", "error").out)
    refused = json.loads(beaker("schema", "nonsense", "--json").err)
    validators.Draft202012Validator(schema).validate(refused)
    with pytest.raises(validators.ValidationError):
        validators.Draft202012Validator(schema).validate({"error": {}})


def test_schema__nothing__lists_each_with_its_version(
    beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """Without a command all are listed."""
    listed = json.loads(beaker("schema", "--json").out)
    conforms(listed, "cli-schema-list.json")
    assert listed["commands"].keys() == COMMAND_SCHEMAS.keys()
    lines = beaker("schema").out.splitlines()
    assert len(lines) == len(COMMAND_SCHEMAS)
    assert "run status                run.json (version 1)" in lines


def test_schema__no_command__is_refused(beaker: Callable[..., Any]) -> None:
    """What is no command says so, with what is meant perhaps."""
    done = beaker("schema", "run", "statsu")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'run status'?" in done.err


def test_published__of_a_checkout__are_those_of_the_pages() -> None:
    """What the package reads is what is published."""
    folder = Path(__file__).parents[2] / "docs" / "schemas"
    assert published_schemas().keys() == {path.name for path in folder.glob("*.json")}
