"""The process that holds a sandbox open for a fork: as limited as the worker, and out of its reach."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox.job import Job, Limits
from harness.sandbox.kinds.fast import Placeholder
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.staging import Staging

LIMITS = Limits(processes=77, open_files=99, file_bytes=12345678)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    problem = Fresh().problem()
    if problem is not None:
        pytest.skip(f"no sandbox here: {problem}")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    with Staging() as staging:
        empty = staging.stage("empty", lambda directory: None)
        yield Job(staging.worker(), empty, empty, empty)


@pytest.fixture
def placeholder(job: Job) -> Iterator[Placeholder]:
    placeholder = Placeholder(job, LIMITS, slot=5, sink=2, groups=None)
    yield placeholder
    placeholder.kill()
    while not placeholder.is_gone():
        pass
    placeholder.close()


def test_every_process_in_it_is_limited_like_the_worker(placeholder: Placeholder) -> None:
    entries = placeholder.processes.entries()
    assert entries
    for entry in entries:
        limits = dict(re.findall(r"^Max (.+?) {2,}(\d+) ", Path(entry, "limits").read_text(), re.MULTILINE))
        found = {name: int(limits[name]) for name in ("processes", "open files", "file size", "core file size")}
        assert found == {"processes": 77, "open files": 99, "file size": 12345678, "core file size": 0}


def test_nobody_of_its_user_can_look_into_it(placeholder: Placeholder) -> None:
    """Root's files in the /proc entry of another user's process are closed to that user."""
    entries = [entry for entry in placeholder.processes.entries() if Path(entry, "comm").read_text() == "cat\n"]
    assert len(entries) == 1
    users = re.search(r"^Uid:\s+(\d+)", Path(entries[0], "status").read_text(), re.MULTILINE)
    assert users is not None
    assert int(users[1]) != 0
    assert os.stat(f"{entries[0]}/mem").st_uid == 0  # noqa: PTH116


def test_the_harness_can_look_at_the_sandbox(placeholder: Placeholder) -> None:
    root = placeholder.processes.root()
    assert root is not None
    assert {path.name for path in Path(root, "job").iterdir()} == {"trusted", "submission", "model", "data"}
    held = placeholder.storage()
    assert held is not None
    assert held.scratch_bytes == 0
    assert 2 <= held.scratch_files < 10, "the two directories, and mount points of an environment below /tmp"


def test_a_sandbox_that_cannot_be_made_says_why(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    gone = Job(job.worker, job.submission, job.model, Path("/nowhere/at/all"))
    with pytest.raises(StartError):
        Placeholder(gone, LIMITS, slot=6, sink=2, groups=None)
    assert "Can't find source path /nowhere/at/all" in capfd.readouterr().err
