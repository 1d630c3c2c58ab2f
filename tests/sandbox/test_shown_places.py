"""Tests of the directories that every sandbox shows: they contain nothing that a submission must not see."""

import sys
from pathlib import Path

import pytest

from harness.api.execution import prepare
from harness.api.progress import SILENT
from harness.errors import UserError
from harness.sandbox import Kind
from harness.sandbox.job import Job
from harness.sandbox.kinds.docker import Docker
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.landlock import Landlock, granted_paths
from harness.sandbox.kinds.none import Plain
from harness.task.layout import TaskDirectory
from pgdl import Execution
from tests.execution.planned_things import Nowhere
from tests.throwaway import make_task

CHOSEN = Execution(memory_bytes=1 << 30, workers=1, sandbox="fresh")

SHOWING = [Fresh(), Landlock()]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory that passes for Python's environment; the sandbox seems to work."""
    (tmp_path / "venv").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("harness.sandbox.kinds.fresh.Fresh.problem", lambda self: None)
    return tmp_path / "venv"


def test_landlock_allows_nothing_else(tmp_path: Path) -> None:
    job = Job(*[tmp_path / name for name in ("worker", "submission", "model", "data")])
    for directory in job.directories:
        directory.mkdir()
    allowed = granted_paths(job, tmp_path / "scratch")
    readable = {Path(path).resolve() for path in [*allowed["run"], *allowed["read"]]}
    devices = {path for path in readable if path.is_relative_to("/dev")}
    assert readable - devices - set(job.directories) == Landlock().shown()


@pytest.mark.parametrize("kind", SHOWING)
def test_what_is_shown_is_refused_however_it_is_written(kind: Kind, environment: Path) -> None:
    shown = kind.shown()
    assert {environment, Path(sys.base_prefix).resolve(), Path("/usr")} <= shown
    assert not any(place == Path("/") or Path("/tmp").is_relative_to(place) for place in shown)
    assert Docker().shown() == Plain().shown() == frozenset()
    (environment.parent / "link").symlink_to(environment)
    below = [environment / "a", environment / "b" / ".." / "c", environment.parent / "link" / "a", Path("/usr/lib")]
    executor = Nowhere()
    executor.shown = shown
    for path in [environment, *below]:
        with pytest.raises(UserError) as error:
            executor.require_unseen([path])
        what, remedy = "submissions could read it: every sandbox shows", "move it to a directory outside"
        assert str(error.value).startswith(f"{path}: {what} ")
        assert str(error.value).endswith(f"; {remedy}")
    executor.require_unseen([environment.parent, environment.with_name("venv2"), Path("/")])


@pytest.mark.parametrize(
    "part", ["", "reference_data/tiny/model_configs.json", "input_data/tiny/dataset_1/test", "input_data/tiny/model_3"]
)
def test_tasks_in_the_environment_are_refused_also_behind_links(part: str, environment: Path, tmp_path: Path) -> None:
    make_task(tmp_path / "tasks", layout="full")
    linked = tmp_path / "tasks" / part
    linked.rename(environment / "data")
    linked.symlink_to(environment / "data")
    with pytest.raises(UserError, match=f"^{linked}.*: submissions could read it: every sandbox shows .*$"):
        prepare(CHOSEN, TaskDirectory(tmp_path / "tasks").runnable(), SILENT)


def test_tasks_elsewhere_are_fine_but_not_with_a_cache_in_the_environment(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models and submissions of other calls are staged in the cache."""
    (make_task(tmp_path / "tasks") / "circle").symlink_to("circle")  # leads nowhere
    assert prepare(CHOSEN, TaskDirectory(tmp_path / "tasks").runnable(), SILENT)[1].isolation == "bubblewrap"
    monkeypatch.setenv("PGDL_CACHE", str(environment / "cache"))
    with pytest.raises(UserError, match="cache/staged: submissions could read it"):
        prepare(CHOSEN, (), SILENT)
