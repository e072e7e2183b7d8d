"""The OpenAPI document says of every endpoint what the table says."""

import json
from typing import Any

import pytest

from beaker.core.endpoints import ENDPOINTS, Endpoint, Parameter
from beaker.core.openapi import openapi_document

VERSION = {"$ref": "#/components/parameters/ClientVersion"}
HEADERS = {"X-Beaker-Service-Version": {"$ref": "#/components/headers/ServiceVersion"}}
DOCUMENT: Any = openapi_document(ENDPOINTS, version="1.2.3")


def operation(endpoint: Endpoint) -> Any:
    """What a document of this endpoint alone says of it."""
    document: Any = openapi_document([endpoint], version="1")
    return document["paths"][endpoint.path][endpoint.method.lower()]


def test_document__all_endpoints__are_there_once_and_in_order() -> None:
    """Each under its own path and method, called by its name."""
    said = [
        (path, method, operation["operationId"])
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
    ]
    assert sorted(said) == sorted((one.path, one.method.lower(), one.name) for one in ENDPOINTS)
    assert [*DOCUMENT["paths"]] == [*dict.fromkeys(one.path for one in ENDPOINTS)]
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT


def test_document__itself__is_what_readers_of_openapi_look_for() -> None:
    """Version, title, the ways in, and the shape of every refusal."""
    assert (DOCUMENT["openapi"], DOCUMENT["info"]["title"], DOCUMENT["info"]["version"]) == ("3.1.0", "Beaker", "1.2.3")
    assert "addresses" in DOCUMENT["info"]["description"]
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert {name: (one["type"], one["scheme"]) for name, one in schemes.items()} == {
        "session": ("http", "bearer"),
        "key": ("http", "bearer"),
    }
    assert all(one["description"] for one in schemes.values())
    assert DOCUMENT["components"]["schemas"] == {
        "Refusal": {"type": "object", "properties": {"detail": {}}, "required": ["detail"]}
    }


def test_document__versions__travel_in_headers_both_ways() -> None:
    """What a client may say of itself with every request, and a service says with every answer."""
    said = DOCUMENT["components"]["parameters"]["ClientVersion"]
    assert (said["name"], said["in"], said["required"]) == ("X-Beaker-Client-Version", "header", False)
    answered = DOCUMENT["components"]["headers"]["ServiceVersion"]
    assert said["schema"] == answered["schema"] == {"type": "string"}
    assert "of a Beaker client" in said["description"]
    assert "same minor version and of the one before" in answered["description"]
    assert "which version of Beaker gives it." in DOCUMENT["info"]["description"]


def test_operation__with_everything__is_described_whole() -> None:
    """Parameters where they travel, defaults, limits, who may call, what comes back."""
    endpoint = Endpoint(
        name="do",
        method="POST",
        path="/v1/{a}/x/{b}",
        agent_key="query",
        query=(Parameter("limit", "integer", False, 25), Parameter("reference", "string", True)),
        body=(
            Parameter("files", "list", True),
            Parameter("count", "integer"),
            Parameter("config", "object", False, {}),
        ),
        exactly_one=("reference", "artifact_id"),
        answer=(("files", "objects"), ("names", "list"), ("artifact", "object")),
        repeatable=True,
    )
    key = {"type": "string", "minLength": 1, "maxLength": 255}
    limit = {"type": "integer", "minimum": -(10**15) + 1, "maximum": 10**15 - 1, "default": 25}
    count = {"type": ["integer", "null"], "minimum": -(2**63) + 1, "maximum": 2**63 - 1}
    body = {
        "type": "object",
        "properties": {
            "files": {"type": "array"},
            "count": count,
            "config": {"type": ["object", "null"], "default": {}},
        },
        "additionalProperties": False,
        "required": ["files"],
    }
    answer = {
        "type": "object",
        "properties": {
            "files": {"type": "array", "items": {"type": "object"}},
            "names": {"type": "array"},
            "artifact": {"type": "object"},
        },
        "required": ["files", "names", "artifact"],
    }

    def response(description: str, schema: Any) -> Any:
        return {"description": description, "headers": HEADERS, "content": {"application/json": {"schema": schema}}}

    assert operation(endpoint) == {
        "operationId": "do",
        "description": "Exactly one of reference and artifact_id must be given.",
        "parameters": [
            {"name": "a", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}},
            {"name": "b", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}},
            {"name": "agent_key", "in": "query", "required": True, "schema": key},
            {"name": "limit", "in": "query", "required": False, "schema": limit},
            {"name": "reference", "in": "query", "required": True, "schema": {"type": "string"}},
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "maxLength": 255},
            },
            VERSION,
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "2XX": response("done", answer),
            "default": response("refused", {"$ref": "#/components/schemas/Refusal"}),
        },
        "security": [{"session": []}, {"key": []}],
    }


def test_operation__with_next_to_nothing__says_no_more() -> None:
    """No body, no key, any object for an answer; the agent key in a body is needed there."""
    bare = operation(Endpoint(name="x", method="GET", path="/v1/x", auth="none", agent_key=None))
    assert bare.keys() == {"operationId", "parameters", "responses", "security"}
    assert (bare["parameters"], bare["security"]) == ([VERSION], [])
    assert bare["responses"]["2XX"]["content"]["application/json"]["schema"] == {"type": "object"}
    session = operation(Endpoint(name="x", method="POST", path="/v1/x", auth="session", agent_key=None, body=()))
    assert session["security"] == [{"session": []}]
    empty = session["requestBody"]["content"]["application/json"]["schema"]
    assert empty == {"type": "object", "properties": {}, "additionalProperties": False}
    keyed = operation(Endpoint(name="x", method="POST", path="/v1/x", agent_key="body", body=()))
    schema = keyed["requestBody"]["content"]["application/json"]["schema"]
    assert (schema["required"], [*schema["properties"]], keyed["parameters"]) == (
        ["agent_key"],
        ["agent_key"],
        [VERSION],
    )


@pytest.mark.parametrize(("kind", "name"), [("boolean", "boolean"), ("string", "string"), ("list", "array")])
def test_operation__kinds__are_those_of_json(kind: Any, name: str) -> None:
    """Every kind of the table has a type."""
    made = operation(Endpoint(name="x", method="GET", path="/v1/x", query=(Parameter("a", kind),)))
    assert made["parameters"][1]["schema"] == {"type": name}
