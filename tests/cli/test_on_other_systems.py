"""Tests of commands without a sandbox on a Mac, which a process imitates; and of the refusal on Windows."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from in_process import Record

from pgdl import results
from tests.board.board_examples import rows, write_reference
from tests.e2e.real_runs import wait_for, write_submission
from tests.sandbox.fake_docker import IMAGE, containers, install
from tests.throwaway import make_task

pytestmark = pytest.mark.rest

ROOT = Path(__file__).parents[2]
NO_SANDBOX = (
    "pgdl: sandboxed calls: expected Linux, found Darwin; with a Docker engine, --sandbox docker; "
    "for your own code only, pgdl run --unsafe-no-sandbox (pgdl help systems)"
)

#: Environment variables with which processes imitate a Mac.
MAC = {
    "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "elsewhere"), str(ROOT)]),
    "PYTHONWARNDEFAULTENCODING": "1",
}


def elsewhere(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `pgdl` as on a Mac."""
    command = [sys.executable, "-m", "pgdl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | MAC)


def test_windows_is_refused_in_one_line() -> None:
    program = "import sys; sys.platform = 'win32'; from pgdl.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "board"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "pgdl: expected Linux or macOS, found Windows; use pgdl in WSL (Windows Subsystem for Linux)\n"
    )


@pytest.mark.usefixtures("known_shapes")
def test_boards_scores_sites_and_tasks(folder: Path, record: Record) -> None:
    write_reference(folder / "task_data")
    record(rows("margin"))
    make_task(folder / "tasks", n_models=2)
    for arguments in (
        ["board", "--output", "board", "--html", "site"], ["verify", "site"], ["score", "margin"], ["results"],
        ["report", "margin"], ["task", "validate", "tasks"], ["task", "show", "tasks"],
    ):  # fmt: skip
        done = elsewhere(*arguments)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    done = elsewhere("run", "depth", "--tasks", "tasks")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, NO_SANDBOX)


def test_ones_own_code_runs_without_a_sandbox(folder: Path) -> None:
    """On a Mac, memory is measured with psutil."""
    make_task(folder / "tasks", layout="full", n_models=2)
    write_submission(folder, "mine", "return 2.5")
    write_submission(folder, "large", "import time; held = bytearray(b'x') * 2**30; time.sleep(60)")
    limits = "--time-limit", "30", "--memory", "1G"
    done = elsewhere("run", "mine.py", "large.py", "depth", "--unsafe-no-sandbox", "--tasks", "tasks", *limits)
    assert "Traceback" not in done.stderr
    rows = results("results.db")
    ended = {(row["submission"], row["outcome"]) for row in rows}
    assert ended == {("mine", "OK"), ("depth", "OK"), ("large", "MEMORY")}
    assert all(row["sandbox"] == "none" and row["peak_memory_bytes"] > 2**26 for row in rows)


def test_calls_are_made_in_containers(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake container engine makes the calls; the harness in the image makes the system-call filter."""
    engine = install(tmp_path / "engine")
    monkeypatch.setenv("PATH", f"{engine}{os.pathsep}{os.environ['PATH']}")
    make_task(folder / "tasks", layout="full", n_models=2)
    write_submission(folder, "mine", "return 2.5")
    write_submission(folder, "connects", "import socket; socket.create_connection(('127.0.0.1', 9), 1)")
    containers_of = "--sandbox", "docker", "--docker-image", IMAGE
    done = elsewhere("run", "mine.py", "connects.py", *containers_of, "--tasks", "tasks", "--workers", "1")
    assert "Traceback" not in done.stderr
    ended = {(row["submission"], row["outcome"], row["sandbox"]) for row in results("results.db")}
    assert ended == {("mine", "OK", "docker"), ("connects", "FORBIDDEN", "docker")}
    assert containers(engine) == []
    done = elsewhere("run", "mine.py", "--sandbox", "docker", "--docker-image", "other:1", "--tasks", "tasks")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "docker build --tag other:1 ." in done.stderr


def test_a_killed_harness_takes_its_calls_with_it(folder: Path) -> None:
    """On a Mac, the kernel does not kill the calls of a killed harness, so they must end themselves."""
    make_task(folder / "tasks", layout="full", n_models=1)
    write_submission(folder, "lasting", "import time; time.sleep(60)")
    run = [sys.executable, "-m", "pgdl", "run", "lasting.py", "--unsafe-no-sandbox", "--tasks", "tasks"]

    def calls() -> list[psutil.Process]:
        found = psutil.process_iter(["cmdline", "ppid"])
        return [one for one in found if one.info["ppid"] == harness.pid and "staged" in str(one.info["cmdline"])]

    with subprocess.Popen(run, env=os.environ | MAC, stderr=subprocess.DEVNULL) as harness:
        wait_for(lambda: bool(calls()), "a call")
        started = calls()
        harness.kill()
    _, left = psutil.wait_procs(started, timeout=240)
    assert not left


def test_doctor_says_what_is_not_there() -> None:
    done = elsewhere("doctor")
    assert "MISSING sandbox" in done.stdout
    said = " ".join(done.stdout.split())
    assert NO_SANDBOX.removeprefix("pgdl: ") in said
    assert "sandbox docker does not work" in said or "sandbox docker would work" in said
    assert "Traceback" not in done.stderr
