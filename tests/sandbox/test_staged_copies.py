"""Tests of staged copies: anonymous, readable by the worker, staged once, and removed at the end of the run."""

import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.sandbox.proc import COPIED_WITH_GPU
from harness.sandbox.staging import Staging

ROOT = Path(__file__).parents[2]

HOLDER = """
from harness.sandbox.staging import Staging

with Staging() as staging:
    print(staging.stage("model", lambda directory: (directory / "weights").touch()).parent, flush=True)
    input()
"""

COMING_AND_GOING = """
from harness.sandbox.staging import Staging

for _ in range(40):
    with Staging() as staging:
        staging.stage("model", lambda directory: (directory / "weights").touch())
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@contextmanager
def another_run() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """In the context, another process holds a staging directory; yield the process and the directory."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def write(directory: Path) -> None:
    (directory / "a").mkdir(mode=0o700)
    (directory / "a" / "b.py").write_text("x")
    (directory / "a" / "b.py").chmod(0o4700)


def test_each_thing_is_staged_once_under_a_name_that_says_nothing(cache: Path) -> None:
    written: list[Path] = []
    with Staging() as staging:
        first = staging.stage("submission of alice on model_148", written.append)
        assert staging.stage("submission of alice on model_148", written.append) == first
        second = staging.stage("data", written.append)
    assert written == [first, second]
    assert first != second
    assert all(set(part) <= set("0123456789abcdef") for part in first.relative_to(cache).parts[1:])
    with Staging() as staging:
        assert staging.stage("submission of alice on model_148", write) not in written


def test_everybody_may_read_it_its_times_say_nothing_and_only_the_user_may_enter_where_it_lies() -> None:
    with Staging() as staging:
        staged = staging.stage("model", write)
        assert stat.S_IMODE(staged.parent.stat().st_mode) == 0o700
        found = {path: path.stat() for path in (staged, staged / "a", staged / "a" / "b.py")}
    assert [stat.S_IMODE(status.st_mode) for status in found.values()] == [0o755, 0o755, 0o644]
    assert {(status.st_mtime, status.st_atime) for status in found.values()} == {(0, 0)}


def test_nothing_is_left_after_a_run_however_it_ends(cache: Path) -> None:
    with Staging() as staging:
        staging.stage("model", write)
    with pytest.raises(ZeroDivisionError), Staging() as staging:
        staging.stage("model", lambda directory: write(directory / str(1 // 0)))
    assert list((cache / "staged").iterdir()) == []


def test_the_worker_goes_into_the_sandbox_alone() -> None:
    with Staging() as staging:
        staged = staging.worker()
        files = {path.relative_to(staged).as_posix() for path in staged.rglob("*") if path.is_file()}
        worker = ROOT / "harness" / "worker"
        package = {str(path.relative_to(worker)) for path in worker.rglob("*.py")}
        copies = {f"proc/{name}" for name in COPIED_WITH_GPU}
        assert files == {"cat", "harness/__init__.py", *(f"harness/worker/{name}" for name in package)} | copies
        assert (staged / "harness" / "__init__.py").read_bytes() == b""
        assert staging.worker() == staged


def test_what_a_killed_run_left_is_removed_by_the_next_one_but_not_what_another_run_is_using(cache: Path) -> None:
    (cache / "staged" / "left" / "lock").mkdir(parents=True)  # cannot be opened, as a lock of another user
    with another_run() as (process, used):
        for _ in range(2):
            with Staging() as staging:
                assert staging.stage("model", write).is_dir()
                assert (used / "lock").exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert used.is_dir()
    with Staging():
        assert not used.exists()


@pytest.mark.rest
def test_runs_that_begin_and_end_at_the_same_time_do_not_disturb_each_other(cache: Path) -> None:
    runs = [
        subprocess.Popen([sys.executable, "-c", COMING_AND_GOING], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [run.communicate()[1] for run in runs] == [""] * len(runs)
    assert list((cache / "staged").iterdir()) == []
