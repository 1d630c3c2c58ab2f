"""Benchmark of boards: a database as at the end of a long competition costs little more than a small one."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Table, delete, func, select, text
from sqlalchemy.engine import Connection

from harness.board.versions import configuration_of
from harness.configuration import Configuration
from harness.credentials import Address
from harness.records import EVALUATIONS, Records
from harness.records.connection import Database
from harness.records.evaluation import REQUESTS
from tests.board.board_examples import rows, write_reference
from tests.records.evaluation_rows import request
from tests.records.servers import serving

#: Most seconds and MiB of a board of a thousand submissions on 96 models, with nothing in the cache.
MOST_S, MOST_MIB = 60.0, 1024.0


SIZES = (4, 4, 3, 2)  #: of the grid: 96 models

#: Each kind of row that counts no more, and how its columns differ: `:n` is the number of the copy, in eight digits.
_OTHER_KEY = {"key": "substr(key, 1, 56) || :n"}
VERSION = {"submission_digest": "'old' || :n"} | _OTHER_KEY
CONFIGURATION = {"harness_version": ":name", "configuration": ":id"} | _OTHER_KEY
FORCED = {"key": "key"}
KINDS = (VERSION, CONFIGURATION, VERSION, FORCED)


def write_tasks(directory: Path, n_tasks: int = 1, sizes: Sequence[int] = SIZES) -> list[str]:
    """Write reference data of tasks whose grids have these sizes, and return the tasks' names."""
    names = [f"task{number}" for number in range(1, n_tasks + 1)]
    for number, name in enumerate(names):
        gaps = np.random.default_rng(number).uniform(0, 0.5, prod(sizes)).tolist()
        write_reference(directory, name, gaps, sizes)
    return names


def write_records(
    location: str, tasks: list[str], n_submissions: int, n_copies: int = 0, sizes: Sequence[int] = SIZES
) -> int:
    """Write a record of each submission on each model, after `n_copies` outdated records; return the number of rows.

    Outdated records are of earlier versions or libraries, or of calls that were repeated.
    """
    random = np.random.default_rng(0)
    models = [f"model_{number}" for number in range(prod(sizes))]
    with Records(location) as records:
        for submission in range(n_submissions):
            for task in tasks:
                values = dict(zip(models, random.normal(size=len(models)).tolist(), strict=True))
                made = rows(f"submission_{submission:04}", values, task, submission_digest=f"{submission:064x}")
                records.add(*made)
                records.ask([request(made[0], source=f"/home/submission_{submission}")])
        configuration = configuration_of(next(records.newest_of(EVALUATIONS.c.submission == "submission_0000")))
    engine = Database(Address.of(location, "a benchmark")).engine
    with engine.begin() as connection:
        n_rows = _copy_all(connection, configuration, n_copies)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))  # as servers do by themselves
    engine.dispose()
    return n_rows


def _copy_all(connection: Connection, configuration: Configuration, n_copies: int) -> int:
    last = {table: connection.execute(select(func.max(table.c.id))).scalar_one() for table in (EVALUATIONS, REQUESTS)}
    for n in range(n_copies):
        kind = KINDS[n % len(KINDS)]
        other = replace(configuration, harness_version=f"0.0.{n}")
        words = {"n": f"{n:08}", "name": other.harness_version, "id": other.id, "settings": other.to_json()}
        settings = {"settings": ":settings"} if kind is CONFIGURATION else {}
        _copy(connection, EVALUATIONS, last[EVALUATIONS], kind, words)
        _copy(connection, REQUESTS, last[REQUESTS], kind | settings, words)
    for table in last if n_copies else ():  # what counts comes last
        _copy(connection, table, last[table], {}, {})
        connection.execute(delete(table).where(table.c.id <= last[table]))
    return int(connection.execute(select(func.count()).select_from(EVALUATIONS)).scalar_one())


def _copy(connection: Connection, table: Table, last: int, changed: dict[str, str], words: dict[str, str]) -> None:
    names = [column.name for column in table.columns if column.name != "id"]
    values = [changed.get(name, name) for name in names]
    into = f"INSERT INTO {table.name} ({', '.join(names)})"
    query = text(f"{into} SELECT {', '.join(values)} FROM {table.name} WHERE id <= {last}")
    connection.execute(query, {name: word for name, word in words.items() if name in query._bindparams})


def cost(arguments: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "pgdl", *arguments], env=os.environ | environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    if request.param == "sqlite":
        yield lambda name: str(tmp_path / f"{name}.db")
    else:
        with serving() as server:
            yield server.new_database


def test_a_million_records_of_which_one_in_a_hundred_is_shown(
    tmp_path: Path, database: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, locations = write_tasks(tmp_path / "tasks"), {n: database(f"copies{n}") for n in (0, 100)}
    environment = {"PGDL_CACHE": str(tmp_path / "cache")}
    for n_copies, location in locations.items():
        start = time.perf_counter()
        n_rows = write_records(location, tasks, 104, n_copies)
        with capsys.disabled():
            print(f"\n{n_rows:,} rows written in {time.perf_counter() - start:.0f} s", end="")
    for command in (["board"], ["score", "submission_0007"]):
        options = ["--tasks", str(tmp_path / "tasks"), "--results"]
        cost([*command, *options, locations[0]], environment)  # fills the cache of chance
        small, large = (cost([*command, *options, location], environment)[1:] for location in locations.values())
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
