"""Moving `open_candidate` from the setup class beside it."""

import pytest

from beaker.core.migration_code import migrate_module

HEAD = "from beaker import Integration, RunSetup\n\n\nclass Setup(RunSetup[dict]):\n    row_model = dict\n"
METHOD = """
    @asynccontextmanager
    async def open_candidate(self, *, targets_dir, scratch_dir):
        yield targets_dir
"""
FUNCTION = """

@asynccontextmanager
async def open_candidate(*, targets_dir, scratch_dir):
    yield targets_dir
"""
MADE = "\n\nintegration = Integration(targets=t, run_setup=Setup)\n"
GIVEN = "\n\nintegration = Integration(targets=t, run_setup=Setup, open_candidate=open_candidate)\n"


def migrated(source: str) -> str:
    found = migrate_module(source, "m.py").unwrap()
    assert found.by_hand == ()
    assert {what for _, what in found.changes} == {"open_candidate becomes a function that the Integration is given"}
    return found.source


def test_moved__last_of_its_class__stands_at_the_margin() -> None:
    """The method becomes a function in its place, and the Integration gets it."""
    assert migrated(HEAD + METHOD + MADE) == HEAD + FUNCTION + GIVEN


def test_moved__between_others__goes_behind_the_class_with_its_comments() -> None:
    """Comments directly above it go with it, and one blank line less stays."""
    rest = "\n    def load_cases(self, row, *, runtime): ...\n"
    method = METHOD.replace("\n    @", "\n    # opens\n    # a candidate\n    @", 1).replace(
        "dir\n", "dir  # as it is\n"
    )
    function = FUNCTION.replace("@", "# opens\n# a candidate\n@").replace(
        "    yield targets_dir\n", "    yield targets_dir  # as it is\n"
    )
    assert migrated(HEAD + method + rest + MADE) == HEAD + rest + function + GIVEN


def test_moved__self_on_a_line_of_its_own__goes_with_it() -> None:
    """However the arguments are laid out, `self` and its comma go; a last line without its end gets one."""
    method = (
        "\n    def open_candidate(\n        self: 'Setup',\n        *,\n        targets_dir,\n        scratch_dir,\n"
        "    ):\n"
        '        """Opens.\n\n        Whole.\n        """\n        return opened(targets_dir)\n'
    )
    made = "integration = Integration(\n    run_setup=Setup,\n    targets=(t),\n)"
    after = migrated(HEAD + method + made)
    assert '\n\n\ndef open_candidate(\n    *,\n    targets_dir,\n    scratch_dir,\n):\n    """Opens.\n' in after
    assert after.endswith("\n    targets=(t),\n    open_candidate=open_candidate,\n)")


def test_moved__what_is_edited_within__has_moved_with_it() -> None:
    """Names that are renamed inside the method are renamed where it stands then, and told once."""
    head = HEAD.replace("RunSetup\n", "RunSetup, ChangeSet\n", 1)
    method = METHOD.replace("scratch_dir):", "scratch_dir: ChangeSet):").replace(
        "targets_dir\n", "ChangeSet(targets_dir)\n"
    )
    found = migrate_module(head + method + MADE, "m.py").unwrap()
    function = FUNCTION.replace("scratch_dir):", "scratch_dir: DocumentChangeSet):")
    function = function.replace("yield targets_dir", "yield DocumentChangeSet(targets_dir)")
    assert found.source == head.replace("ChangeSet", "DocumentChangeSet") + function + GIVEN
    assert [line for line, what in found.changes if "ChangeSet" in what] == [1, 8, 9]


def test_moved__windows_line_ends__stay() -> None:
    """New lines end as the file's do; a class that ends the file may lack its last line end."""
    source = ("integration: Integration\n" + HEAD + MADE.strip() + "\n" + HEAD.split("\n\n\n")[1] + METHOD)[:-1]
    source = source.replace("\n", "\r\n")
    made = migrate_module(source.replace("integration: Integration\r\n", ""), "m.py").unwrap()
    assert "\n" not in made.source.replace("\r\n", "")


@pytest.mark.parametrize(
    ("method", "made", "why"),
    [
        (METHOD.replace("yield targets_dir", "yield self.x"), MADE, "it uses self or its class"),
        (METHOD.replace("yield targets_dir", "yield super()"), MADE, "it uses self or its class"),
        (METHOD.replace("yield targets_dir", "yield Setup"), MADE, "it uses self or its class"),
        (METHOD.replace("yield targets_dir", "yield row_model"), MADE, "it uses names of its class"),
        (METHOD.replace("targets_dir\n", '"""a\n  b"""\n'), MADE, "a text in it goes over several lines"),
        (METHOD.replace("targets_dir\n", 'f"""a\n  {b}"""\n'), MADE, "a text in it goes over several lines"),
        (
            METHOD.replace("self, *, ", "self, more, *, "),
            MADE,
            "it takes other arguments than self and its two keywords",
        ),
        (METHOD.replace("self, *, ", "*, "), MADE, "it takes other arguments than self and its two keywords"),
        (METHOD.replace("@asynccontextmanager", "@classmethod"), MADE, "it is no ordinary method"),
        (METHOD + METHOD, MADE, "it is defined more than once"),
        (METHOD.replace("targets_dir\n", "targets_dir; x = 1\n"), MADE, None),
        (METHOD[:-1] + ";\n", MADE, None),
        (METHOD, "\n", "no Integration of this module names Setup as its run_setup"),
        (METHOD, MADE + MADE, "2 Integrations of this module use Setup"),
        (METHOD, MADE.replace("targets=t", "open_candidate=o"), "the Integration is given one already, or more"),
        (METHOD, MADE.replace("targets=t", "**more"), "the Integration is given one already, or more"),
        (METHOD, MADE + "open_candidate = 1\n", "the module has something of that name"),
        (METHOD, MADE + "from x import y as open_candidate\n", "the module has something of that name"),
        (METHOD, MADE + "def open_candidate(): ...\n", "the module has something of that name"),
    ],
)
def test_left__method_that_cannot_stand_alone__is_told(method: str, made: str, why: str | None) -> None:
    """What the method has of its class, and what the Integration cannot be given, is left to the author."""
    source = HEAD + method + made
    found = migrate_module(source, "m.py").unwrap()
    if why is None:
        assert found.source != source
    else:
        assert found.source == source
        (problem,) = found.by_hand
        assert f"open_candidate stays in Setup: {why}" in problem.message


def test_left__class_inside_a_function_or_with_nothing_else__is_told() -> None:
    """A class that would be empty stays, and one that is no module's."""
    bare = HEAD.replace("    row_model = dict\n", "") + METHOD + MADE
    (problem,) = migrate_module(bare, "m.py").unwrap().by_hand
    assert "the class has nothing else" in problem.message
    inner = "def make():\n" + "".join(f"    {line}\n" for line in (HEAD + METHOD + MADE).splitlines())
    (problem,) = migrate_module(inner, "m.py").unwrap().by_hand
    assert "does not stand at the margin" in problem.message


def test_left__layout_that_no_margin_fits__is_told() -> None:
    """Where the module could not be read any more, nothing of it is moved."""
    source = HEAD + METHOD.replace("self, *, ", "self, *,\n") + MADE
    found = migrate_module(source, "m.py").unwrap()
    assert found.source == source
    (problem,) = found.by_hand
    assert "a line of it stands further out than its first" in problem.message


def test_left__second_setup_of_a_module__keeps_its_own() -> None:
    """A module has room for one function of that name."""
    second = HEAD.partition("\n\n\n")[2].replace("Setup(", "Other(") + METHOD + MADE.replace("Setup", "Other")
    found = migrate_module(HEAD + METHOD + MADE + "\n\n" + second, "m.py").unwrap()
    assert found.source == HEAD + FUNCTION + GIVEN + "\n\n" + second
    assert [problem.message for problem in found.by_hand] == [
        "open_candidate stays in Other: the module gets one already"
    ]
