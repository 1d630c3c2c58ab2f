"""Tests of hostile submissions in real sandboxes: none succeeds, and none leaves anything behind.

attack_suite.py explains the files of attacks.

PGDL_REDTEAM=full runs all attacks in every installed runtime, with the sandboxes `fast`, `fresh` and `landlock`.
PGDL_REDTEAM="NAME NAME" runs the named attacks. Otherwise, a few attacks run in the default runtime.
PGDL_REDTEAM_ON=docker runs them in containers instead of these sandboxes.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from attack_suite import ATTACKS, MEMORY, SHORT, Attack, by_time_limit, prepared
from e2e.real_runs import PGDL, records, wait_for

from harness.sandbox import KINDS
from harness.worker.runtimes import DEFAULT, RUNTIMES

CHOSEN = os.environ.get("PGDL_REDTEAM", "").split()
FULL = CHOSEN == ["full"]
STARTS = os.environ.get("PGDL_REDTEAM_ON", "").split() or (["fast", "fresh", "landlock"] if CHOSEN else ["fast"])
MODES = [(start, name) for start in STARTS for name in RUNTIMES if CHOSEN or name == DEFAULT]

pytestmark = pytest.mark.timeout(1800)


def chosen(runtime: str) -> list[Attack]:
    """Return the attacks and controls that run in a runtime."""
    fitting = [attack for attack in ATTACKS.values() if attack.runtime in (None, RUNTIMES[runtime].framework)]
    if CHOSEN:
        return [attack for attack in fitting if FULL or attack.name in CHOSEN]
    return [attack for attack in fitting if attack.name in SHORT or attack.is_control]


@pytest.fixture
def mode(request) -> tuple[str, str]:
    """The kind of sandbox, and the runtime."""
    start, runtime = request.param
    if missing := RUNTIMES[runtime].missing():
        pytest.skip(f"runtime {runtime}: not installed: {', '.join(missing)}")
    problem = KINDS[start]().problem()
    if problem is not None:
        pytest.skip(f"no sandbox here: {problem}")
    return start, runtime


#: Submission name -> record.
Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, str], Rows]:
    """Mode -> records of the runs so far."""
    return {}


@pytest.fixture
def rows(mode, runs, tmp_path_factory, target, token, surroundings, beacon) -> Rows:
    """The records of a mode; for the first test of a mode, all of its attacks run."""
    if mode not in runs:
        directory = tmp_path_factory.mktemp("-".join(mode))
        runs[mode] = run_all(*mode, directory, target, token, surroundings)
    return runs[mode]


def run_all(start: str, runtime: str, directory: Path, target: Path, token: str, surroundings: dict[str, str]) -> Rows:
    """Run all attacks of a runtime; return their records."""
    for limit, attacks in by_time_limit(chosen(runtime)):
        submissions = prepared(attacks, directory, target, surroundings["PGDL_CACHE"], token)
        command = [
            *PGDL, "run", *submissions, "--tasks", target, "--results", directory / "results.db",
            "--time-limit", limit, "--memory", MEMORY, "--sandbox", start, "--runtime", runtime,
            "--workers", 1,  # a fork bomb would slow down a concurrent attack
        ]  # fmt: skip
        arguments, pipe = [*map(str, command)], subprocess.PIPE
        with subprocess.Popen(arguments, env=surroundings, stdout=pipe, stderr=subprocess.STDOUT, text=True) as run:
            wait_for(lambda: bool(processes_of(token)), "the first sandbox")  # to find its processes
            output, _ = run.communicate()
        assert run.returncode in (0, 1), output
        assert "Traceback (most" not in output, output
        assert "\x1b]" not in output
    return {row["submission"]: row for row in records(directory / "results.db")}


each_mode = pytest.mark.parametrize("mode", MODES, indirect=True, ids="-".join)


@pytest.mark.parametrize(
    ("mode", "attack"),
    [pytest.param(mode, attack, id=f"{'-'.join(mode)}-{attack.name}") for mode in MODES for attack in chosen(mode[1])],
    indirect=["mode"],
)
def test_attack(request, mode, rows, attack):
    if (reason := attack.breach_in(mode[0])) is not None:
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    for called in attack.calls:
        attack.require(rows[called], mode[0])


@each_mode
def test_everything_has_one_record(mode, rows):
    assert set(rows) == {called for attack in chosen(mode[1]) for called in attack.calls}


@each_mode
def test_the_time_limit_binds(mode, rows):
    late = {name: row["call_wall_s"] for name, row in rows.items() if row["call_wall_s"] > row["time_limit_s"] + 0.5}
    assert not late


@each_mode
def test_what_is_stored_is_short_and_printable(mode, rows):
    for row in rows.values():
        assert len(row["message"]) <= 600
        assert len(row["output_tail"]) <= 16_000
        assert all(c.isprintable() or c in "\n\t" for c in row["message"] + row["output_tail"])


@each_mode
def test_no_process_is_left(mode, rows, token):
    wait_for(lambda: not processes_of(token), "the last process to end")


@each_mode
def test_nothing_staged_is_left(mode, rows, surroundings):
    assert not list(Path(surroundings["PGDL_CACHE"], "staged").iterdir())


def processes_of(token: str) -> list[psutil.Process]:
    """Return the processes with the token in a mount, an argument or their working directory.

    Workers mount the cache or work in it; zygotes have its path as an argument.
    """
    found = []
    for process in psutil.process_iter():
        try:
            mounts = Path(f"/proc/{process.pid}/mountinfo").read_text()
            if any(token in word for word in (mounts, process.cwd(), *process.cmdline())):
                found.append(process)
        except (OSError, psutil.Error):
            continue
    return found
