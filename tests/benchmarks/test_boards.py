"""Benchmark of boards: a large database costs little more than a small one with the same board."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks.large_records import write_records, write_tasks
from tests.records.servers import serving

#: Most seconds and MiB of a board of a thousand submissions on 96 models, with nothing in the cache.
MOST_S, MOST_MIB = 60.0, 1024.0


def cost(arguments: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Return a command's wall seconds, processor seconds, and peak memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "pgdl", *arguments], env=os.environ | environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Return a function that returns the location of a new database."""
    if request.param == "sqlite":
        yield lambda name: str(tmp_path / f"{name}.db")
    else:
        with serving() as server:
            yield server.new_database


def test_a_million_records_of_which_one_in_a_hundred_is_shown(
    tmp_path: Path, database: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, locations = write_tasks(tmp_path / "tasks"), [database(f"copies{n}") for n in (0, 100)]
    environment = {"PGDL_CACHE": str(tmp_path / "cache")}
    for location, n_copies in zip(locations, (0, 100), strict=True):
        start = time.perf_counter()
        n_rows = write_records(location, tasks, 104, n_copies)
        with capsys.disabled():
            print(f"\n{n_rows:,} rows written in {time.perf_counter() - start:.0f} s", end="")
    for command in (["board"], ["score", "submission_0007"]):
        options = ["--tasks", str(tmp_path / "tasks"), "--results"]
        cost([*command, *options, locations[0]], environment)  # fills the cache of chance
        small, large = (cost([*command, *options, location], environment)[1:] for location in locations)
        with capsys.disabled():
            print(f"\n{command[0]}: {small[0]:.1f} s, {small[1]:.0f} MiB; {large[0]:.1f} s, {large[1]:.0f} MiB")
        assert large[0] < 1.5 * small[0]
        assert large[1] < 1.5 * small[1]


def test_a_thousand_submissions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    location = str(tmp_path / "results.db")
    write_records(location, write_tasks(tmp_path / "tasks"), 1_000)
    arguments = ["board", "--tasks", str(tmp_path / "tasks"), "--results", location]
    seconds, processor_s, mib = cost(arguments, {"PGDL_CACHE": str(tmp_path / "cache")})
    with capsys.disabled():
        print(f"\n1,000 submissions: {seconds:.0f} s, {processor_s:.0f} s of processor, {mib:.0f} MiB")
    assert seconds < MOST_S
    assert mib < MOST_MIB
