"""The API as an OpenAPI 3.1 document, made from the endpoint table."""

import re
from collections.abc import Iterable
from typing import Any

from beaker.core.api import MAX_AGENT_KEY, MAX_INTEGER
from beaker.core.endpoints import Endpoint, Kind, Parameter
from beaker.core.strict_json import JsonObject
from beaker.core.versions import CLIENT_HEADER, SERVICE_HEADER

_PLACE = re.compile(r"\{(\w+)\}")
_TYPES: dict[Kind, str] = {
    "string": "string",
    "integer": "integer",
    "boolean": "boolean",
    "object": "object",
    "list": "array",
    "objects": "array",
}
_AGENT_KEY: JsonObject = {"type": "string", "minLength": 1, "maxLength": MAX_AGENT_KEY}
_QUERY_DIGITS = 10**15 - 1


def openapi_document(endpoints: Iterable[Endpoint], *, version: str) -> JsonObject:
    """The document of an API of these endpoints, in their order; `version` is that of the product.

    What is asked is described as closely as the table does, and read as strictly. Of answers it says what they must
    have; they may have more. Every refusal has a `detail`.
    """
    paths: JsonObject = {}
    for endpoint in endpoints:
        operations: Any = paths.setdefault(endpoint.path, {})
        operations[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Beaker",
            "version": version,
            "description": "Improves an AI system against its cases, and proves it on held-out ones. Bytes of files "
            "travel to and from the addresses that answers name, outside of this document. Every answer says which "
            "version of Beaker gives it.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "session": {"type": "http", "scheme": "bearer", "description": "the token of a login"},
                "key": {"type": "http", "scheme": "bearer", "description": "an API key, or the token of a server"},
            },
            "headers": {
                "ServiceVersion": {
                    "description": "the version of the service; it fits clients of the same minor version and of the "
                    "one before",
                    "schema": {"type": "string"},
                },
            },
            "parameters": {
                "ClientVersion": {
                    "name": _spelled(CLIENT_HEADER),
                    "in": "header",
                    "required": False,
                    "description": "the version of a Beaker client; others leave it out",
                    "schema": {"type": "string"},
                },
            },
            "schemas": {
                "Refusal": {"type": "object", "properties": {"detail": {}}, "required": ["detail"]},
            },
        },
    }


def _operation(endpoint: Endpoint) -> JsonObject:
    parameters: list[Any] = [
        {"name": place, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for place in _PLACE.findall(endpoint.path)
    ]
    if endpoint.agent_key == "query":
        parameters.append({"name": "agent_key", "in": "query", "required": True, "schema": _AGENT_KEY})
    parameters += [
        {"name": one.name, "in": "query", "required": one.required, "schema": _query_schema(one)}
        for one in endpoint.query
    ]
    if endpoint.repeatable:
        schema = {"type": "string", "maxLength": 255}
        parameters.append({"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema})
    operation: JsonObject = {
        "operationId": endpoint.name,
        "parameters": [*parameters, _CLIENT_VERSION],
        "responses": {
            "2XX": _response("done", _answer_schema(endpoint)),
            "default": _response("refused", {"$ref": "#/components/schemas/Refusal"}),
        },
        "security": _SECURITY[endpoint.auth],
    }
    if endpoint.exactly_one:
        operation["description"] = f"Exactly one of {' and '.join(endpoint.exactly_one)} must be given."
    if endpoint.body is not None:
        content: JsonObject = {"application/json": {"schema": _body_schema(endpoint, endpoint.body)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


_CLIENT_VERSION: JsonObject = {"$ref": "#/components/parameters/ClientVersion"}

_SECURITY: dict[str, list[Any]] = {"none": [], "session": [{"session": []}], "either": [{"session": []}, {"key": []}]}


def _response(description: str, schema: JsonObject) -> JsonObject:
    headers: JsonObject = {_spelled(SERVICE_HEADER): {"$ref": "#/components/headers/ServiceVersion"}}
    return {"description": description, "headers": headers, "content": {"application/json": {"schema": schema}}}


def _spelled(header: str) -> str:
    """The name of a header as documents write it."""
    return "-".join(part.capitalize() for part in header.split("-"))


def _answer_schema(endpoint: Endpoint) -> JsonObject:
    schema: JsonObject = {"type": "object"}
    if endpoint.answer:
        schema["properties"] = {name: _answer_value(kind) for name, kind in endpoint.answer}
        schema["required"] = [name for name, _ in endpoint.answer]
    return schema


def _answer_value(kind: Kind) -> JsonObject:
    schema: JsonObject = {"type": _TYPES[kind]}
    return {**schema, "items": {"type": "object"}} if kind == "objects" else schema


def _body_schema(endpoint: Endpoint, body: tuple[Parameter, ...]) -> JsonObject:
    properties: JsonObject = {"agent_key": _AGENT_KEY} if endpoint.agent_key == "body" else {}
    required = [*properties, *(one.name for one in body if one.required)]
    properties |= {one.name: _body_value(one) for one in body}
    schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": [*required]} if required else schema


def _body_value(parameter: Parameter) -> JsonObject:
    """What a key of a body may hold; null is the same as leaving an optional one out."""
    kind = _TYPES[parameter.kind]
    schema: JsonObject = {"type": kind if parameter.required else [kind, "null"]}
    if kind == "integer":
        schema |= {"minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}
    return schema if parameter.default is None else {**schema, "default": parameter.default}


def _query_schema(parameter: Parameter) -> JsonObject:
    schema: JsonObject = {"type": _TYPES[parameter.kind]}
    if parameter.kind == "integer":
        schema |= {"minimum": -_QUERY_DIGITS, "maximum": _QUERY_DIGITS}
    return schema if parameter.default is None else {**schema, "default": parameter.default}
