"""Launching: every gate answers by itself, with raw requests, before a run exists; once per idempotency key."""

import json
import subprocess
import sys
from typing import Any

import pytest

from beaker.core.api import Request

PROPOSER = {"harness_optimization": {"command": ["python", "{project}/propose.py"]}}


def launch(world: Any, body: dict[str, Any], key: str | None = None) -> tuple[int, dict[str, Any]]:
    """POST a raw launch; status and body."""
    headers = {"content-type": "application/json"} | ({} if key is None else {"idempotency-key": key})
    given = {"agent_key": "local", "config": PROPOSER, "dataset_ref": "inv"} | body
    sent = json.dumps({name: item for name, item in given.items() if item is not ...}).encode()
    response = world.transport.send(Request(method="POST", path="/v1/optimization-runs", headers=headers, body=sent))
    return response.status, json.loads(response.body)


def runs(world: Any) -> int:
    """How many run rows exist."""
    return len(world.place.database.rows("SELECT 1 FROM runs"))


def configure(world: Any, text: str) -> None:
    """Commit another configuration."""
    world.write(".beaker/beaker.yaml", text)
    world.commit()


ENTRY = "integrations:\n  demo:\n    entrypoint: beaker_integration:integration\n"


def test_launch__everything_in_order__pins_what_runs(world: Any, conforms: Any) -> None:
    """201: the commit, the dataset revision, the declaration and the settings are pinned, and a worker is started."""
    made = world.dataset()
    commit = world.commit()
    status, run = launch(world, {"github_source": {"repository": "local/project", "integration_id": "demo"}})
    conforms(run, "run.json")
    assert (status, run["status"], world.workers.started) == (201, "QUEUED", [(run["id"], {})])
    assert run["github_source"] == {
        "repository": "local/project",
        "ref": "HEAD",
        "commit": commit,
        "integration_id": "demo",
    }
    assert run["dataset"] == {
        "name": "inv",
        "revision": made["dataset_revision"],
        "split_row_counts": {"train": 20, "test": 10},
    }
    assert run["targets"] == {"kind": "documents", "groups": ["playbooks"]}
    assert run["settings"]["harness_optimization"]["max_proposals"] == 50
    assert run["config"]["github_ref"] == "HEAD"


def test_launch__ref__is_any_branch_tag_or_commit(world: Any) -> None:
    """The configuration is read from that commit, not from the working copy."""
    world.dataset()
    first = world.commit()
    subprocess.run(["git", "-C", str(world.root), "tag", "v1"], check=True)
    configure(world, ENTRY + "    targets: {kind: documents, groups: [other]}\n")
    for ref in ("v1", first, first[:12]):
        _, run = launch(world, {"github_source": {"ref": ref}})
        assert (run["github_source"]["commit"], run["targets"]["groups"]) == (first, ["playbooks"])
        assert run["config"]["github_ref"] == ref
    _, run = launch(world, {"github_source": {"ref": "main"}})
    assert run["targets"]["groups"] == ["other"]
    status, refused = launch(world, {"github_source": {"ref": "nowhere"}})
    assert (status, refused["detail"]["code"]) == (422, "BK712")


def test_launch__no_declaration__is_left_to_the_first_import(world: Any) -> None:
    """An entry without targets pins none."""
    configure(world, ENTRY)
    world.dataset()
    assert launch(world, {})[1]["targets"] is None


MODEL = {"base_url": "http://localhost/v1", "model": "m"}

GATES: list[tuple[dict[str, Any], str, str]] = [
    ({"dataset_ref": "nothing"}, "BK455", "nothing"),
    ({"dataset_ref": "inv@sha256:00"}, "BK455", "revision"),
    ({"dataset_ref": ..., "dataset_id": "art_99"}, "BK455", "art_99"),
    ({"dataset_id": "art_1"}, "BK464", "each"),
    ({"dataset_ref": ...}, "BK405", "no dataset"),
    ({"dataset_ref": "s3://bucket"}, "BK206", "URL"),
    ({"dataset_ref": "no-test"}, "BK456", "'test' is missing"),
    ({"dataset_ref": "empty-test"}, "BK456", "'test' has no rows"),
    ({"dataset_ref": "empty-train"}, "BK456", "'train' has no rows"),
    ({"config": PROPOSER | {"scorer_model": "openai:gpt"}}, "BK410", "judge"),
    ({"config": PROPOSER | {"scorerModel": "openai:gpt"}}, "BK410", "judge"),
    ({"config": PROPOSER | {"spend_budget_usd": 5}}, "BK410", "needs the prices of models"),
    ({"config": PROPOSER | {"spendBudgetUsd": 5}}, "BK410", "needs the prices of models"),
    (
        {"config": PROPOSER | {"optimization_config": {"optimization_models": []}}},
        "BK410",
        "which this machine does not have",
    ),
    ({"config": PROPOSER | {"colour": "red"}}, "BK410", "not a known option"),
    ({"config": PROPOSER | {"max_concurrency": 2, "maxConcurrency": 2}}, "BK410", "twice"),
    ({"config": PROPOSER | {"dataset_ref": "inv"}}, "BK410", "not a known option"),
    ({"config": {}}, "BK410", "no proposer"),
    ({"config": {"harness_optimization": {"proposer": "reflection"}}}, "BK410", "which model to ask"),
    ({"config": {"harness_optimization": {"proposer": "mine"}}}, "BK410", "known here: command, reflection"),
    ({"config": {"harness_optimization": {"proposer": "reflexion"}}}, "BK410", "did you mean 'reflection'?"),
    ({"config": {"harness_optimization": {"command": ["x"], "engine": "gepa"}}}, "BK410", "no engine 'gepa'"),
    ({"config": {"harness_optimization": {"reflection": MODEL | {"api_key_env": "NO_KEY"}}}}, "BK458", "NO_KEY"),
    ({"config": {"harness_optimization": {"command": ["x"], "prices": {"gpt": {}}}}}, "BK410", "provider:model"),
    ({"config": {"harness_optimization": {"command": ["x"], "score_repeats": 0}}}, "BK410", "score_repeats"),
    ({"config": {"harness_optimization": {"command": ["x"], "max_rolouts": 2}}}, "BK410", "max_rollouts"),
    ({"config": {"harness_optimization": {"command": ["x"], "proposer_env": ["SECRET_KEY"]}}}, "BK458", "SECRET_KEY"),
    ({"input_artifacts": [{"artifact_id": "a"}]}, "BK465", "input artifacts"),
    ({"github_source": {"repository": "acme/other"}}, "BK466", "acme/other"),
    ({"github_source": {"integration_id": "nobody"}}, "BK110", "nobody"),
    ({"github_source": {"integration_id": 7}}, "BK450", "string"),
    ({"github_source": {"branch": "main"}}, "BK450", "not a known key"),
    ({"config": []}, "BK450", "object"),
    ({"cofig": {}}, "BK450", "cofig"),
    ({"agent_key": " "}, "BK450", "agent_key"),
]


def partial_dataset(world: Any, name: str, train: bytes | None, test: bytes | None) -> None:
    """A complete dataset that lacks a split or has an empty one."""
    from hashlib import sha256

    rows = {"train.jsonl": train, "test.jsonl": test}
    files = [
        {"path": path, "size_bytes": len(data), "sha256": sha256(data).hexdigest()}
        for path, data in rows.items()
        if data is not None
    ]
    answer = world.api.call("create_dataset_upload", name=name, files=files).unwrap()
    for target in answer["files"]:
        data = rows[target["path"]] or b""
        assert world.transport.upload(target["upload_url"], {}, [data], len(data)).status == 200
    world.api.call("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"]).unwrap()


@pytest.mark.parametrize(("body", "code", "said"), GATES, ids=[f"{code}-{said}" for _, code, said in GATES])
def test_launch__gate__refuses_before_a_run_exists(
    world: Any, conforms: Any, body: dict[str, Any], code: str, said: str
) -> None:
    """422 with the reason in `detail`; no row, no worker."""
    world.dataset()
    partial_dataset(world, "no-test", b'{"id": 1}\n', None)
    partial_dataset(world, "empty-test", b'{"id": 2}\n', b"\n\n")
    partial_dataset(world, "empty-train", b"", b'{"id": 3}\n')
    status, refused = launch(world, body)
    assert status == 422
    conforms(refused, "error.json")
    stated = [problem for problem in refused["detail"]["problems"] if problem["code"] == code]
    assert any(said in f"{problem['where']} {problem['message']} {problem['hint']}" for problem in stated), refused
    assert (runs(world), world.workers.started) == (0, [])


SHARED_PROCESSES = "config_defaults: {harness_optimization: {command: [x], cases_per_process: 2}}\n"

CONFIGS: list[tuple[str, str, str]] = [
    (ENTRY + "    requires_scorer_model: true\n", "BK103", "judge"),
    (ENTRY + "    requires_scorer_model: true\n    scorer_model: gpt\n", "BK102", "provider:model"),
    (ENTRY + "    required_env: [DEMO_TOKEN]\n", "BK458", "DEMO_TOKEN"),
    (ENTRY + "    required_env: [PATH]\n", "BK120", "PATH"),
    (ENTRY + "    targets: {kind: document, groups: [a]}\n", "", "kind"),
    (ENTRY + "    targets: {kind: documents, groups: []}\n", "", "groups"),
    (ENTRY + "    targets: {kind: repository, paths: []}\n", "BK310", "paths"),
    (ENTRY + "    isolation: thread\n", "", "must be `process`"),
    ("integrations: [\n", "BK101", "YAML"),
    ("integrations: {}\n", "BK463", "no integration"),
    ("agent_key: k\n", "BK105", "agent_key"),
    (ENTRY + "config_defaults: {spend_budget_usd: 5}\n", "BK410", "needs the prices of models"),
    (ENTRY + "    isolation: process\n" + SHARED_PROCESSES, "BK410", "isolation: process"),
    (ENTRY + "    isolation: sandbox\n" + SHARED_PROCESSES, "BK410", "isolation: sandbox"),
    (ENTRY + "    sandbox_network: true\n", "BK102", "needs isolation: sandbox"),
    (ENTRY + "config_defaults: {dataset_ref: a, dataset_id: b}\n", "BK404", "each select"),
    (ENTRY + "config_defaults: {harness_optimization: {seeed: 1}}\n", "BK410", "seed"),
]


@pytest.mark.parametrize(("config", "code", "said"), CONFIGS, ids=[f"{code}-{said}" for _, code, said in CONFIGS])
def test_launch__configuration__is_judged_at_the_commit(world: Any, config: str, code: str, said: str) -> None:
    """What the file says that cannot run is refused with its place, before a run exists."""
    configure(world, config)
    world.dataset()
    status, refused = launch(world, {"dataset_ref": ...} if "dataset_ref" in config else {"config": {}})
    assert status == 422
    problems = refused["detail"]["problems"]
    assert any(problem["code"].startswith(code) and said in json.dumps(problem) for problem in problems), refused
    assert runs(world) == 0


def test_launch__many_faults__are_named_together(world: Any) -> None:
    """One round tells everything that is in the way."""
    world.write("propose.py", "changed")
    status, refused = launch(
        world,
        {
            "config": PROPOSER | {"colour": 1, "model": "x"},
            "dataset_ref": "zzz",
            "github_source": {"repository": "a/b"},
        },
    )
    codes = [problem["code"] for problem in refused["detail"]["problems"]]
    assert (status, codes) == (422, ["BK466", "BK461", "BK410", "BK410", "BK455"])


def test_launch__entry_with_many_faults__names_each(world: Any) -> None:
    """The problems of one entry come one by one, with their lines."""
    configure(
        world, ENTRY + "    required_env: [PATH]\n    targets: {kind: documents, groups: []}\n    isolation: thread\n"
    )
    world.dataset()
    _, refused = launch(world, {})
    assert [problem["where"] for problem in refused["detail"]["problems"]] == [
        f".beaker/beaker.yaml:{line}" for line in (4, 5, 6)
    ]


def test_launch__dirty_tree__is_refused_with_the_files(world: Any) -> None:
    """Changed files and uncommitted configuration count; the state folder and ignored files do not."""
    world.dataset()
    world.write(".gitignore", "*.log\n")
    world.commit()
    world.write("noise.log", "x")
    world.write(".beaker/local/note", "x")
    assert launch(world, {})[0] == 201
    world.write("propose.py", "print('changed')\n")
    world.write(".beaker/extra.yaml", "a: 1\n")
    status, refused = launch(world, {})
    assert (status, refused["detail"]["code"]) == (422, "BK461")
    assert ".beaker/extra.yaml, propose.py" in refused["detail"]["message"]
    assert runs(world) == 1


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("local", "commit them, set them aside, or launch them as they are with --allow-dirty"),
        ("remote", "in the checkout that is served, commit them or set them aside"),
    ],
)
def test_launch__uncommitted_changes__are_told_what_can_be_done_at_this_place(world: Any, kind: Any, hint: str) -> None:
    """Over the network nobody may launch them as they are, so nobody is told to."""
    from beaker.core.api import build_request
    from beaker.service.handle import handle
    from beaker.service.local_ports import ORGANIZATION
    from beaker.service.ports import Caller

    world.dataset()
    world.write("propose.py", "print('changed')\n")
    request = build_request("create_optimization_run", {"config": {}, "dataset_ref": "inv"}, agent_key="local").unwrap()
    answer = json.loads(handle(request, Caller(ORGANIZATION, kind), world.ports).body)
    assert [one["hint"] for one in answer["detail"]["problems"] if one["code"] == "BK461"] == [hint]


def test_launch__allow_dirty__pins_the_checkout_as_it_stands(world: Any) -> None:
    """Changed files and uncommitted configuration run as they are, from a commit that no branch holds."""
    world.dataset()
    head = world.commit()
    asked = {"github_source": {"allow_dirty": True}}
    status, clean = launch(world, asked)
    assert (status, clean["github_source"]["commit"], clean["warnings"]) == (201, head, [])
    world.write("propose.py", "print('changed')\n")
    world.write(".beaker/beaker.yaml", ENTRY + "    targets: {kind: documents, groups: [other]}\n")
    git_folder = world.root / ".git"

    def moving() -> dict[Any, bytes]:
        files = (path for path in git_folder.rglob("*") if path.is_file() and "objects" not in path.parts)
        return {path: path.read_bytes() for path in files}

    before = moving()
    status, run = launch(world, asked)
    assert status == 201
    assert run["targets"]["groups"] == ["other"]
    assert [warning["code"] for warning in run["warnings"]] == ["BK461"]
    assert ".beaker/beaker.yaml, propose.py; they run as they are" in run["warnings"][0]["message"]
    commit = run["github_source"]["commit"]
    assert commit != head
    assert world.ports.repository.read_file(commit, "propose.py").unwrap() == b"print('changed')\n"
    assert moving() == before
    assert launch(world, {"github_source": {"allow_dirty": False}})[0] == 422


@pytest.mark.parametrize("source", [{"allow_dirty": "yes"}, {"allow_dirty": True, "ref": "main"}])
def test_launch__allow_dirty__that_makes_no_sense__is_refused(world: Any, source: dict[str, Any]) -> None:
    """A switch is on or off, and what is not committed has no ref."""
    world.dataset()
    status, refused = launch(world, {"github_source": source})
    assert (status, refused["detail"]["code"]) == (422, "BK450")


def test_launch__uncommitted_configuration__is_refused(world: Any) -> None:
    """A configuration that was never committed is no configuration of the commit."""
    subprocess.run(["git", "-C", str(world.root), "rm", "-q", "--cached", ".beaker/beaker.yaml"], check=True)
    subprocess.run(
        ["git", "-C", str(world.root), "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"], check=True
    )
    world.dataset()
    status, refused = launch(world, {})
    assert status == 422
    assert {problem["code"] for problem in refused["detail"]["problems"]} >= {"BK461", "BK714"}


def test_launch__tracked_copy_of_test__is_refused(world: Any) -> None:
    """TEST in the commit would be visible to every proposer, under whatever name."""
    world.dataset()
    rows = (world.root.parent / "data-inv-20-10" / "test.jsonl").read_text(encoding="utf-8")
    world.write("fixtures/held.txt", rows)
    world.commit()
    status, refused = launch(world, {})
    assert (status, refused["detail"]["code"], refused["detail"]["where"]) == (422, "BK462", "fixtures/held.txt")
    assert runs(world) == 0
    world.write("fixtures/held.txt", rows + "\n")
    world.commit()
    assert launch(world, {})[0] == 201


def test_launch__tracked_link_that_leaves__is_refused(world: Any) -> None:
    """A link out of the repository could show TEST to every proposer; one inside it stays allowed."""
    world.dataset()
    (world.root / "held").symlink_to("../data-inv-20-10/test.jsonl")
    (world.root / "home").symlink_to(world.root.parent)
    world.commit()
    status, refused = launch(world, {})
    assert status == 422
    assert [(one["code"], one["where"]) for one in refused["detail"]["problems"]] == [
        ("BK483", "held"),
        ("BK483", "home"),
    ]
    assert runs(world) == 0
    (world.root / "held").unlink()
    (world.root / "home").unlink()
    (world.root / "inside").symlink_to(".beaker/beaker.yaml")
    world.commit()
    assert launch(world, {})[0] == 201


def test_launch__declared_environment__is_found_and_handed_on(world: Any) -> None:
    """What the caller has set reaches the worker; a name set to nothing is set."""
    configure(world, ENTRY + "    required_env: [DEMO_TOKEN, EMPTY]\n")
    world.dataset()
    world.environ.update(DEMO_TOKEN="s3cret", EMPTY="", OTHER="x")
    _, run = launch(world, {})
    assert world.workers.started == [(run["id"], {"DEMO_TOKEN": "s3cret", "EMPTY": ""})]
    assert "s3cret" not in json.dumps(run)


def test_launch__defaults_of_the_file__lie_below_the_launch(world: Any) -> None:
    """Top-level defaults, then the entry's, then the launch; the dataset too, in either spelling."""
    configure(
        world,
        ENTRY
        + "    config_defaults: {case_retry_limit: 1, maxConcurrency: 3}\n"
        + "config_defaults:\n"
        + "  dataset_ref: inv\n  max_concurrency: 2\n  case_retry_limit: 7\n"
        + "  harness_optimization: {command: [python, p.py]}\n",
    )
    world.dataset()
    _, run = launch(world, {"config": {"caseRetryLimit": 5}, "dataset_ref": ...})
    assert (run["settings"]["case_retry_limit"], run["settings"]["max_concurrency"]) == (5, 3)
    assert (run["dataset"]["name"], run["config"]) == ("inv", {"caseRetryLimit": 5, "github_ref": "HEAD"})


def test_launch__budget_below_the_minimum_by_rows__warns(world: Any, conforms: Any) -> None:
    """Rows may make fewer cases, so it is a warning; it names the minimum."""
    world.dataset(30, 10)
    config = {"harness_optimization": {"command": ["python", "p.py"], "max_rollouts": 30}}
    status, run = launch(world, {"config": config})
    assert (status, [warning["code"] for warning in run["warnings"]]) == (201, ["BK479"])
    assert "needs 56" in run["warnings"][0]["message"]
    conforms(run, "run.json")


def test_launch__same_key_again__is_the_same_run(world: Any) -> None:
    """Whatever happened meanwhile, the first launch's run is the answer, and nothing is started twice."""
    world.dataset()
    status, run = launch(world, {}, key="n-7")
    world.write("propose.py", "dirty now")
    again, repeated = launch(world, {}, key="n-7")
    assert (status, again, repeated["id"], runs(world)) == (201, 200, run["id"], 1)
    assert len(world.workers.started) == 1
    reordered = {"dataset_ref": "inv", "config": dict(reversed(PROPOSER.items())), "trigger_metadata": {}}
    assert launch(world, reordered, key="n-7")[1]["id"] == run["id"]


def test_launch__same_key_other_body__is_refused(world: Any) -> None:
    """409: a key stands for one launch. Keys of other agents are other keys."""
    world.dataset()
    launch(world, {}, key="n-7")
    status, refused = launch(world, {"config": PROPOSER | {"max_concurrency": 1}}, key="n-7")
    assert (status, refused["detail"]["code"], runs(world)) == (409, "BK454", 1)
    assert launch(world, {"agent_key": "other"}, key="n-7")[0] == 422  # its own gates: it has no dataset


def test_launch__refused__does_not_use_the_key_up(world: Any) -> None:
    """After the fault is mended the same key launches."""
    assert launch(world, {}, key="n-7")[0] == 422
    world.dataset()
    assert launch(world, {}, key="n-7")[0] == 201


@pytest.mark.parametrize("key", ["x" * 256, "a\tb"])
def test_launch__impossible_key__is_refused(world: Any, key: str) -> None:
    """A key is printable and not endless."""
    world.dataset()
    assert launch(world, {}, key=key)[0] == 422


def test_launch__one_key_from_many_processes__makes_one_run(world: Any) -> None:
    """Several launches in the same moment with one key: one run, every answer names it."""
    world.dataset()
    script = """
import os, sys
from pathlib import Path
import attrs
from beaker.client.api import Api
from beaker.service.embedded import EmbeddedTransport, open_embedded

class NoWorkers:
    def start(self, run_id, granted): ...
    def stop(self, run_id): ...

with open_embedded(Path(sys.argv[1]), None, os.environ) as opened:
    transport = EmbeddedTransport(opened.place, attrs.evolve(opened.ports, workers=NoWorkers()), opened.workers)
    config = {"harness_optimization": {"command": ["python"]}}
    run = Api(transport, "local").call("create_optimization_run", idempotency_key="k", config=config, dataset_ref="inv")
    print(run.unwrap()["id"])
"""
    command = [sys.executable, "-c", script, str(world.root)]
    launchers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    answers = {launcher.communicate(timeout=60)[0] for launcher in launchers}
    assert (len(answers), runs(world)) == (1, 1)


def test_launch__source__is_kept_in_blobs(world: Any, tmp_path: Any) -> None:
    """The commit's content outlives its repository."""
    import shutil

    from beaker.service.run_table import find_run
    from beaker.service.sources import check_out

    world.dataset()
    run = find_run(world.place.database, launch(world, {})[1]["id"])
    shutil.rmtree(world.root / ".git")
    check_out(world.place.blobs, run.source, tmp_path / "checkout")
    assert (tmp_path / "checkout" / "propose.py").read_text(encoding="utf-8") == "print('hello')\n"
    assert (tmp_path / "checkout" / ".beaker" / "beaker.yaml").is_file()


def test_launch__small_splits__warn(world: Any, conforms: Any) -> None:
    """Too few pairs prove nothing, and below 20 TRAIN cases a proposer sees the cases that select."""
    world.dataset(19, 1)
    status, run = launch(world, {})
    assert status == 201
    assert [(code, where, told.partition(":")[0]) for code, where, told in warned(run)] == [
        ("BK486", "dataset", "TEST has 1 row"), ("BK486", "dataset", "TRAIN has 19 rows"),
    ]  # fmt: skip
    conforms(run, "run.json")


def test_launch__submodule__is_a_warning(world: Any, conforms: Any) -> None:
    """A commit does not hold what a submodule points at; the run says so and goes on."""
    world.dataset()
    head = world.commit()
    git = ["git", "-C", str(world.root), "-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run([*git, "update-index", "--add", "--cacheinfo", f"160000,{head},vendor/lib"], check=True)
    subprocess.run([*git, "commit", "-qm", "submodule"], check=True)
    (world.root / "vendor" / "lib").mkdir(parents=True)
    status, run = launch(world, {})
    assert (status, [(warning["code"], warning["where"]) for warning in run["warnings"]]) == (
        201,
        [("BK478", "vendor/lib")],
    )
    conforms(run, "run.json")


def test_launch__content_of_the_commit_is_gone__is_refused(world: Any) -> None:
    """A commit that Git cannot give whole is no source of a run, and nothing of it is kept."""
    world.dataset()
    blobs = [path for path in (world.place.state_dir / "blobs").rglob("*") if path.is_file()]
    git = ["git", "-C", str(world.root)]
    found = subprocess.run([*git, "rev-parse", "HEAD:propose.py"], check=True, capture_output=True, text=True).stdout
    object_id = found.strip()
    (world.root / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()
    status, refused = launch(world, {})
    assert (status, refused["detail"]["code"], runs(world)) == (422, "BK716", 0)
    assert [path for path in (world.place.state_dir / "blobs").rglob("*") if path.is_file()] == blobs


def test_launch__outside_git__says_what_to_do(world: Any) -> None:
    """Without a repository there is nothing to pin."""
    import attrs

    from beaker.service.embedded import EmbeddedTransport
    from beaker.service.local_repository import LocalRepository

    world.dataset()
    plain = world.root.parent / "plain"
    plain.mkdir()
    ports = attrs.evolve(world.ports, repository=LocalRepository(plain, ".beaker/beaker.yaml"))
    world.transport = EmbeddedTransport(world.place, ports, world.transport.workers)
    status, refused = launch(world, {})
    assert (status, refused["detail"]["code"]) == (422, "BK711")
    assert "git init" in refused["detail"]["hint"]


def warned(run: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The warnings of a launch: code, place, and message with hint."""
    return [(one["code"], one["where"], f"{one['message']} | {one['hint']}") for one in run["warnings"]]


@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        ("http://10.0.0.7/v1", "KEY", "prompts and the key are sent to another machine unencrypted"),
        ("http://10.0.0.7/v1", None, "prompts, with TRAIN cases in them, are sent"),
        ("https://10.0.0.7/v1", "KEY", None),
        ("http://127.0.0.1:1/v1", "KEY", None),
    ],
)
def test_launch__model_that_is_asked_in_the_clear__warns(
    world: Any, url: str, key: str | None, said: str | None
) -> None:
    """Plain http is for this machine; elsewhere it is the user's network to judge."""
    world.dataset()
    world.environ["KEY"] = "x"
    reflection = {"base_url": url, "model": "m", "api_key_env": key}
    status, run = launch(world, {"config": {"harness_optimization": {"reflection": reflection}}})
    assert status == 201
    told = warned(run)
    assert [code for code, _, _ in told] == ([] if said is None else ["BK485"])
    assert said is None or said in told[0][2]


COMMANDS: list[tuple[list[str], int, str, str]] = [
    (["python", "{projekt}/propose.py"], 1, "{projekt} is no placeholder", "did you mean {project}?"),
    (["python", "{repo}/propose.py"], 1, "{repo} is no placeholder", "only {project}, a checkout of"),
    (["python", "{project}/propoze.py"], 1, "not in the commit", "did you mean {project}/propose.py?"),
    (["python", "{project}/new.json"], 1, "not in the commit", "git add new.json"),
    (["python", "--rules={project}/tools/rules"], 1, "not in the commit", "git add tools/rules"),
    (["{project}/propose.py"], 0, "{project}/propose.py is not executable", "chmod +x propose.py` and commit that"),
    (["{project}/tools/noshebang.py"], 0, "no #! line", "#!/usr/bin/env python3"),
    (["nosuchprogram"], 0, "'nosuchprogram' is not on your PATH", "install it"),
    (["propose.py"], 0, "not on your PATH", '["{python}", "{project}/propose.py"]'),
    (["/no/such/program"], 0, "cannot be started", "correct the name"),
    (["./propose.py"], 0, "working copy", "write {project}/propose.py"),
    (["~/bin/propose"], 0, "working copy", "~ is not filled in"),
    (["python", "propose.py"], 1, "working copy that does not have it", "write {project}/propose.py"),
    (["{project}/tools"], 0, "is a folder", "name the program"),
]


@pytest.mark.parametrize(("command", "index", "said", "advice"), COMMANDS, ids=[" ".join(one[0]) for one in COMMANDS])
def test_launch__command_that_cannot_start__warns(
    world: Any, conforms: Any, command: list[str], index: int, said: str, advice: str
) -> None:
    """The run is made, and the answer says which word of the command is wrong and what to do."""
    world.write("tools/noshebang.py", "print(1)\n").chmod(0o755)
    world.commit()
    world.dataset()
    status, run = launch(world, {"config": {"harness_optimization": {"command": command}}})
    conforms(run, "run.json")
    ((code, where, text),) = warned(run)
    assert (status, code, where) == (201, "BK480", f"config.harness_optimization.command[{index}]")
    assert said in text
    assert advice in text


@pytest.mark.parametrize(
    "command",
    [
        ["python", "{project}/propose.py", "--out", "documents", "{project}", "{project}/tools", "{}", "${HOME}/x"],
        ["{project}/tools/run", "propose"],
        ["/bin/sh", "-c", "python {project}/propose.py > /tmp/log; awk '{print}' x", "*.py"],
        ["python", "-m", "json.tool", "{project}/linked/anything"],
    ],
)
def test_launch__command_that_can_start__does_not_warn(world: Any, command: list[str]) -> None:
    """Nothing is said about what is right, or not to be told."""
    world.write("tools/run", "#!/bin/sh\n").chmod(0o755)
    (world.root / "linked").symlink_to("tools")
    world.commit()
    world.dataset()
    status, run = launch(world, {"config": {"harness_optimization": {"command": command}}})
    assert (status, warned(run)) == (201, [])


def test_launch__untracked_code__is_named(world: Any) -> None:
    """A forgotten `git add` below source_dir is named, up to twenty files; what is ignored or elsewhere is not."""
    world.write(".gitignore", "*.log\n")
    configure(world, ENTRY + "    source_dir: src\n")
    world.dataset()
    for path in ("src/noise.log", "notes.txt", "src/__pycache__/a.pyc"):
        world.write(path, "x")
    world.write("src/eval.html", "<!doctype html><title>Beaker evaluation of x</title>")
    world.write("src/run_1.2/patch.diff", "x")
    assert warned(launch(world, {})[1]) == []
    for number in range(22):
        world.write(f"src/helper{number:02}.py", "x")
    ((code, where, text),) = warned(launch(world, {})[1])
    assert (code, where) == ("BK481", "src")
    assert text.startswith("22 files are not tracked by Git, so the run does not have them: src/helper00.py, ")
    assert "src/helper19.py and 2 more | commit" in text


def test_launch__tracked_secrets__warn(world: Any) -> None:
    """A committed `.beaker/.env` is in every clone; one that Git does not track is where it belongs."""
    world.dataset()
    world.write(".beaker/.env", "TOKEN=x\n")
    assert warned(launch(world, {})[1]) == []
    world.write(".beaker/.env.example", "TOKEN=\n")
    world.commit()
    ((code, where, text),) = warned(launch(world, {})[1])
    assert (code, where) == ("BK482", ".beaker/.env")
    assert "git rm --cached .beaker/.env" in text


def test_launch__declared_path_with_nothing_to_edit__warns(world: Any) -> None:
    """A path that the commit does not have, counted from source_dir, and one that is a link; what is there is fine."""
    entry = f"{ENTRY}    source_dir: app\n    targets: {{kind: repository, paths: [src, prompts, other, link/x]}}\n"
    configure(world, entry)
    for path in ("app/src/a.py", "app/prompts", "other"):
        world.write(path, "x")
    (world.root / "app" / "link").symlink_to("src")
    world.dataset()
    world.commit()
    status, run = launch(world, {})
    assert status == 201
    assert [(code, where) for code, where, _ in warned(run)] == [("BK484", "app/link/x"), ("BK484", "app/other")]
    configure(world, f"{ENTRY}    targets: {{kind: repository}}\n")
    assert warned(launch(world, {})[1]) == []


def test_launch__setting_of_the_file__is_refused_at_its_line(world: Any) -> None:
    """Where a setting was written is said: file and line for config_defaults, `config` for what the launch gave."""
    defaults = (
        "config_defaults:\n  max_concurrency: two\n  harness_optimization:\n    command: [python, {projekt: 1}]\n"
    )
    configure(world, ENTRY + "    config_defaults:\n      case_retry_limit: -1\n" + defaults)
    world.dataset()
    merged = {"max_concurrency": "two", "test_baseline": "no"}
    _, refused = launch(world, {"config": merged})
    found = [(problem["where"], problem["message"]) for problem in refused["detail"]["problems"]]
    file = ".beaker/beaker.yaml"
    assert sorted((where, message.split(":")[0]) for where, message in found) == [
        (f"{file}:5", "integrations.demo.config_defaults.case_retry_limit"),
        (f"{file}:7", "config_defaults.max_concurrency"),
        (f"{file}:9", "config_defaults.harness_optimization.command[1]"),
        ("config.test_baseline", "must be true or false, not 'no'"),
    ]


def test_launch__doubtful_setting_of_the_file__warns_at_its_line(world: Any) -> None:
    """Warnings about settings have their place too."""
    command = '{command: [python, "{projekt}/p.py"]}'
    configure(world, ENTRY + f"config_defaults:\n  harness_optimization: {command}\n")
    world.dataset()
    ((code, where, text),) = warned(launch(world, {"config": {}})[1])
    assert (code, where) == ("BK480", ".beaker/beaker.yaml:5")
    assert text.startswith("config_defaults.harness_optimization.command[1]: {projekt} is no placeholder")


def test_launch__nothing_makes_candidates__names_where_it_belongs(world: Any) -> None:
    """A setting that is missing everywhere is missing in the file."""
    world.dataset()
    _, refused = launch(world, {"config": {}})
    (problem,) = refused["detail"]["problems"]
    assert (problem["where"], problem["code"]) == (".beaker/beaker.yaml", "BK410")
    assert problem["message"].startswith("config_defaults.harness_optimization: names no proposer")
