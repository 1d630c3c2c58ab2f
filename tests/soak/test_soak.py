"""2,000 calls in a row, a third of them attacks; and a harness that is killed 50 times. Takes half an hour.

Run by `make soak`; prints the figures that it checks.
"""

import itertools
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from e2e.real_runs import PGDL, records, wait_for
from redteam.attack_suite import ATTACKS
from throwaway import make_task

#: Attacks that end soon, of every kind that could leave something behind.
CHOSEN = (
    "c_stops_itself", "d_fork_bomb", "d_zombies", "e_breeding_daemons", "e_daemon", "e_daemon_then_exit", "f_children",
    "f_lists", "f_orphan", "f_sockets", "g_deep_directories", "g_descriptors", "g_fill_scratch", "g_inode_flood",
    "h_closed_streams", "h_flood", "i_error_of_megabytes", "j_kills_all", "j_segfault", "j_stack_overflow",
    "k_closes_channel", "k_endless_frame", "k_half_frame", "k_passes_descriptors", "l_patches_worker",
    "m_other_processes", "n_socket_families", "q_writes_to_job", "t_namespaces", "t_32_bit_calls",
)  # fmt: skip
CALLS, MODELS, KILLS = 2000, 8, 50
HONEST = """
def complexity(model, dataset):
    images, labels = next(iter(dataset.batch(16)))
    return float(sum((w ** 2).sum() for w in model.get_weights())) + float(model(images).numpy().sum()) + {number}
"""

pytestmark = pytest.mark.timeout(7200)


@pytest.fixture
def competition(tmp_path) -> Path:
    make_task(tmp_path / "competition")
    return tmp_path / "competition"


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """The user's environment, with a cache whose path identifies the processes of the run."""
    return dict(os.environ) | {"PGDL_CACHE": str(tmp_path / "cache")}


def start(environment, *arguments) -> subprocess.Popen[bytes]:
    command = [*PGDL, "run", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)


def state(harness: psutil.Process, cache: Path) -> dict[str, int]:
    """Return quantities that a leak would increase."""
    return {
        "descriptors": harness.num_fds(),
        "threads": harness.num_threads(),
        "resident KiB": harness.memory_info().rss // 1024,
        "processes below": len(harness.children(recursive=True)),
        "mounts": len(Path(f"/proc/{harness.pid}/mountinfo").read_text().splitlines()),
        "staged": sum(1 for _ in (cache / "staged").glob("*/*")),
        "machine's processes": len(psutil.pids()),
    }


def test_nothing_leaks_in_2000_calls(tmp_path, competition, environment, capsys):
    submissions = [tmp_path / f"s{number}.py" for number in range(CALLS // MODELS)]
    attacks = itertools.cycle(CHOSEN)
    for number, path in enumerate(submissions):
        source = ATTACKS[next(attacks)].source if number % 3 == 0 else HONEST.format(number=number)
        path.write_text(f"{source}\n# {number}\n")
    database, cache = tmp_path / "results.db", tmp_path / "cache"
    before, started, worst = len(psutil.pids()), time.monotonic(), 0
    options = ("--tasks", competition, "--results", database, "--time-limit", 2, "--memory", "900M")
    run = start(environment, *submissions, *options)
    harness, seen = psutil.Process(run.pid), []
    while run.poll() is None:
        done = len(records(database))
        if done >= 100 * (len(seen) + 1):
            seen.append(state(harness, cache) | {"calls": done, "seconds": int(time.monotonic() - started)})
            with capsys.disabled():
                print(seen[-1], flush=True)
        time.sleep(1)
    rows = records(database)
    overhead = sorted(row["startup_wall_s"] + row["load_wall_s"] for row in rows)
    worst = max(row["call_wall_s"] for row in rows)
    with capsys.disabled():
        print(f"{len(rows)} calls in {time.monotonic() - started:.0f} s; median start and load {overhead[1000]:.3f} s")
        print(f"longest call {worst:.2f} s (limit 2 s); processes before {before}, after {len(psutil.pids())}")
    assert run.returncode == 1, "attacks fail"
    assert len(rows) == len({row["key"] for row in rows}) == CALLS
    assert not [row for row in rows if row["outcome"] == "INFRA_ERROR"]
    grown = {name: seen[-2][name] - number for name, number in seen[1].items()}
    assert grown["descriptors"] <= 8, "a call that is under way holds a few"
    assert grown["threads"] <= 2, "a call under the clock has one of its own"
    assert grown["mounts"] == 0
    assert grown["resident KiB"] < 40 * 1024, "buffers of output that is flooded, not records"
    assert not list((cache / "staged").iterdir())
    wait_for(lambda: len(psutil.pids()) <= before + 5, "the machine to have no more processes than before")


def outcomes(rows: list[dict[str, Any]]) -> dict[str, tuple[str, float]]:
    return {row["key"]: (row["outcome"], row["value"]) for row in rows}


def test_a_run_that_is_killed_50_times_ends_with_the_same_records(tmp_path, competition, environment, capsys):
    submissions = [tmp_path / f"s{number}.py" for number in range(60)]
    for number, path in enumerate(submissions):
        fails = "def complexity(m, d):\n    raise ValueError\n"
        path.write_text(HONEST.format(number=number) if number % 10 else fails)
    options = ("--tasks", competition, "--results")
    start(environment, *submissions, *options, tmp_path / "undisturbed.db").wait()
    expected, seconds, progress, kills = records(tmp_path / "undisturbed.db"), random.Random(0), [], 0
    database = tmp_path / "killed-0.db"
    while kills < KILLS:
        run = start(environment, *submissions, *options, database)
        try:
            run.wait(seconds.uniform(0.2, 8))
        except subprocess.TimeoutExpired:
            kills += 1
            run.send_signal(signal.SIGKILL)
            run.wait()
            progress.append(len(records(database)))
        else:
            assert outcomes(records(database)) == outcomes(expected)
            database = tmp_path / f"killed-{kills}.db"
    assert start(environment, *submissions, *options, database).wait() == 1
    found = records(database)
    with capsys.disabled():
        print(f"records after each of {kills} kills: {progress}; at the end {len(found)} of {len(expected)}")
    assert outcomes(found) == outcomes(expected)
    assert len(found) == len(expected) == len(submissions) * MODELS
    assert not list((tmp_path / "cache" / "staged").iterdir())
    wait_for(lambda: not left(tmp_path / "cache"), "the last process to end")


def left(cache: Path) -> list[psutil.Process]:
    """Return the processes that have the cache's path as an argument."""
    return [p for p in psutil.process_iter(["cmdline"]) if any(str(cache) in word for word in p.info["cmdline"] or [])]
