"""Which checkout code comes from: every way an interpreter can know the user's own checkout is moved to this one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from returns.pipeline import is_successful

from beaker.runtime import remapping
from beaker.runtime.code_root import CodeRoot, code_root_from_json, code_root_to_json, import_root
from beaker.runtime.remapping import Checkouts
from beaker.runtime.workers import WorkerFailed

APP = """
async def run_case(*, case_input, runtime):
    return CaseResult(WHERE)
"""


@pytest.fixture
def checkouts(project, tmp_path):
    """The user's own checkout (`original`) and the project as another one, each with `src/helper.py` saying which."""
    original = tmp_path / "original"
    for root, name in ((original, "original"), (project.root, "checkout")):
        (root / "src" / "pkg" / "deep").mkdir(parents=True)
        (root / "src" / "space" / "part").mkdir(parents=True)
        for module in ("helper", "pkg/__init__", "pkg/deep/__init__", "pkg/deep/leaf", "space/part/__init__"):
            (root / "src" / f"{module}.py").write_text(f"WHERE = {name!r}\n")
    (original / "src" / "removed.py").write_text("WHERE = 'original'\n")
    project.code = CodeRoot(project.root, "app:integration", original=original)
    project.original = original
    project.site = tmp_path / "site"
    project.site.mkdir()
    project.env["PYTHONPATH"] = str(project.site)
    return project


def at_startup(project, text):
    """Have the interpreter run `text` when it starts, as `.pth` files of editable installs do."""
    values = f"ORIGINAL = {str(project.original / 'src')!r}\n"
    (project.site / "sitecustomize.py").write_text(values + dedent(text))


def where(project, hosted, imports):
    """What the hooks see as WHERE after `imports` at the top of the Integration's module."""
    project.hooks(imports + APP)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        result = await worker.run("c", 1, attempt=1)
        await worker.close()
        return result

    result = hosted(work)
    return result.output if result.error is None else result.error


def test_sys_path__entry_inside_the_users_checkout__is_moved(checkouts, hosted):
    """A path in the environment, as an activated project has it, gives this checkout's modules."""
    checkouts.env["PYTHONPATH"] = str(checkouts.original / "src")
    assert where(checkouts, hosted, "from helper import WHERE\n") == "checkout"


def test_sys_path__entry_of_a_pth_file__is_moved(checkouts, hosted):
    """Editable installs that add a path, through a link even, give this checkout's modules."""
    (checkouts.site / "link").symlink_to(checkouts.original)
    (checkouts.site / "editable.pth").write_text(f"{checkouts.site / 'link' / 'src'}\n")
    at_startup(checkouts, "import site, os; site.addsitedir(os.path.dirname(__file__))")
    assert where(checkouts, hosted, "from pkg.deep.leaf import WHERE\n") == "checkout"


SETUPTOOLS = """
import sys, types
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path

finder = types.ModuleType("__editable___demo_finder")
vars(finder).update({key: value for key, value in globals().items() if not key.startswith("__")})
exec('''
MAPPING = {"pkg": ORIGINAL + "/pkg", "helper": ORIGINAL + "/helper"}
NAMESPACES = {"space": [ORIGINAL + "/space"]}
PLACEHOLDER = "__editable__.demo.finder.__path_hook__"
class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            place = Path(MAPPING[fullname])
            for candidate in (place / "__init__.py", place.with_suffix(".py")):
                if candidate.exists():
                    return spec_from_file_location(fullname, candidate)
        return None
class _EditableNamespaceFinder:
    @classmethod
    def path_hook(cls, path):
        if path == PLACEHOLDER:
            return cls
        raise ImportError
    @classmethod
    def find_spec(cls, fullname, target=None):
        if fullname in NAMESPACES:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [*NAMESPACES[fullname], PLACEHOLDER]
            return spec
        return None
''', vars(finder))
sys.modules[finder.__name__] = finder
sys.meta_path.append(finder._EditableFinder)
sys.path_hooks.append(finder._EditableNamespaceFinder.path_hook)
sys.path.append(finder.PLACEHOLDER)
"""


@pytest.mark.parametrize("module", ["helper", "pkg", "pkg.deep.leaf", "space.part"])
def test_finder__of_setuptools__is_moved(checkouts, hosted, module):
    """The mapping finder of setuptools, nested modules and namespace packages included."""
    at_startup(checkouts, SETUPTOOLS)
    assert where(checkouts, hosted, f"from {module} import WHERE\n") == "checkout"


REDIRECTING = """
import importlib.abc, importlib.util, sys
class RedirectingFinder(importlib.abc.MetaPathFinder):
    redirections = {"helper": ORIGINAL + "/helper.py", "pkg": ORIGINAL + "/pkg/__init__.py",
                    "removed": ORIGINAL + "/removed.py"}
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in cls.redirections:
            return importlib.util.spec_from_file_location(fullname, cls.redirections[fullname])
    @classmethod
    def invalidate_caches(cls): pass
sys.meta_path.append(RedirectingFinder)
"""


@pytest.mark.parametrize("module", ["helper", "pkg.deep.leaf"])
def test_finder__that_redirects_files__is_moved(checkouts, hosted, module):
    """Any other finder's specs are moved, as `editables` and scikit-build make them."""
    at_startup(checkouts, REDIRECTING)
    assert where(checkouts, hosted, f"from {module} import WHERE\n") == "checkout"


def test_finder__module_that_this_checkout_lacks__is_missing(checkouts, hosted):
    """A module that exists only in the user's checkout cannot be imported: the candidate would not have it either."""
    at_startup(checkouts, REDIRECTING)
    with pytest.raises(WorkerFailed) as caught:
        where(checkouts, hosted, "from removed import WHERE\n")
    assert "No module named 'removed'" in caught.value.problem.message
    assert "committed" in caught.value.problem.hint


METADATA = """
from importlib.metadata import entry_points, version

def found(group):
    (point,) = entry_points(group=group)
    return point.load()

"""


def installed(folder, name):
    """The metadata of a distribution with one entry point, as an installation writes it."""
    folder.mkdir(parents=True)
    kind = "METADATA" if folder.suffix == ".dist-info" else "PKG-INFO"
    (folder / kind).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 7\n")
    (folder / "entry_points.txt").write_text(f"[{name}.parts]\nleaf = pkg.deep.leaf:WHERE\n")


def test_entry_points__of_an_editable_install__load_from_here(checkouts, hosted):
    """The metadata lies in the environment, what it names in the repository."""
    installed(checkouts.site / "demo-7.dist-info", "demo")
    (checkouts.site / "editable.pth").write_text(f"{checkouts.original / 'src'}\n")
    at_startup(checkouts, "import site, os; site.addsitedir(os.path.dirname(__file__))")
    code = METADATA + "WHERE = [found('demo.parts'), version('demo')]\n"
    assert where(checkouts, hosted, code) == ["checkout", "7"]


def test_entry_points__of_metadata_beside_the_code__load_from_here(checkouts, hosted):
    """An old editable install leaves untracked metadata in the source folder: it is found, what it names is ours."""
    installed(checkouts.original / "src" / "old.egg-info", "old")
    installed(checkouts.original / "src" / "both.egg-info", "both")
    installed(checkouts.root / "src" / "both.egg-info", "both")
    checkouts.env["PYTHONPATH"] = str(checkouts.original / "src")
    code = METADATA + (
        "from importlib.metadata import distributions\n"
        "WHERE = [found('old.parts'), version('old'), found('both.parts'), len(list(distributions(path=[])))]\n"
    )
    assert where(checkouts, hosted, code) == ["checkout", "7", "checkout", 0]


def test_namespace_package__over_folders_of_the_users_checkout__is_moved(checkouts, hosted):
    """All portions come from here, also one that begins at the root."""
    for root, name in ((checkouts.original, "original"), (checkouts.root, "checkout")):
        (root / "space" / "top").mkdir(parents=True)
        (root / "space" / "top" / "__init__.py").write_text(f"WHERE = {name!r}\n")
    checkouts.env["PYTHONPATH"] = f"{checkouts.original / 'src'}:{checkouts.original}"
    code = "import space.part, space.top\nWHERE = [space.part.WHERE, space.top.WHERE, len({*space.__path__})]\n"
    assert where(checkouts, hosted, code) == ["checkout", "checkout", 2]


NESTED = """
import json, os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from operator import attrgetter
from importlib import import_module

def asked(code, *options):
    run = subprocess.run([sys.executable, *options, "-c", code], cwd="/", capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return run.stdout.strip()

"""


@pytest.mark.parametrize("finder", ["", SETUPTOOLS, REDIRECTING], ids=["path", "setuptools", "redirecting"])
def test_interpreter_that_customer_code_starts__takes_modules_from_here(checkouts, hosted, finder):
    """Whatever an editable install is made of, also in an interpreter that was started by one; the environment's own
    `sitecustomize` (which does the installing here) still runs.
    """
    at_startup(checkouts, finder or "import sys; sys.path.append(ORIGINAL)")
    ask = "import helper, pkg.deep.leaf as leaf; print(helper.WHERE, leaf.WHERE)"
    code = NESTED + (
        f"inner = {ask!r}\n"
        "outer = f'import subprocess, sys; subprocess.run([sys.executable, \"-c\", {inner!r}])'\n"
        "WHERE = [asked(inner), asked(outer)]\n"
    )
    assert where(checkouts, hosted, code) == ["checkout checkout"] * 2


def test_interpreter_that_a_pool_spawns__takes_modules_from_here(checkouts, hosted):
    """Finders are nothing that a spawned process would be told."""
    at_startup(checkouts, REDIRECTING)
    (checkouts.root / "task.py").write_text("def told(_):\n    import helper\n    return helper.WHERE\n")
    code = NESTED + (
        "import task\n"
        "with ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool:\n"
        "    WHERE = list(pool.map(task.told, [0]))\n"
    )
    assert where(checkouts, hosted, code) == ["checkout"]


FURTHER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("remapping", sys.argv[1])
remapping = importlib.util.module_from_spec(spec)
spec.loader.exec_module(remapping)

class Editable:  # as setuptools writes one
    @staticmethod
    def find_spec(name, path=None, target=None): return None

MAPPING, NAMESPACES = {"pkg": sys.argv[3] + "/pkg"}, {"space": [sys.argv[3] + "/space"]}
sys.meta_path.append(Editable)
sys.path.append(sys.argv[3] + "/src")
remapping.remap_interpreter(remapping.Checkouts(sys.argv[2], sys.argv[3]))
print(sys.path[-1], MAPPING["pkg"], *NAMESPACES["space"])
"""


@pytest.mark.parametrize("version", ["3.9", "3.10"])
def test_remapping__in_an_older_interpreter__moves_the_same(version, tmp_path):
    """Customer code may start interpreters that Beaker itself does not run on."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*map(str, pyenv.glob(f"{version}.*/bin/python")), shutil.which(f"python{version}")]
    if found[0] is None:
        pytest.skip(f"no Python {version} is installed here")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    command = [found[0], "-c", FURTHER, remapping.__file__, str(here), str(there)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.split() == [f"{here}/src", f"{here}/pkg", f"{here}/space"]


def test_interpreter_that_cannot_be_remapped__goes_on_as_before(checkouts, hosted):
    """Told nothing, or to look at no environment, it takes what it finds, and says nothing."""
    at_startup(checkouts, "import sys; sys.path.append(ORIGINAL)")
    ask = "import helper; print(helper.WHERE)"
    code = NESTED + (
        f"ask = {ask!r}\n"
        "WHERE = [asked(ask)]\n"
        "del os.environ['BEAKER_ORIGINAL']\n"
        "WHERE.append(asked(ask))\n"
        "WHERE.append(asked('import sys; print(int(\"nested\" in str(sys.path)))', '-E'))\n"
    )
    assert where(checkouts, hosted, code) == ["checkout", "original", "0"]


def test_interpreter_started_in_the_users_own_checkout__is_told_nothing(project, hosted):
    """Where nothing is moved, the environment of processes stays as it was."""
    project.code = CodeRoot(project.root, "app:integration", original=project.root)
    names = "sorted(set(os.environ) & {'PYTHONPATH', 'BEAKER_CHECKOUT', 'BEAKER_ORIGINAL'})"
    assert where(project, hosted, f"import os\nWHERE = {names}\n") == []


def test_module_loaded_at_startup__is_loaded_again_from_here(checkouts, hosted):
    """What the interpreter imported from the user's checkout before we could look is dropped."""
    checkouts.env["PYTHONPATH"] += f":{checkouts.original / 'src'}"
    at_startup(checkouts, "import helper; assert helper.WHERE == 'original'")
    assert where(checkouts, hosted, "from helper import WHERE\n") == "checkout"


@pytest.mark.parametrize("name", ["src/pkg/_version.py", "src/pkg/native.so", "src/pkg/made/__init__.py", "built.py"])
def test_import__of_what_only_the_users_checkout_has__says_so(checkouts, hosted, name):
    """A module that is generated or built and not committed is named with its place, and what to do about it."""
    (checkouts.original / name).parent.mkdir(exist_ok=True)
    (checkouts.original / name).write_text("")
    checkouts.env["PYTHONPATH"] = str(checkouts.original / "src")
    module = name.removeprefix("src/").partition(".")[0].removesuffix("/__init__").replace("/", ".")
    with pytest.raises(WorkerFailed) as caught:
        where(checkouts, hosted, f"import {module}\n")
    problem = caught.value.problem
    assert f"No module named '{module}'" in problem.message
    assert problem.hint.startswith(f"{checkouts.original / name} is in your checkout, but not in the commit that runs")


def test_import__from_an_absolute_path_of_the_users_checkout__is_refused(checkouts, hosted):
    """Code that finds the user's checkout by itself fails the import, and says which module it was."""
    with pytest.raises(WorkerFailed) as caught:
        where(checkouts, hosted, f"sys.path.insert(0, {str(checkouts.original / 'src')!r})\nfrom helper import WHERE\n")
    problem = caught.value.problem
    assert problem.code == "BK304"
    assert f"helper ({checkouts.original / 'src' / 'helper.py'})" in problem.message


def test_late_import__from_the_users_checkout__is_that_cases_error(checkouts, hosted):
    """A foreign module that a hook loads later is noticed when the case ends."""
    checkouts.hooks(f"""
        async def run_case(*, case_input, runtime):
            sys.path.insert(0, {str(checkouts.original / "src")!r})
            import helper
            return CaseResult(helper.WHERE)
    """)

    async def work(supervisor):
        worker = await checkouts.rollout(supervisor)
        return await worker.run("c", 1, attempt=1)

    error = hosted(work).error
    assert error.kind == "import"
    assert "helper" in error.message


def test_checkout_inside_the_users_own__is_told_apart(project, hosted, tmp_path):
    """A checkout below the user's repository (`.beaker/local`) is this one; everything around it is not."""
    project.code = CodeRoot(project.root, "app:integration", original=tmp_path)
    (project.root / "helper.py").write_text("WHERE = 'checkout'\n")
    (tmp_path / "helper.py").write_text("WHERE = 'original'\n")
    project.env["PYTHONPATH"] = str(tmp_path)
    assert where(project, hosted, "from helper import WHERE\n") == "checkout"


def test_entry_point__called_like_a_loaded_module__is_the_projects(project, hosted):
    """Modules named like ones that are loaded, or that Beaker loads late, do not mix up either side."""
    (project.root / "json.py").write_text((project.root / "app.py").read_text())
    for name in ("statistics", "difflib", "decimal"):
        (project.root / f"{name}.py").write_text("raise AssertionError('ours')\n")
    project.code = CodeRoot(project.root, "json:integration")

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        first = await worker.run("c", 7, attempt=1)
        await worker.close()
        return first

    assert hosted(work).output == 7


@pytest.mark.parametrize(
    "code, told",
    [
        ({"entrypoint": "beaker.app:integration"}, "called like Beaker's own package"),
        ({"entrypoint": "app"}, "<module>:<attribute>"),
        ({"entrypoint": "app:missing"}, "no attribute 'missing'"),
        ({"entrypoint": "app:Setup"}, "must be an Integration"),
        ({"source_dir": "missing"}, "source_dir 'missing' is not a directory"),
        ({"source_dir": ".."}, "source_dir '..' leads out of"),
        ({"package_import_root": "app.py"}, "package_import_root 'app.py' is not a directory"),
        ({"package_import_root": "out"}, "leads out of"),
    ],
)
def test_start__wrong_place__is_refused(project, hosted, code, told):
    """Entry points and import roots that cannot be are named."""
    (project.root / "out").symlink_to("/")
    project.code = CodeRoot(**{"repository": project.root, "entrypoint": "app:integration", **code})

    async def work(supervisor):
        await project.rollout(supervisor)

    with pytest.raises(WorkerFailed) as caught:
        hosted(work)
    assert told in str(caught.value)


def test_start__invalid_integration__tells_every_fault(project, hosted):
    """All faults of a declaration arrive, each as a problem."""
    project.hooks("def run_case(): pass\nscore_case = 7")

    async def work(supervisor):
        await project.rollout(supervisor)

    with pytest.raises(WorkerFailed) as caught:
        hosted(work)
    assert len(caught.value.problems) >= 3


def test_import_root__is_the_innermost_folder(project):
    """`package_import_root` counts from `source_dir`, which counts from the repository."""
    inner = project.root / "a" / "b"
    inner.mkdir(parents=True)
    code = CodeRoot(project.root, "app:integration", "a", "b")
    assert import_root(code).unwrap() == inner
    assert import_root(CodeRoot(project.root, "app:integration", "a")).unwrap() == inner.parent
    assert not is_successful(import_root(CodeRoot(project.root, "app:integration", "a", "..")))


@pytest.mark.parametrize("original", [None, Path("/there")])
def test_code_root__json__is_the_identity(original):
    """What a child is told is what the host meant."""
    code = CodeRoot(Path("/here"), "a.b:c", "src", None if original else "lib", original)
    assert code_root_from_json(code_root_to_json(code)) == code


@pytest.fixture
def told_apart(tmp_path, monkeypatch):
    """`Checkouts` of two folders, for an interpreter whose prefix the test chooses."""

    def make(prefix):
        for name in ("prefix", "base_prefix", "exec_prefix", "base_exec_prefix"):
            monkeypatch.setattr(sys, name, str(prefix))
        libraries = {name: str(Path(prefix) / "lib") for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        monkeypatch.setattr(remapping.sysconfig, "get_path", libraries.__getitem__)
        remapping.interpreter_directories.cache_clear()
        return Checkouts(tmp_path / "new", tmp_path / "old")

    yield make
    remapping.interpreter_directories.cache_clear()


def test_checkouts__environment_inside_the_checkout__stays(told_apart, tmp_path):
    """An interpreter's environment inside the repository is not moved; what lies beside it is."""
    found = told_apart(tmp_path / "old" / ".venv")
    old, new = tmp_path / "old", tmp_path / "new"
    assert found.moved(str(old / ".venv" / "src" / "tool")) is None
    assert not found.belongs_elsewhere(str(old / ".venv" / "lib" / "x.py"))
    assert found.moved(str(old / ".venv2" / "lib")) == str(new / ".venv2" / "lib")
    assert found.moved(str(old)) == str(new)
    assert found.moved(str(tmp_path / "older" / "x")) is None
    assert found.moved("relative/x") is None


def test_checkouts__prefix_above_or_at_the_checkout__exempts_libraries_only(told_apart, tmp_path):
    """A prefix that contains the repository, or is it, keeps its libraries and nothing else."""
    for prefix in (tmp_path, tmp_path / "old"):
        found = told_apart(prefix)
        assert found.moved(str(tmp_path / "old" / "src")) == str(tmp_path / "new" / "src")
        assert found.moved(str(prefix / "lib" / "site")) is None


def test_checkouts__one_and_the_same__moves_nothing(tmp_path):
    """The user's own checkout, also through a link, is no other checkout."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    found = Checkouts(tmp_path / "a", tmp_path / "b")
    assert found.original is None
    assert not found.belongs_elsewhere(str(tmp_path / "b" / "x.py"))
