"""The configuration file as a customer's own script reads it."""

import importlib
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.config import (
    DATASET_ID_CONFIG_KEYS,
    DATASET_REF_CONFIG_KEYS,
    BeakerConfig,
    UnsupportedConfigError,
    load_beaker_config,
    required_env_from_integration_config,
    reserved_environment_reason,
    select_integration_entry,
)
from beaker.python_environment import PythonEnvironmentError, resolve_environment_base

TWO: dict[str, Any] = {
    "integrations": {
        "a": {"entrypoint": "m:a", "agent_key": "  k  ", "config_defaults": {"max_concurrency": 2}},
        "b": {"agent_key": 12345, "project_key": "older"},
    },
    "config_defaults": {"max_concurrency": 1, "dataset_ref": "d", "extra": {"x": 1}},
}


def test_from_mapping__chosen_integration__has_its_key_and_settings() -> None:
    """The key is as it is written, the settings of the integration lie over those of the file."""
    config = BeakerConfig.from_mapping(TWO, "a")
    assert (config.agent_key, config.integration_id) == ("  k  ", "a")
    assert dict(config.config_defaults) == {"max_concurrency": 2, "dataset_ref": "d", "extra": {"x": 1}}
    other = BeakerConfig.from_mapping({**TWO, "default_integration": "b"})
    assert (other.agent_key, other.integration_id) == ("12345", "b")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        config.agent_key = "other"  # type: ignore[misc]  # that is what is tried


@pytest.mark.parametrize("written", ["", 0, False, None])
def test_from_mapping__key_that_says_nothing__is_none(written: object) -> None:
    """Neither it nor the older name in its place is taken for an agent."""
    entry = {"entrypoint": "m:a", "agent_key": written, "project_key": "older"}
    assert BeakerConfig.from_mapping({"integrations": {"a": entry}}).agent_key is None


def test_from_mapping__no_integrations__has_the_settings_of_the_file() -> None:
    """Nothing is selected then."""
    config = BeakerConfig.from_mapping({"config_defaults": {"max_concurrency": 1}})
    assert (config.agent_key, config.integration_id, dict(config.config_defaults)) == (
        None,
        None,
        {"max_concurrency": 1},
    )
    assert BeakerConfig.from_mapping({}) == BeakerConfig()
    assert select_integration_entry({}) is None


@pytest.mark.parametrize(
    ("raw", "explicit", "says"),
    [
        (TWO, None, "which integration is meant is open"),
        (TWO, "c", "no integration is named 'c'"),
        ({"integrations": []}, None, "must be a mapping"),
        ({"integrations": {"a": "x"}}, None, "integrations.a must be a mapping"),
        ({"config_defaults": [1]}, None, "config_defaults must be a mapping"),
        ({**TWO, "default_integration": "c"}, None, "names no integration"),
    ],
)
def test_from_mapping__no_configuration_or_no_choice__raises(
    raw: dict[str, Any], explicit: str | None, says: str
) -> None:
    """A wrong file and an open choice are `ValueError`."""
    with pytest.raises(ValueError, match=says) as raised:
        BeakerConfig.from_mapping(raw, explicit)
    assert not isinstance(raised.value, UnsupportedConfigError)
    with pytest.raises(ValueError, match=says):
        select_integration_entry(raw, explicit)


def test_from_mapping__key_at_the_top__is_unsupported() -> None:
    """It selected an agent in an older generation; the message says what to do."""
    with pytest.raises(UnsupportedConfigError, match=r"move it to integrations\.<id>\.agent_key"):
        BeakerConfig.from_mapping({"agent_key": "k"})


def test_from_mapping__spec__is_read_too() -> None:
    """A file of the Spec generation gives its agent and settings; there is no integration then."""
    raw = {"specs": {"s": {"target": "m:s", "config_defaults": {"max_concurrency": 3}}}, "agent_key": " k "}
    config = BeakerConfig.from_mapping(raw)
    assert (config.agent_key, config.integration_id) == ("k", None)
    assert dict(config.config_defaults) == {"max_concurrency": 3}


def test_run_config__override__lies_over_the_defaults() -> None:
    """Key by key; any dataset in it drops those of the defaults; artifacts are set unless empty."""
    config = BeakerConfig.from_mapping(TWO, "a")
    assert config.run_config() == dict(config.config_defaults)
    assert config.run_config(config={"extra": {"y": 2}, "datasetId": None}, input_artifacts=[{"id": "i"}]) == {
        "max_concurrency": 2,
        "extra": {"y": 2},
        "datasetId": None,
        "input_artifacts": [{"id": "i"}],
    }
    assert "input_artifacts" not in config.run_config(input_artifacts=[])
    assert (*DATASET_REF_CONFIG_KEYS, *DATASET_ID_CONFIG_KEYS) == (
        "dataset_ref", "datasetRef", "dataset", "dataset_id", "datasetId",
    )  # fmt: skip


def test_load_beaker_config__file__is_read_as_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """YAML or JSON, exactly the file that is named, by default the project's in this folder."""
    (tmp_path / "c.json").write_text(json.dumps(TWO))
    assert load_beaker_config(tmp_path / "c.json", integration_id="b").agent_key == "12345"
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(
        "\ufeffintegrations:\r\n  a: {entrypoint: 'm:a', agent_key: 012}\r\n"
    )
    monkeypatch.chdir(tmp_path)
    assert load_beaker_config().agent_key == "012"
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    with pytest.raises(FileNotFoundError):
        load_beaker_config()


def test_load_beaker_config__unreadable__raises_what_it_is(tmp_path: Path) -> None:
    """Text that is no YAML is a `ValueError` with its line, bytes that are no text a `UnicodeDecodeError`."""
    file = tmp_path / "c.yaml"
    file.write_bytes(b"a: b: c\n")
    with pytest.raises(ValueError, match=r"c\.yaml:1"):
        load_beaker_config(file)
    file.write_bytes(b"a: \xff\n")
    with pytest.raises(UnicodeDecodeError):
        load_beaker_config(file)


def test_select_integration_entry__choice__is_the_entry_as_written() -> None:
    """The id and the entry's own keys."""
    assert select_integration_entry(TWO, "b") == ("b", TWO["integrations"]["b"])
    assert select_integration_entry({"integrations": {"a": {"required_env": ["A"]}}}) == ("a", {"required_env": ["A"]})


def test_required_env__declaration__is_judged() -> None:
    """Names in order, none without a declaration; a wrong one raises and says which."""
    assert required_env_from_integration_config({"required_env": ["B", "A"]}) == ("B", "A")
    assert required_env_from_integration_config({}) == ()
    with pytest.raises(ValueError, match="'PATH'"):
        required_env_from_integration_config({"required_env": ["PATH"]})
    assert reserved_environment_reason("BEAKER_X") is not None


def test_resolve_environment_base__project__decides_with_what_is_configured(tmp_path: Path) -> None:
    """The metadata of the projects chooses, and refuses what contradicts it."""
    assert resolve_environment_base(source_dir=tmp_path).environment_base == "debian_slim:3.12"
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">3.12.10"\n')
    chosen = resolve_environment_base(source_dir=tmp_path)
    assert (chosen.environment_base, chosen.inferred) == ("debian_slim:3.13", True)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pyproject.toml").write_text('[project]\nrequires-python = "<3.13"\n')
    with pytest.raises(PythonEnvironmentError, match="no hosted Python"):
        resolve_environment_base(source_dir=tmp_path, pip_install_from=tmp_path / "sub" / "pyproject.toml")
    with pytest.raises(PythonEnvironmentError, match=r"environment_base: debian_slim:3\.13"):
        resolve_environment_base("debian_slim:3.12", source_dir=tmp_path)


@pytest.mark.parametrize("name", ["config", "project_layout", "llm_providers", "python_environment"])
def test_modules_for_imports__names__are_all_there(name: str) -> None:
    """Each of these modules has every name that it lists."""
    module = importlib.import_module(f"beaker.{name}")
    assert all(hasattr(module, listed) for listed in module.__all__)
