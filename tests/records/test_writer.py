"""Tests of records that a run writes in groups: each is written once, even after faults of the database or the run."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy.engine import Connection

from harness.errors import UserError
from harness.records import Claims, Records, RecordWriter
from harness.records.connection import Database, DatabaseError
from harness.records.keys import insert_missing
from tests.records.evaluation_rows import NOW, evaluation
from tests.records.written_rows import kept_file, refusing, rows, values

ROOT = Path(__file__).parents[2]


def test_all_are_written_in_their_order_when_the_writer_ends(location):
    made = rows(250)
    with Records(location) as records, RecordWriter(records, None) as writer:
        for row in made:
            writer.add(row)
    assert writer.written() == [(row, True) for row in made]
    assert writer.written() == []
    assert values(location) == [row.value for row in made]


def test_the_first_record_is_written_at_once_and_later_ones_in_groups(location, monkeypatch):
    groups: list[int] = []

    def watched(connection, group, held):
        groups.append(len(group))
        return insert_missing(connection, group, held)

    monkeypatch.setattr("harness.records.writer.insert_missing", watched)
    monkeypatch.setattr("harness.records.writer.INTERVAL_S", 600.0)
    first, *others = rows(10)
    with Records(location) as records, RecordWriter(records, None) as writer:
        writer.add(first)
        while not values(location):
            pass
        for row in others:
            writer.add(row)
        writer.flush()
        assert groups == [1, 9]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_run_loses_no_finished_call(error, location):
    with Records(location) as records, pytest.raises(error), RecordWriter(records, None) as writer:  # noqa: PT012
        for row in rows(5):
            writer.add(row)
        raise error
    assert values(location) == [0.0, 1.0, 2.0, 3.0, 4.0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=12), st.sets(st.sampled_from("abcdef")))
def test_a_record_is_written_if_and_only_if_its_call_is_claimed(tmp_path_factory, calls, claimed):
    location = str(tmp_path_factory.mktemp("property") / "results.db")
    made = [
        evaluation(key=key, value=float(number), finished_at=NOW + timedelta(seconds=number))
        for number, (key, _) in enumerate(calls)
    ]
    with Records(location) as records, Claims(records) as claims:
        claims.take(claimed)
        with RecordWriter(records, claims) as writer:
            for row, (_, flush) in zip(made, calls, strict=True):
                writer.add(row)
                if flush:
                    writer.flush()
    assert writer.written() == [(row, row.key in claimed) for row in made]
    assert values(location) == [row.value for row in made if row.key in claimed]


@pytest.mark.rest
@pytest.mark.parametrize("location", ["postgresql"], indirect=True)  # a file has no server
def test_a_group_whose_answer_was_lost_is_not_written_twice(location, monkeypatch):
    """The server ends after it has committed the group, but before it answers."""
    lost = []
    original = Database.write

    def write(database: Database, work: Callable[[Connection], Any], hurry: threading.Event | None = None) -> Any:
        done = original(database, work, hurry)
        if not lost and threading.current_thread().name == "records":
            lost.append(done)
            raise DatabaseError(database.name, "the connection was lost")
        return done

    monkeypatch.setattr(Database, "write", write)
    said: list[str] = []
    with Records(location) as records, Claims(records) as claims:
        records.warn = said.append
        made = rows(4)
        claims.take([row.key for row in made])
        with RecordWriter(records, claims) as writer:
            for row in made:
                writer.add(row)
    assert lost
    assert writer.written() == [(row, True) for row in made]
    assert values(location) == [0.0, 1.0, 2.0, 3.0]
    assert [line.partition(": ")[2] for line in said] == [
        "the results database failed: the connection was lost; trying again for 10 minutes"
    ]


@pytest.mark.usefixtures("impatient", "cache")
def test_an_error_that_ends_a_run_is_told_once(location):
    said: list[str] = []
    first, *later = rows(3)
    with Records(location) as records, refusing(location):
        records.warn = said.append
        with pytest.raises(UserError, match="finished calls are kept in "), RecordWriter(records, None) as writer:  # noqa: PT012
            writer.add(first)
            try:
                writer.flush()
            finally:
                writer._waiting += later
    assert not any("finished calls are kept in " in line for line in said)


@pytest.mark.usefixtures("impatient")
def test_an_interrupted_run_names_the_file_too(location, cache):
    said: list[str] = []
    with Records(location) as records, refusing(location):
        records.warn = said.append
        with pytest.raises(KeyboardInterrupt), RecordWriter(records, None) as writer:  # noqa: PT012
            writer._waiting += rows(2)
            raise KeyboardInterrupt
    assert str(kept_file(cache)) in said[-1]
    assert values(str(kept_file(cache))) == [0.0, 1.0]


def test_an_error_of_the_program_loses_no_finished_call(location, cache, monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("harness.records.writer.insert_missing", broken)
    with Records(location) as records, pytest.raises(ZeroDivisionError), RecordWriter(records, None) as writer:
        writer.add(evaluation())
    monkeypatch.undo()
    assert values(str(kept_file(cache))) == [1.0]


@pytest.mark.usefixtures("impatient")
def test_records_that_can_be_kept_nowhere_are_an_error_that_says_so(location, tmp_path, monkeypatch):
    with Records(location) as records, refusing(location):
        lost = pytest.raises(UserError, match=r"; 1 finished call lost, because .*unwritten: cannot be created: ")
        with lost, RecordWriter(records, None) as writer:
            (tmp_path / "file").write_text("")
            monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "file"))
            writer.add(evaluation())


def test_an_interrupted_run_does_not_wait_for_a_lock_without_end(tmp_path, cache, monkeypatch):
    def interrupted(records, reader):
        with Claims(records) as claims, RecordWriter(records, claims) as writer:
            claims.take([evaluation().key])
            reader.execute("begin immediate")
            writer.add(evaluation())
            sleep(0.2)  # the heartbeat waits for the lock, too
            raise KeyboardInterrupt

    monkeypatch.setattr("harness.records.connection.BUSY_S", 0.05)
    monkeypatch.setattr("harness.records.claims.BEAT_S", 0.05)
    location = str(tmp_path / "results.db")
    with Records(location) as records, closing(sqlite3.connect(location)) as reader, pytest.raises(KeyboardInterrupt):
        interrupted(records, reader)
    assert values(str(kept_file(cache))) == [1.0]


def test_a_record_that_no_database_can_hold_is_an_error_that_says_so(location):
    refused = pytest.raises(UserError, match="1 finished call lost, because")
    with Records(location) as records, refused, RecordWriter(records, None) as writer:
        writer.add(evaluation(message="\ud800"))
        writer.flush()


LEAVES = """
import sys
from harness.records import Records, RecordWriter
from tests.records.evaluation_rows import evaluation

writer = RecordWriter(Records(sys.argv[1]), None).__enter__()
for number in range(5):
    writer.add(evaluation(model=f"model_{number}", value=float(number)))
"""


@pytest.mark.rest
def test_a_process_ends_and_loses_nothing_though_its_writer_was_not_left(location):
    """Ctrl-C at the wrong moment can skip the end of the writer's context."""
    subprocess.run([sys.executable, "-c", LEAVES, location], cwd=ROOT, check=True)
    assert values(location) == [0.0, 1.0, 2.0, 3.0, 4.0]
