"""Making the edits of a migration in the text of a configuration."""

import pytest
from returns.pipeline import is_successful

from beaker.core.migration_config import AddAgentKey, NestKey, RemoveKey, RenameKey, plan_config
from beaker.files.config_migration import migrated_config
from beaker.files.yaml_tree import parse_yaml

WHOLE = """\
# ours
agent_key: word-finder   # public

spec:            # the only one
    # where it is
    target: "m:build"    # a factory
    required_env:
    - TOKEN
    config_defaults:
        extra: |
          kept
            as it is

        use_harness_optimization: true
# settings
config_defaults:
  dataset: words
  'test_all_candidates': false
"""
MIGRATED = """\
# ours

integrations:
    mine:            # the only one
        agent_key: word-finder
        # where it is
        entrypoint: "m:build"    # a factory
        required_env:
        - TOKEN
        config_defaults:
            extra: |
              kept
                as it is

# settings
config_defaults:
  dataset: words
"""


def whole(text: str) -> str:
    """The text with everything done that its migration plans."""
    plan = plan_config(parse_yaml(text.encode(), "f").unwrap(), "f", spec_id="mine")
    assert plan.by_hand == ()
    return migrated_config(text.encode(), plan.edits, file="f").unwrap().decode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_migrated_config__whole_file__keeps_comments_order_and_layout(end: str, bom: str) -> None:
    """Only what is edited changes, whatever the line ends and whether there is a byte order mark."""
    assert whole(bom + WHOLE.replace("\n", end)) == bom + MIGRATED.replace("\n", end)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("spec: {target: 'm:f'}", "integrations:\n  mine: {entrypoint: 'm:f'}"),
        ('"spec": {target: "m:f"}\n', 'integrations:\n  mine: {entrypoint: "m:f"}\n'),
        (
            "'default_spec': a\n'specs':\n- {}\n",
            None,
        ),
        (
            "'default_spec': a\n'specs':\n  a: {target: m:f,\n    image_base: x}\n",
            "'default_integration': a\n'integrations':\n  a: {entrypoint: m:f,\n    environment_base: x}\n",
        ),
        (
            "specs: {a: {target: m:f, config_defaults: {use_harness_optimization: true, extra: {a: 1}}}}\n",
            "integrations: {a: {entrypoint: m:f, config_defaults: {extra: {a: 1}}}}\n",
        ),
        (
            "{specs: {a: {target: m:f, config_defaults: {extra: {a: 1}, use_harness_optimization: true}}}}\n",
            "{integrations: {a: {entrypoint: m:f, config_defaults: {extra: {a: 1}}}}}\n",
        ),
        (
            "specs:\n  a:\n    target: m:f\nproject_key: 'k'",
            "integrations:\n  a:\n    agent_key: k\n    entrypoint: m:f\n",
        ),
    ],
)
def test_migrated_config__other_layouts__are_edited_in_their_style(before: str, after: str | None) -> None:
    """Flow style, quotes, a last line without an end."""
    assert whole(before) == (before if after is None else after)


@pytest.mark.parametrize(
    ("text", "edit", "said"),
    [
        ("a: &x {b: 1}\nc: *x\n", RenameKey(("c", "b"), "d"), "call c.b d"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", RenameKey(("c", "b"), "d"), "call c.b d"),
        ("{spec: {a: 1}}\n", NestKey("spec", "integrations", "mine"), "move spec to integrations.mine"),
        ("? spec\n: a: 1\n", NestKey("spec", "integrations", "mine"), "move spec to integrations.mine"),
        ("a: {b: 1}\n", RemoveKey(("a", "b")), "take out a.b"),
        ("a:\n  b: 1\n", RemoveKey(("a", "b")), "take out a.b"),
        ("a: &x {b: 1, c: 2}\nc: *x\n", RemoveKey(("c", "b")), "take out c.b"),
        ("base: &x {spec: {a: 1}}\n<<: *x\n", NestKey("spec", "integrations", "mine"), "move spec to"),
    ],
)
def test_migrated_config__what_cannot_be_edited_safely__is_refused(text: str, edit: object, said: str) -> None:
    """Merged keys, aliases, a pair that would leave nothing: refused with the words of what was meant."""
    found = migrated_config(text.encode(), [edit], file="f")  # type: ignore[list-item]  # one of each kind
    assert not is_successful(found)
    assert (found.failure().code, said in found.failure().message) == ("BK123", True)


def test_migrated_config__agent_key_in_an_alias__is_refused() -> None:
    """What the editor of configurations refuses stays refused."""
    text = "a: &x {target: 'm:f'}\nspecs: {s: *x}\n"
    assert migrated_config(text.encode(), [AddAgentKey("specs", "s", "k")], file="f").failure().code == "BK123"
