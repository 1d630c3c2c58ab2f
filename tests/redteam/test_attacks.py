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
from attack_suite import ATTACKS, ENDLESS_S, LONG_S, MEMORY, SHORT, Attack, prepared
from e2e.real_runs import PGDL, records, wait_for
from matrix import rest

from harness.sandbox import KINDS
from harness.worker.runtimes import DEFAULT, RUNTIMES

CHOSEN = os.environ.get("PGDL_REDTEAM", "").split()
STARTS = os.environ.get("PGDL_REDTEAM_ON", "").split() or (["fast", "fresh", "landlock"] if CHOSEN else ["fast"])

#: Kind of sandbox, runtime and time limit in seconds: a run's command has a single limit.
Mode = tuple[str, str, int]
#: Submission name -> record.
Rows = dict[str, dict[str, Any]]

pytestmark = pytest.mark.timeout(1800)


def chosen(mode: Mode) -> list[Attack]:
    """Return the attacks and controls that run in a mode."""
    _, runtime, limit = mode
    fitting = [attack for attack in ATTACKS.values() if attack.runtime in (None, RUNTIMES[runtime].framework)]
    names = CHOSEN or [attack.name for attack in fitting if attack.name in SHORT or attack.is_control]
    return [one for one in fitting if one.time_limit_s == limit and (names == ["full"] or one.name in names)]


MODES = [
    mode
    for mode in ((start, name, limit) for start in STARTS for name in RUNTIMES for limit in (ENDLESS_S, LONG_S))
    if (CHOSEN or mode[1] == DEFAULT) and chosen(mode)
]


def name_of(value: Mode | Attack) -> str:
    return value.name if isinstance(value, Attack) else "-".join(map(str, value))


def of(mode: Mode, *values: object) -> Any:
    """Return a test case of a mode. `make test` leaves endless attacks to `make test-rest`."""
    return rest(mode, *values) if mode[2] == ENDLESS_S and not CHOSEN else pytest.param(mode, *values)


@pytest.fixture(scope="module")
def runs() -> dict[Mode, Rows]:
    """Mode -> records of the runs so far."""
    return {}


@pytest.fixture
def rows(mode: Mode, runs, tmp_path_factory, target, token, surroundings, beacon) -> Rows:
    """The records of a mode; for the first test of a mode, all of its attacks run."""
    start, runtime, limit = mode
    if missing := RUNTIMES[runtime].missing():
        pytest.skip(f"runtime {runtime}: not installed: {', '.join(missing)}")
    if (problem := KINDS[start]().problem()) is not None:
        pytest.skip(f"no sandbox here: {problem}")
    if mode not in runs:
        directory = tmp_path_factory.mktemp("attacks")
        submissions = prepared(chosen(mode), directory, target, surroundings["PGDL_CACHE"], token)
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
        runs[mode] = {row["submission"]: row for row in records(directory / "results.db")}
    return runs[mode]


@pytest.mark.parametrize(
    ("mode", "attack"), [of(mode, attack) for mode in MODES for attack in chosen(mode)], ids=name_of
)
def test_attack(request, mode, rows, attack):
    if (reason := attack.breach_in(mode[0])) is not None:
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    for called in attack.calls:
        attack.require(rows[called], mode[0])


@pytest.mark.parametrize("mode", [of(mode) for mode in MODES], ids=name_of)
def test_every_attack_has_one_short_record_and_nothing_is_left(mode, rows, token, surroundings):
    assert set(rows) == {called for attack in chosen(mode) for called in attack.calls}
    late = {name: row["call_wall_s"] for name, row in rows.items() if row["call_wall_s"] > row["time_limit_s"] + 0.5}
    assert not late, "the time limit binds"
    for row in rows.values():
        assert len(row["message"]) <= 600
        assert len(row["output_tail"]) <= 16_000
        assert all(c.isprintable() or c in "\n\t" for c in row["message"] + row["output_tail"])
    wait_for(lambda: not processes_of(token), "the last process to end")
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
