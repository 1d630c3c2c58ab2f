"""Tests of calls by `pgdl run --sandbox docker`, with a stand-in for the engine, and with little memory."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.real_runs import FASTEST, PGDL, heed_interrupts, records, wait_for, write_submission
from sandbox.fake_docker import IMAGE, containers, install
from throwaway import make_task

from harness import machine_memory
from harness.configuration import MIB
from harness.sandbox.job import Job, Limits
from harness.sandbox.kinds.docker import Docker
from harness.sandbox.process import WorkerProcess
from harness.sandbox.running_sandbox import StartError

pytestmark = pytest.mark.rest

BODIES = {
    "prints": "print('to the log'); import os; os.write(1, b'to the log, too'); return 1.5",
    "loops": "while True: pass",
    "hogs": "hog = []\nwhile True: hog.append(b'x' * (32 << 20))",
    "is_killed": "import os; os.kill(os.getpid(), 9)",  # as an engine does it at its own memory limit
    "exits": "import os; os._exit(3)",
    "connects": "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
}


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    return install(tmp_path / "bin")


@pytest.fixture
def start(tmp_path: Path, engine: Path, shared_cache: Path) -> Any:
    """Return a function that starts `pgdl run` in containers, on a task of one model."""
    make_task(tmp_path / "tasks", name="single", n_models=1, reference=False)
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache" / "shapes")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PGDL_")}
    environment |= {"PATH": f"{engine}:{os.environ['PATH']}", "PGDL_CACHE": str(tmp_path / "cache")}

    def run(*names: str, time_limit: int) -> subprocess.Popen[str]:
        submissions = [write_submission(tmp_path, name, BODIES[name]) for name in names]
        command = [
            *PGDL, "run", *submissions, "--tasks", tmp_path / "tasks", "--results", tmp_path / "results.db",
            "--time-limit", time_limit, "--memory", "900M", "--workers", "1",
            "--sandbox", "docker", "--docker-image", IMAGE, "--docker-runtime", "runsc",
            *FASTEST,
        ]  # fmt: skip
        return subprocess.Popen(
            [*map(str, command)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=heed_interrupts,
        )  # fmt: skip

    return run


def test_each_call_has_its_outcome_and_no_container_is_left(start: Any, engine: Path, tmp_path: Path) -> None:
    with start(*BODIES, time_limit=8) as run:
        output, _ = run.communicate(timeout=500)
    assert run.returncode == 1, output
    rows = {row["submission"]: row for row in records(tmp_path / "results.db")}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "prints": "OK",
        "loops": "TIMEOUT",
        "hogs": "MEMORY",
        "is_killed": "MEMORY",
        "exits": "CRASH",
        "connects": "FORBIDDEN",
    }
    assert rows["prints"]["value"] == 1.5
    assert rows["prints"]["output_tail"] == "to the log\nto the log, too"
    assert rows["exits"]["message"] == "exited with status 3 without a result"
    assert rows["is_killed"]["message"] == "out of memory (limit 900 MiB, all of it used)"
    assert {row["sandbox"] for row in rows.values()} == {"docker/runsc"}
    assert containers(engine) == []


def test_a_container_that_does_not_start_says_why(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{engine}:{os.environ['PATH']}")
    job = Job(*[tmp_path] * 4)
    with pytest.raises(StartError, match=r"the container did not start: .* No such image: other:1"):
        WorkerProcess(Docker("other:1").start, job, Limits(), slot=0)


def test_no_container_outlives_a_harness_that_is_killed(start: Any, engine: Path) -> None:
    with start("loops", time_limit=100) as run:
        wait_for(lambda: containers(engine) != [], "the container")
        os.kill(run.pid, signal.SIGKILL)
        wait_for(lambda: containers(engine) == [], "the container to be removed")


def test_containers_that_a_reaper_missed_are_removed_by_the_next_run(start: Any, engine: Path) -> None:
    with start("loops", time_limit=100) as run:
        wait_for(lambda: containers(engine) != [], "the container")
        (name,) = containers(engine)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=500)
    place, pid, started = name.split("-")[1:4]
    gone, foreign = f"pgdl-{place}-{pid}-{started}-00", f"pgdl-0123456789ab-{pid}-{started}-00"
    for leftover in (gone, foreign):
        (engine / leftover).write_text("999999999")
    with start("prints", time_limit=100) as run:
        run.communicate(timeout=500)
    assert containers(engine) == [foreign]


#: Memory of the group: enough for imports, and for a call that gets half of it.
SIZE = 1000 * MIB

#: Makes a call in the group, and prints what the harness takes for its memory with the result. The limit of the call
#: is larger than the group, and the harness does not look how full that is: the kernel ends the call.
PROGRAM = """
import json
from harness.machine_memory import usable_memory
from harness.processes.runtimes import QUICKEST, installed_runtime
from harness.sandbox import KINDS, Call, Clock, Limits, Staging, memory
from harness.sandbox.selftest import TRAPS, trial_job

memory.RESERVE = 0
hog = TRAPS[-1]
with Staging() as staging, KINDS["none"]() as kind:
    job = trial_job(staging, hog, runtime=installed_runtime(QUICKEST).name)
    kind.prepare([job])
    call = Call.prepare(kind.start, job, Limits(memory_bytes=1200 << 20), 0, stopping=lambda: False)
    result = call.run(0, Clock(200.0, "the time limit"))
print(json.dumps([usable_memory().total, Limits.default_memory_bytes(0), result.outcome, result.message]))
"""


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with little memory, below a group of this process; skip the test if none can be created."""
    for outer in machine_memory._groups():
        path = outer.path / f"pgdl-test-{secrets.token_hex(4)}"
        try:
            path.mkdir()
        except OSError:
            continue
        try:
            (path / outer.version.limit).write_text(str(SIZE))
            for swap in (path / "memory.memsw.limit_in_bytes", path / "memory.swap.max"):
                if swap.exists():
                    swap.write_text(str(SIZE if "memsw" in swap.name else 0))
            if enter(path, "/bin/true").returncode == 0:
                yield path
                return
        except OSError:
            pass
        finally:
            path.rmdir()
    pytest.skip("no control group with a memory limit can be made")


def enter(group: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in the control group."""
    entrance = ["/bin/sh", "-c", 'echo 0 > "$0" && exec "$@"', str(group / "cgroup.procs")]
    return subprocess.run([*entrance, *command], capture_output=True, text=True, timeout=240)


def test_the_group_sets_the_default_limit_and_its_kill_is_out_of_memory(group: Path) -> None:
    done = enter(group, sys.executable, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    total, default, outcome, message = json.loads(done.stdout)
    assert (total, default) == (SIZE, 512 * MIB)
    assert outcome == "MEMORY", message
    assert message.startswith("out of memory (limit 1200 MiB, used ")
    assert message.endswith("the kernel ended the worker when the control group's 1000 MiB were used up")
