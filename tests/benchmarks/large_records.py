"""Writes large databases, as at the end of a long competition: a board shows only a few of their records."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
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


_TABLES = (EVALUATIONS, REQUESTS)


def _copy_all(connection: Connection, configuration: Configuration, n_copies: int) -> int:
    last = {table: connection.execute(select(func.max(table.c.id))).scalar_one() for table in _TABLES}
    for n in range(n_copies):
        kind = KINDS[n % len(KINDS)]
        other = replace(configuration, harness_version=f"0.0.{n}")
        words = {"n": f"{n:08}", "name": other.harness_version, "id": other.id, "settings": other.to_json()}
        settings = {"settings": ":settings"} if kind is CONFIGURATION else {}
        _copy(connection, EVALUATIONS, last[EVALUATIONS], kind, words)
        _copy(connection, REQUESTS, last[REQUESTS], kind | settings, words)
    for table in _TABLES if n_copies else ():  # what counts comes last
        _copy(connection, table, last[table], {}, {})
        connection.execute(delete(table).where(table.c.id <= last[table]))
    return int(connection.execute(select(func.count()).select_from(EVALUATIONS)).scalar_one())


def _copy(connection: Connection, table: Table, last: int, changed: dict[str, str], words: dict[str, str]) -> None:
    names = [column.name for column in table.columns if column.name != "id"]
    values = [changed.get(name, name) for name in names]
    into = f"INSERT INTO {table.name} ({', '.join(names)})"
    query = text(f"{into} SELECT {', '.join(values)} FROM {table.name} WHERE id <= {last}")
    connection.execute(query, {name: word for name, word in words.items() if name in query._bindparams})
