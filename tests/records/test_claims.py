"""Tests of concurrent runs: only one of them makes a call, and a run says how long it waits for a lock."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings
from sqlalchemy import insert
from sqlalchemy.engine import Connection

from harness import process_identity
from harness.records import Claims, Records, RecordWriter, connection
from harness.records.evaluation import REQUESTS
from harness.records.tables import columns_of
from tests.records.evaluation_rows import evaluation, request
from tests.records.statements import execute

ROOT = Path(__file__).parents[2]


def test_a_call_is_one_runs_alone_until_it_ends(location):
    keys = [f"{number:064}" for number in range(2_000)]
    with Records(location) as mine, Records(location) as theirs, Claims(mine) as ours:
        assert ours.take(keys[:1_500]) == set(keys[:1_500])
        with Claims(theirs) as others:
            assert others.take(keys) == set(keys[1_500:])
            assert ours.take(keys) == set(keys[:1_500])
        assert ours.take(keys[-1:]) == set(keys[-1:])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(st.lists(st.tuples(st.booleans(), st.sets(st.sampled_from("abcdef"))), max_size=20))
def test_a_call_is_claimed_by_the_first_that_takes_it(tmp_path_factory, steps):
    owner: dict[str, bool] = {}
    location = str(tmp_path_factory.mktemp("property") / "results.db")
    with Records(location) as records, Claims(records) as one, Claims(records) as other:
        for who, keys in steps:
            owner = dict.fromkeys(keys, who) | owner
            assert (other if who else one).take(keys) == {key for key in keys if owner[key] == who}


DIES = """
import os, sys
from harness.records import Claims, Evaluation, Records, RecordWriter
from tests.records.evaluation_rows import evaluation

claims = Claims(Records(sys.argv[1]))
claims.__enter__()
print(len(claims.take(["a", "b"])))
sys.stdout.flush()
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_run_had_claimed_is_free_at_once(location):
    died = subprocess.run([sys.executable, "-c", DIES, location], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert (died.returncode, died.stdout) == (-9, "2\n")
    with Records(location) as records, Claims(records) as claims:
        assert claims.take(["a", "b"]) == {"a", "b"}


def test_what_a_run_could_not_release_is_free_for_the_next_run_of_its_process(location):
    """In a notebook, the process goes on after the database has failed."""
    with Records(location) as records:
        with Claims(records) as first:
            first.take(["a", "b"])
            execute(location, "alter table runs rename to away")
        execute(location, "alter table away rename to runs")
        with Claims(records) as second, Claims(records) as third:
            assert second.take(["a"]) == {"a"}
            assert third.take(["a", "b"]) == {"b"}


def test_who_has_lost_a_claim_records_nothing_and_can_claim_again(location):
    """The machine of the first run slept for longer than other runs wait for a sign of life."""
    first, later = evaluation(), evaluation(value=2.0, finished_at=datetime(2026, 1, 2, tzinfo=UTC))
    with Records(location) as records, Claims(records) as claims, RecordWriter(records, claims) as writer:
        claims.take([first.key])
        for row, is_written in ((first, True), (later, False)):
            writer.add(row)
            writer.flush()
            assert writer.written() == [(row, is_written)]
            theirs = f"insert into claims values ('{first.key}', 'another run')"  # as if this run were dead
            execute(location, "delete from claims", "delete from runs", theirs)
        assert [row.value for row in records.newest_of()] == [1.0]
        claims.take(["another"])
        assert execute(location, "select count(*) from runs") == [(1,)], "its claims must not outlive it"


def add_remote_run(location: str, beats: int) -> None:
    """Add a run on another machine; the run has claimed the call `a`."""
    execute(
        location, "delete from runs where id = 'far'", "insert into runs values ('far', 'elsewhere', 1, '5', :beats)",
        "insert into claims values ('a', 'far') on conflict do nothing", beats=beats,
    )  # fmt: skip


def test_a_run_on_another_machine_lives_as_long_as_it_says_so_or_cannot_say_it(location, monkeypatch):
    """While the database is away, a run on another machine can give no sign of life."""
    now = [1000.0]
    monkeypatch.setattr("harness.records.claims.time.monotonic", lambda: now[0])
    monkeypatch.setattr("harness.records.claims.BEAT_S", 0.01)
    with Records(location) as records, Claims(records) as claims:

        def is_free_after(seconds: float) -> bool:
            now[0] += seconds
            return claims.take(["a"]) == {"a"}

        add_remote_run(location, 1)
        assert not is_free_after(0)
        assert not is_free_after(59)
        add_remote_run(location, 2)
        assert not is_free_after(59)
        execute(location, "alter table runs rename to away")
        while claims._pulses:
            pass
        now[0] += 100
        execute(location, "alter table away rename to runs")
        assert not is_free_after(0)
        assert is_free_after(61)


def test_a_process_is_told_from_a_later_one_with_its_number():
    assert process_identity.own_identity() == (
        process_identity.process_scope(),
        os.getpid(),
        process_identity.start_time(os.getpid()),
    )
    with subprocess.Popen(["sleep", "60"]) as later:  # the parent may be of the same hundredth of a second
        started = process_identity.start_time(later.pid)
        later.kill()
    assert started not in ("", process_identity.start_time(os.getpid()))
    assert process_identity.start_time(2**22 + 1) == ""


def test_the_threads_of_a_run_wait_for_a_lock_however_long_and_say_so_once(tmp_path, monkeypatch):
    """Without a write-ahead log, a reader keeps everybody from writing."""
    location, said = str(tmp_path / "results.db"), list[str]()
    with Records(location) as records, records.engine.connect() as opened:
        assert opened.exec_driver_sql("PRAGMA busy_timeout").scalar() == 1000 * connection.BUSY_S
    monkeypatch.setattr("harness.records.connection.BUSY_S", 0.05)
    with Records(location) as records, closing(sqlite3.connect(location)) as other, ThreadPoolExecutor(3) as pool:
        records.warn = said.append
        for times, lock in enumerate((("begin immediate",), ("begin", "select count(*) from requests")), start=1):
            tries = [0, 0, 0]

            def work(number: int, tries: list[int] = tries) -> Callable[[Connection], None]:
                def write(connection: Connection) -> None:
                    tries[number] += 1
                    connection.execute(insert(REQUESTS), columns_of(request(evaluation())))

                return write

            for statement in lock:
                other.execute(statement).fetchall()
            waiting = [pool.submit(records.write, work(number)) for number in range(3)]
            while min(tries) < 3 and not any(one.done() for one in waiting):
                pass
            other.rollback()
            for one in waiting:
                one.result()
            assert [line.partition(" has been locked for ")[0] for line in said] == [location] * times
