"""A repository target whose package is installed as a copy: what no edits would reach is named, and nothing else."""

import json

import pytest

from beaker.runtime.code_root import CodeRoot
from beaker.runtime.workers import WorkerFailed

PARSE = "def parse(text):\n    return text\n"


@pytest.fixture
def copied(project, tmp_path):
    """The project with `src/durations/parse.py`, and an environment that holds a copy of it."""
    project.site = tmp_path / "venv" / "lib" / "site-packages"
    project.env["PYTHONPATH"] = str(project.site)
    project.hold = lambda path, text=PARSE: write(project.root / path, text)
    project.install = lambda path, text=PARSE: write(project.site / path, text)
    for put, folder in ((project.hold, "src/"), (project.install, "")):
        put(f"{folder}durations/__init__.py", "")
        put(f"{folder}durations/parse.py")
    return project


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tried(project, hosted):
    """Import the Integration and run a case: the error of the import, else the result of the case."""

    async def work(supervisor):
        try:
            worker = await project.rollout(supervisor)
        except WorkerFailed as failed:
            return failed.problem
        result = await worker.run("c", 1, attempt=1)
        await worker.close()
        return result

    return hosted(work)


def test_import__loads_the_copy__fails_and_says_what_to_do(copied, hosted):
    """The module, where it came from, where the target holds it, and both ways out."""
    copied.hooks("from durations.parse import parse\nTARGETS = repository(['src'])\n")
    problem = tried(copied, hosted)
    assert problem.code == "BK305"
    place = copied.site / "durations"
    assert f"durations.parse (loaded from {place / 'parse.py'}, held at src/durations/parse.py)" in problem.message
    assert "`pip install -e .`" in problem.hint
    assert "put the Integration into src/ and set package_import_root: src" in problem.hint


def test_run_case__loads_the_copy_late__is_an_error_of_the_case(copied, hosted):
    """A module imported while a case runs counts too."""
    copied.hooks("""
        TARGETS = repository(["src/durations/parse.py"])
        async def run_case(*, case_input, runtime):
            from durations.parse import parse
            return CaseResult(parse("x"))
    """)
    error = tried(copied, hosted).error
    assert error.kind == "installed_copy"
    assert "durations.parse (loaded from " in error.message
    assert "pip install -e ." in error.message
    assert "durations (" not in error.message


PLACES = {
    "the root": ("", ["durations"], {}),
    "a source_dir": ("part/", None, {"source_dir": "part"}),
    "src of a source_dir": ("part/src/", None, {"source_dir": "part"}),
    "an import root": ("part/lib/", ["lib"], {"source_dir": "part", "package_import_root": "lib"}),
    "a folder of its own": ("packages/core/python/", ["packages"], {}),
}


@pytest.mark.parametrize("name", PLACES)
def test_held__wherever_it_could_be_imported_from__is_found(copied, hosted, name):
    """The package may lie in any folder that would make it importable."""
    folder, paths, settings = PLACES[name]
    (copied.root / "src" / "durations" / "parse.py").rename(copied.root / "elsewhere.txt")
    (copied.root / "part" / "lib").mkdir(parents=True)
    copied.hold(f"{folder}durations/__init__.py", "")
    copied.hold(f"{folder}durations/parse.py")
    # The import root comes first on the path, so what lies there is loaded late, when that is so no more.
    copied.hooks(f"""
        TARGETS = repository({paths!r} or "all")
        async def run_case(*, case_input, runtime):
            sys.path.insert(0, {str(copied.site)!r})
            import durations.parse
            return CaseResult(durations.parse.__file__)
    """)
    entry = copied.root / settings.get("source_dir", ".") / settings.get("package_import_root", ".") / "app.py"
    if not entry.exists():
        (copied.root / "app.py").rename(entry)
    copied.code = CodeRoot(copied.root, "app:integration", **settings)
    error = tried(copied, hosted).error
    assert error is not None
    assert f"held at {folder}durations/parse.py" in error.message


@pytest.mark.parametrize("layout", ["package", "module", "namespace"])
def test_held_in_any_folder__copy_of_another_version__is_found_by_its_metadata(copied, hosted, layout):
    """A copy that was made before the last edit is still one: `pip install .` notes that it came from a folder."""
    path = "solo.py" if layout == "module" else "solo/part.py"
    module = "solo" if layout == "module" else "solo.part"
    copied.hold(f"tools/{path}", "VALUE = 2\n")
    copied.install(path, "VALUE = 1\n")
    if layout == "package":
        copied.hold("tools/solo/__init__.py", "# new\n")
        copied.install("solo/__init__.py", "# old\n")
    copied.hooks(f"import {module}\n")
    assert tried(copied, hosted).error is None
    copied.install("solo-1.dist-info/RECORD", f"{path},sha256=x,1\n")
    copied.install("solo-1.dist-info/direct_url.json", json.dumps({"url": "file:///x", "dir_info": {}}))
    problem = tried(copied, hosted)
    assert problem.code == "BK305"
    assert f"held at tools/{path}" in problem.message


def test_environment_inside_the_checkout__is_no_part_of_it(copied, hosted):
    """Smoke works in the user's own folder, where `.venv` lies beside the code."""
    site = copied.root / ".venv" / "lib" / "python3" / "site-packages"
    site.parent.mkdir(parents=True)
    copied.site.rename(site)
    copied.env["PYTHONPATH"] = str(site)
    copied.hooks("from durations.parse import parse\nTARGETS = repository()\n")
    assert f"{site / 'durations' / 'parse.py'}, held at src/durations/parse.py" in tried(copied, hosted).message


FINE = {
    "the last part of the name alone": "import third.parse",
    "a name of another depth": "import third.durations.parse",
    "a vendored package that is another one": "import vendored.core",
    "a folder that is no package": "import docker.errors",
    "the standard library": "import json.decoder, tokenize",
    "outside the declared paths": "import undeclared",
    "from the checkout": (
        "sys.path.insert(0, str(Path(__file__).parent / 'src'))\n"
        "import durations.parse as p\n"
        "assert 'venv' not in p.__file__"
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_other_modules__are_no_copies(copied, hosted, name):
    """Names that are alike in part, files that are others, and what candidates cannot edit anyway."""
    for path in ("third/__init__.py", "third/parse.py", "third/durations/__init__.py", "third/durations/parse.py"):
        copied.install(path)
    for path in ("vendored/__init__.py", "vendored/core.py", "docker/__init__.py", "docker/errors.py"):
        copied.install(path, "VALUE = 'third party'\n")
    copied.install("undeclared.py", "VALUE = 1\n")
    copied.hold("src/more/vendored/__init__.py", "VALUE = 'mine'\n")
    copied.hold("src/more/vendored/core.py", "VALUE = 'mine'\n")
    copied.hold("docker/errors.py", "VALUE = 'mine'\n")
    copied.hold("tools/undeclared.py", "VALUE = 1\n")
    for path in ("src/json/decoder.py", "src/tokenize.py", "src/attr/_make.py"):
        copied.hold(path)
    copied.hooks(f"{FINE[name]}\nTARGETS = repository(['src', 'docker'])\n")
    assert tried(copied, hosted).error is None


def test_documents_only__may_use_an_installed_package(copied, hosted):
    """Without a repository target no candidate edits code."""
    copied.hooks("""
        import durations.parse
        TARGETS = documents(groups=("kb",))
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                yield {}
    """)
    assert tried(copied, hosted).error is None
