"""Looking at the files of a project."""

from pathlib import Path

from beaker.files.looking import look_at

SEEN = ("app.py", ".beaker/beaker.yaml", ".beaker/.env", "src/local/a.py", "dataset/train.jsonl")
NOT_SEEN = (
    ".git/index",
    ".beaker/local/beaker.db",
    ".beaker/traces/a",
    "src/__pycache__/a.pyc",
    "venv/lib/a.py",
    "web/node_modules/a.js",
    ".app.py.swp",
    "report.xml",
)


def test_look_at__project__sees_what_people_write(tmp_path: Path) -> None:
    """Sources, configuration and data are seen; what programs keep there is not."""
    for name in (*SEEN, *NOT_SEEN, "venv/pyvenv.cfg"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = look_at([tmp_path], leave_out=[tmp_path / "report.xml"])
    assert sorted(found) == sorted(str(tmp_path.resolve() / name) for name in SEEN)
    assert found[str(tmp_path.resolve() / "app.py")][1] == 1


def test_look_at__several_folders__each_file_once(tmp_path: Path) -> None:
    """A folder below another one adds nothing, one elsewhere does, and one that there is not is none."""
    for name in ("project/app.py", "project/dataset/train.jsonl", "data/test.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    project = tmp_path / "project"
    (project / "dangling.py").symlink_to(tmp_path / "nowhere")
    found = look_at([project, project / "dataset", tmp_path / "data", tmp_path / "none"])
    names = ("project/app.py", "project/dataset/train.jsonl", "data/test.jsonl")
    assert sorted(found) == sorted(str(tmp_path.resolve() / name) for name in names)
