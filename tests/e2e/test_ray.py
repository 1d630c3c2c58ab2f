"""Tests of calls on a real Ray cluster of one machine: values equal local values bit for bit, even after faults."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from real_runs import records, wait_for, write_submission

ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")
pytestmark = pytest.mark.usefixtures("sandbox")

ROOT = Path(__file__).parents[2]
SUM = "return float(sum((w ** 2).sum() for w in model.get_weights()))"
SLOW = "import time; time.sleep(1.0); return 1.0"


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    """The address of a cluster of one machine with two processors and an empty cache."""
    with socket.socket() as free, tempfile.TemporaryDirectory(prefix="pgdl-ray-") as directory:  # paths must be short
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [
            str(Path(sys.executable).with_name("ray")), "start", "--head", f"--port={port}", "--num-cpus=2", "--block",
            "--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats",
            f"--temp-dir={directory}", "--object-store-memory=100000000",
        ]  # fmt: skip
        own = {"PGDL_CACHE": f"{directory}/cache", "PYTHONPATH": str(ROOT), "RAY_TMPDIR": directory}
        own["RAY_worker_niceness"] = "0"  # by default 15: on a busy machine, no call would get processor time
        head = subprocess.Popen(
            command, env=environment | own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        for line in head.stdout or ():
            if "Ray runtime started" in line:
                break
        else:
            raise RuntimeError("the cluster does not start")
        yield f"127.0.0.1:{port}"
        children = psutil.Process(head.pid).children(recursive=True)
        for process in [psutil.Process(head.pid), *children]:
            kill(process.pid)
        head.wait()


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def rows_of(database: Path) -> list[tuple[Any, ...]]:
    columns = ("key", "submission", "model", "outcome", "value", "seed", "configuration")
    return sorted(tuple(row[name] for name in columns) for row in records(database))


def machines() -> list[psutil.Process]:
    return [one for one in psutil.process_iter() if one.name().startswith("ray::Machine")]


def test_values_are_those_of_a_local_run_and_no_machine_imports_from_the_current_directory(
    tmp_path, monkeypatch, four_models, pgdl, program, address
):
    (tmp_path / "stranger").mkdir()
    for name in ("numpy", "psutil", "yaml", "cloudpickle", "baselines", "sitecustomize"):
        (tmp_path / "stranger" / f"{name}.py").write_text(f"open({str(tmp_path / 'PROOF')!r}, 'w')")
    monkeypatch.chdir(tmp_path / "stranger")
    submission = write_submission(tmp_path, "squares", SUM)
    arguments = ["run", submission, "random", "--tasks", four_models, "--memory", "1G", "--results"]
    assert pgdl(*arguments, tmp_path / "local.db").returncode == 0
    done = program(*arguments, tmp_path / "ray.db", "--executor", "ray", "--ray-address", address)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stdout + done.stderr
    assert rows_of(tmp_path / "ray.db") == rows_of(tmp_path / "local.db")
    environment = records(tmp_path / "ray.db")[0]["environment"]
    assert (socket.gethostname() in environment, "machine_class" in environment) == (True, True)
    assert not (tmp_path / "PROOF").exists()


@pytest.mark.full
@pytest.mark.parametrize("victim", ["machine", "driver"])
def test_whoever_is_killed_the_same_command_goes_on(tmp_path, four_models, start, program, address, victim):
    submission, database = write_submission(tmp_path, "slow", SLOW), tmp_path / "r.db"
    arguments = ["run", submission, "--tasks", four_models, "--memory", "1G", "--results", database, "--workers", 1]
    arguments += ["--executor", "ray", "--ray-address", address]
    run = start(*arguments)
    wait_for(lambda: bool(records(database)), "a record")
    for process in machines() if victim == "machine" else [run]:
        kill(process.pid)
    if victim == "driver":
        run.wait()
        run = start(*arguments)
    output, _ = run.communicate(timeout=200)
    assert run.returncode == 0, output
    rows = records(database)
    assert len(rows) == len({row["key"] for row in rows}) == 4
    assert ("calls under way are made again" in output) == (victim == "machine")
    assert "(raylet)" not in output


@pytest.mark.full
def test_an_interrupt_ends_everything(tmp_path, four_models, start, address):
    submission, database = write_submission(tmp_path, "slow", SLOW), tmp_path / "r.db"
    run = start("run", submission, "--tasks", four_models, "--results", database, "--executor", "ray",
                "--ray-address", address)  # fmt: skip
    wait_for(lambda: bool(records(database)), "a record")
    run.send_signal(signal.SIGINT)
    run.wait(timeout=240)
    assert run.returncode == 130
    wait_for(lambda: not machines(), "the end of the machines")


@pytest.mark.rest
def test_an_address_where_nothing_is_and_what_is_no_address(tmp_path, four_models, program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nothing = f"127.0.0.1:{free.getsockname()[1]}"
    arguments = ["run", "random", "--tasks", four_models, "--executor", "ray", "--ray-address"]
    for address, said in (
        (nothing, f"no Ray cluster at {nothing}: Connection refused; start one with `ray start --head`, or name its"),
        *((odd, "--ray-address, or RAY_ADDRESS: expected HOST:PORT, or auto; write it as `ray")
          for odd in ("ray://127.0.0.1:10001", "somewhere", "me:S3C@canary@127.0.0.1:1")),
    ):  # fmt: skip
        done = program(*arguments, address, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n"), done.stderr.startswith(f"pgdl: {said}")) == (2, 1, True)
        assert "canary" not in done.stderr
