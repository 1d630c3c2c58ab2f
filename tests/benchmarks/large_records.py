"""Writes large databases of records, most of which a board does not show: as old as competitions become."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np

from harness.board.collect import configuration_of
from harness.records import Evaluation, Records, Request
from tests.board.board_examples import rows, write_reference
from tests.records.evaluation_rows import request

SIZES = (4, 4, 3, 2)  #: of the grid: 96 models

#: Each kind of row that counts no more, and how its columns differ: `:n` is the number of the copy.
VERSION = {"submission_digest": "'old' || :n", "key": "substr(key, 1, 56) || printf('%08d', :n)"}
CONFIGURATION = {"harness_version": ":name", "configuration": ":id", "key": "substr(key, 1, 56) || printf('%08d', :n)"}
FORCED = {"key": "key"}
KINDS = (VERSION, CONFIGURATION, VERSION, FORCED)


def write_tasks(directory: Path, n_tasks: int = 1) -> list[str]:
    """Write the reference data of some tasks of 96 models; returns their names."""
    names = [f"task{number}" for number in range(1, n_tasks + 1)]
    for number, name in enumerate(names):
        gaps = np.random.default_rng(number).uniform(0, 0.5, prod(SIZES)).tolist()
        write_reference(directory, name, gaps, SIZES)
    return names


def write_records(file: Path, tasks: list[str], n_submissions: int, n_copies: int = 0) -> int:
    """Write records of every submission on every model, after `n_copies` others of each; returns the number of rows.

    The others are of earlier versions or libraries, or of calls that were made again.
    """
    random = np.random.default_rng(0)
    models = [f"model_{number}" for number in range(prod(SIZES))]
    with Records(str(file)) as records:
        for submission in range(n_submissions):
            for task in tasks:
                values = dict(zip(models, random.normal(size=len(models)).tolist(), strict=True))
                made = rows(f"submission_{submission:04}", values, task, submission_digest=f"{submission:064x}")
                records.add(*made)
                records.ask([request(made[0], source=f"/home/submission_{submission}")])
    with closing(sqlite3.connect(file)) as connection, connection:
        n_rows, n_requests = (connection.execute(f"SELECT max(id) FROM {t}").fetchone()[0] for t in _TABLES)
        with Records(str(file), read_only=True) as records:
            configuration = configuration_of(next(records.newest_of(Evaluation.id == 1)))
        for n in range(n_copies):
            kind = KINDS[n % len(KINDS)]
            other = replace(configuration, harness_version=f"0.0.{n}")
            words = {"n": n, "name": other.harness_version, "id": other.id, "settings": other.to_json()}
            _copy(connection, Evaluation, n_rows, kind, words)
            settings = {"settings": ":settings"} if kind is CONFIGURATION else {}
            _copy(connection, Request, n_requests, kind | settings, words)
        if n_copies:
            for table, last in ((Evaluation, n_rows), (Request, n_requests)):  # what counts comes last
                _copy(connection, table, last, {}, {})
                connection.execute(f"DELETE FROM {table.__tablename__} WHERE id <= {last}")
        return int(connection.execute("SELECT count(*) FROM evaluations").fetchone()[0])


_TABLES = (Evaluation.__tablename__, Request.__tablename__)


def _copy(
    connection: sqlite3.Connection, table: type[Evaluation | Request], last: int, changed: dict[str, str],
    words: dict[str, object],
) -> None:  # fmt: skip
    names = [column.name for column in table.__table__.columns if column.name != "id"]
    values = [changed.get(name, name) for name in names]
    into = f"INSERT INTO {table.__tablename__} ({', '.join(names)})"
    connection.execute(f"{into} SELECT {', '.join(values)} FROM {table.__tablename__} WHERE id <= {last}", words)
