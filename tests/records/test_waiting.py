"""How long a write waits before it says so, and how often."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.engine import Connection

from harness.records import connection
from harness.records.evaluation import REQUESTS
from harness.records.store import Records
from harness.records.tables import columns_of
from tests.records.evaluation_rows import evaluation, request


def test_sqlite_waits_as_long_as_the_warning_says(tmp_path: Path) -> None:
    with Records(str(tmp_path / "results.db")) as records, records.engine.connect() as opened:
        assert opened.exec_driver_sql("PRAGMA busy_timeout").scalar() == 1000 * connection.BUSY_S


def test_the_threads_of_a_run_say_once_that_they_wait_for_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.records.connection.BUSY_S", 0.05)
    location, said = str(tmp_path / "results.db"), list[str]()
    with Records(location) as records, closing(sqlite3.connect(location)) as other, ThreadPoolExecutor(3) as pool:
        records.warn = said.append
        for times in (1, 2):
            tries = [0, 0, 0]

            def work(number: int, tries: list[int] = tries) -> Callable[[Connection], None]:
                def write(connection: Connection) -> None:
                    tries[number] += 1
                    connection.execute(insert(REQUESTS), columns_of(request(evaluation())))

                return write

            other.execute("begin immediate")
            waiting = [pool.submit(records.write, work(number)) for number in range(3)]
            while min(tries) < 3 and not any(one.done() for one in waiting):
                pass
            other.rollback()
            for one in waiting:
                one.result()
            assert len(said) == times
