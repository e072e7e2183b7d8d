"""The API as a table: every JSON endpoint once, as data that client, service and documentation look up.

The name of an endpoint is the name of the client method that calls it. Blob bytes travel outside this table.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from beaker.core.values import ReadOnlyDict, read_only, value

Kind: TypeAlias = Literal["string", "integer", "boolean", "object", "list", "objects"]
"""Kinds of JSON values; `objects` is a list of nothing but objects."""
Auth: TypeAlias = Literal["none", "session", "either"]


@value
class Parameter:
    """One query or body parameter.

    A parameter without a value is sent with its `default`; without a default it is left out. `required` ones must be
    given. A `non_empty` list or object that is empty is left out as well. What is `secret` is shown nowhere, also when
    a service says it back.
    """

    name: str
    kind: Kind
    required: bool = False
    default: Any = None
    non_empty: bool = False
    secret: bool = False


@value(kw_only=True)
class Endpoint:
    """One route.

    `path` is a template, `{run_id}` standing for one percent-encoded segment. `auth`: no credential, a login session,
    or either a session or an API key. `agent_key`: where the agent key travels, or `None`. `body` is `None` for a
    request without a body and `()` for one that sends `{}`. Of `exactly_one` parameters one must be given. `answer`
    lists the keys a success must have. `repeatable`: takes an idempotency key.
    """

    name: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    auth: Auth = "either"
    agent_key: Literal["query", "body"] | None = "query"
    query: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] | None = None
    exactly_one: tuple[str, ...] = ()
    answer: tuple[tuple[str, Kind], ...] = ()
    repeatable: bool = False


_PYTHON: Mapping[Kind, tuple[type, ...]] = ReadOnlyDict(
    {"string": (str,), "integer": (int,), "boolean": (bool,), "object": (Mapping,), "list": (list, tuple)}
)


def fits(argument: object, kind: Kind) -> bool:
    """Whether a value is of a kind; what is true or false is no integer."""
    if kind == "objects":
        return isinstance(argument, list | tuple) and all(isinstance(item, Mapping) for item in argument)
    return isinstance(argument, _PYTHON[kind]) and (kind == "boolean" or not isinstance(argument, bool))


def _required(name: str, kind: Kind = "string") -> Parameter:
    return Parameter(name, kind, True)


def _optional(name: str, kind: Kind = "string", default: Any = None) -> Parameter:
    return Parameter(name, kind, False, default)


def _page(limit: int) -> tuple[Parameter, ...]:
    return (_optional("limit", "integer", limit), _optional("offset", "integer", 0))


def _session(name: str, method: Any, path: str, **more: Any) -> Endpoint:
    return Endpoint(name=name, method=method, path=path, auth="session", agent_key=None, **more)


def _run(name: str, path: str = "", *, method: Any = "GET", **more: Any) -> Endpoint:
    return Endpoint(name=name, method=method, path=f"/v1/optimization-runs/{{run_id}}{path}", **more)


def _candidate(name: str, path: str = "", *, method: Any = "GET", **more: Any) -> Endpoint:
    return Endpoint(name=name, method=method, path=f"/v1/optimization-candidates/{{candidate_id}}{path}", **more)


_EXPIRES = _optional("expires_in_seconds", "integer", 900)
_ARTIFACT: tuple[tuple[str, Kind], ...] = (("artifact", "object"),)

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        name="start_cli_login",
        method="POST",
        path="/v1/web/auth/cli/start",
        auth="none",
        agent_key=None,
        body=(_optional("name", default="Beaker CLI"),),
    ),
    Endpoint(
        name="poll_cli_login",
        method="POST",
        path="/v1/web/auth/cli/poll",
        auth="none",
        agent_key=None,
        body=(_required("challenge_id"), Parameter("poll_token", "string", True, secret=True)),
    ),
    _session("get_user_me", "GET", "/v1/user/me"),
    _session("logout_user", "POST", "/v1/user/logout"),
    _session("list_user_agents", "GET", "/v1/user/agents", answer=(("agents", "objects"),)),
    _session(
        "update_user_agent",
        "PATCH",
        "/v1/user/agents/{agent_id}",
        body=(_optional("name"), _optional("beaker_config_path")),
    ),
    _session(
        "associate_user_agent_repository",
        "PUT",
        "/v1/user/agents/{agent_id}/github-repository",
        body=(_required("github_repository"), _required("beaker_config_path")),
        answer=(("key", "string"),),
    ),
    _session("create_user_api_key", "POST", "/v1/user/api-keys", body=(_required("name"),)),
    _session(
        "get_user_github_connection",
        "GET",
        "/v1/user/github/connection",
        answer=(("connected", "boolean"),),
    ),
    _session(
        "start_user_github_connect", "POST", "/v1/user/github/connect", body=(), answer=(("install_url", "string"),)
    ),
    _session(
        "list_user_github_repositories", "GET", "/v1/user/github/repositories", answer=(("repositories", "list"),)
    ),
    _session(
        "list_user_github_branches",
        "GET",
        "/v1/user/github/branches",
        query=(_required("repository"),),
        answer=(("branches", "objects"), ("default_branch", "string")),
    ),
    Endpoint(name="list_models", method="GET", path="/v1/model-catalog", answer=(("models", "objects"),)),
    Endpoint(name="get_current_agent", method="GET", path="/v1/agents/current"),
    Endpoint(name="list_agents", method="GET", path="/v1/agents", agent_key=None, answer=(("agents", "objects"),)),
    Endpoint(
        name="create_agent",
        method="POST",
        path="/v1/agents",
        agent_key=None,
        body=(_required("name"), _required("github_repository"), _required("beaker_config_path")),
    ),
    Endpoint(
        name="list_agent_env_vars",
        method="GET",
        path="/v1/agents/{agent_id}/env-vars",
        agent_key=None,
        answer=(("env_vars", "objects"),),
    ),
    Endpoint(
        name="set_agent_env_var",
        method="PUT",
        path="/v1/agents/{agent_id}/env-vars/{name}",
        agent_key=None,
        body=(Parameter("value", "string", True, secret=True),),
    ),
    Endpoint(
        name="delete_agent_env_var", method="DELETE", path="/v1/agents/{agent_id}/env-vars/{name}", agent_key=None
    ),
    Endpoint(
        name="list_llm_credentials",
        method="GET",
        path="/v1/llm/credentials",
        agent_key=None,
        answer=(("credentials", "objects"),),
    ),
    Endpoint(name="list_integrations", method="GET", path="/v1/integrations", query=(_optional("status"),)),
    Endpoint(name="list_integration_versions", method="GET", path="/v1/integrations/{name}/versions"),
    Endpoint(name="get_integration_version", method="GET", path="/v1/integrations/{name}/versions/{version}"),
    Endpoint(
        name="create_dataset_upload",
        method="POST",
        path="/v1/datasets/uploads",
        agent_key="body",
        body=(
            _required("name"),
            _required("files", "list"),
            _optional("metadata", "object", {}),
            _optional("promote", "boolean", True),
            _EXPIRES,
            _optional("display_name"),
            _optional("artifact_key"),
            _optional("total_count", "integer"),
            _optional("splits", "object"),
        ),
        answer=(("files", "objects"), *_ARTIFACT),
    ),
    Endpoint(
        name="complete_dataset_upload", method="POST", path="/v1/datasets/{artifact_id}/complete", answer=_ARTIFACT
    ),
    Endpoint(
        name="list_datasets", method="GET", path="/v1/datasets", query=_page(100), answer=(("datasets", "objects"),)
    ),
    Endpoint(
        name="resolve_dataset",
        method="GET",
        path="/v1/datasets/resolve",
        query=(_required("reference"),),
        answer=(("dataset", "object"),),
    ),
    Endpoint(
        name="get_dataset_download_urls",
        method="GET",
        path="/v1/datasets/download-urls",
        query=(_optional("reference"), _optional("artifact_id")),
        exactly_one=("reference", "artifact_id"),
        answer=(("files", "objects"),),
    ),
    Endpoint(
        name="promote_dataset",
        method="POST",
        path="/v1/datasets/promotions",
        body=(_required("name"), _required("revision")),
    ),
    Endpoint(
        name="create_artifact_upload",
        method="POST",
        path="/v1/artifacts/presigned-uploads",
        agent_key="body",
        body=(
            _optional("kind", default="input_artifact"),
            _required("files", "list"),
            _optional("metadata", "object", {}),
            _EXPIRES,
            _optional("artifact_key"),
        ),
        answer=(("files", "objects"), *_ARTIFACT),
    ),
    Endpoint(
        name="complete_artifact_upload", method="POST", path="/v1/artifacts/{artifact_id}/complete", answer=_ARTIFACT
    ),
    Endpoint(
        name="list_artifacts",
        method="GET",
        path="/v1/artifacts",
        query=(*_page(100), _optional("kind"), _optional("status")),
    ),
    Endpoint(
        name="create_optimization_run",
        method="POST",
        path="/v1/optimization-runs",
        agent_key="body",
        body=(
            _optional("config", "object", {}),
            _optional("trigger_metadata", "object", {}),
            _optional("github_source", "object"),
            Parameter("input_artifacts", "list", non_empty=True),
            _optional("dataset_ref"),
            _optional("dataset_id"),
        ),
        answer=(("id", "string"),),
        repeatable=True,
    ),
    Endpoint(
        name="list_optimization_runs",
        method="GET",
        path="/v1/optimization-runs",
        query=(*_page(25), _optional("status"), _optional("trigger_reason")),
        answer=(("runs", "objects"), ("total", "integer"), ("offset", "integer")),
    ),
    _run("get_optimization_run", answer=(("id", "string"), ("status", "string"))),
    _run("cancel_optimization_run", "/cancel", method="POST", answer=(("status", "string"),)),
    _run(
        "resume_optimization_run",
        "/resume",
        method="POST",
        body=(_required("review_id"), _optional("model_target_id")),
    ),
    _run("get_run_debug", "/debug", answer=(("jobs", "objects"),)),
    _run("retry_run_debug", "/debug/{job_id}/retry", method="POST"),
    _run("list_candidates", "/candidates"),
    _run("list_eval_reports", "/eval-reports"),
    _candidate("get_optimization_candidate", answer=(("id", "string"),)),
    _candidate("list_eval_reports_for_candidate", "/eval-reports"),
    _candidate("get_candidate_pull_request", "/pull-request"),
    _candidate("create_candidate_pull_request", "/pull-request", method="POST", body=()),
    _candidate("create_candidate_download", "/downloads", method="POST", body=()),
)
"""Every endpoint, in the order of the contract."""

ENDPOINT: Mapping[str, Endpoint] = read_only({endpoint.name: endpoint for endpoint in ENDPOINTS})
"""Every endpoint by name."""
