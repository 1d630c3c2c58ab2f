"""Which of two runs at once makes a call."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from harness import place
from harness.records import Records
from tests.records.evaluation_rows import evaluation

ROOT = Path(__file__).parents[2]


@pytest.fixture
def location(tmp_path: Path) -> str:
    return str(tmp_path / "results.db")


def test_a_call_is_one_runs_alone_until_it_ends(location: str) -> None:
    with Records(location) as mine, Records(location) as theirs, mine.claims() as ours:
        assert ours.take(["a", "b"]) == {"a", "b"}
        with theirs.claims() as others:
            assert others.take(["b", "c"]) == {"c"}
            assert ours.take(["a", "b", "c"]) == {"a", "b"}
        assert ours.take(["c"]) == {"c"}


def test_many_calls_are_claimed_at_once(location: str) -> None:
    keys = [f"{number:064}" for number in range(2_000)]
    with Records(location) as records, records.claims() as one, records.claims() as other:
        assert one.take(keys[:1_500]) == set(keys[:1_500])
        assert other.take(keys) == set(keys[1_500:])


DIES = """
import os, sys
from harness.records import Records
from tests.records.evaluation_rows import evaluation

claims = Records(sys.argv[1]).claims()
claims.__enter__()
print(len(claims.take(["a", "b"])))
sys.stdout.flush()
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_run_had_claimed_is_free_at_once(location: str) -> None:
    died = subprocess.run([sys.executable, "-c", DIES, location], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert (died.returncode, died.stdout) == (-9, "2\n")
    with Records(location) as records, records.claims() as claims:
        assert claims.take(["a", "b"]) == {"a", "b"}


def test_who_has_lost_a_claim_records_nothing_and_can_claim_again(location: str) -> None:
    """As a machine that slept for longer than others wait for a sign of life."""
    first = evaluation()
    with Records(location) as records, records.claims() as claims:
        claims.take([first.key])
        assert claims.record(first)
        with create_engine(f"sqlite:///{location}").begin() as connection:  # another run takes this one for dead
            connection.execute(text("delete from claims"))
            connection.execute(text("delete from runs"))
        assert not claims.record(evaluation(value=2.0))
        assert [row.value for row in records.newest_of()] == [1.0]
        claims.take(["another"])
        with create_engine(f"sqlite:///{location}").begin() as connection:
            assert connection.execute(text("select count(*) from runs")).scalar() == 1, "its claims must not outlive it"


def test_a_run_waits_for_a_reader_however_long_it_reads(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a write-ahead log, whoever reads keeps everybody from writing."""
    monkeypatch.setattr("harness.records.connection.BUSY_S", 0.05)
    with Records(location) as records:
        reader = sqlite3.connect(location, check_same_thread=False)
        reader.execute("begin")
        reader.execute("select count(*) from evaluations").fetchall()
        said: list[str] = []

        def hear(line: str) -> None:
            said.append(line)
            reader.close()

        records.warn = hear
        records.add(evaluation())
        assert [row.value for row in records.newest_of()] == [1.0]
    assert [line.partition(" has been locked for ")[0] for line in said] == [location]


def add_remote_run(location: str, beats: int) -> None:
    """A run of another machine that has claimed `a`."""
    engine = create_engine(f"sqlite:///{location}")
    with engine.begin() as connection:
        connection.execute(text("delete from runs"))
        connection.execute(text("insert into runs values ('far', 'elsewhere', 1, '5', :beats)"), {"beats": beats})
        connection.execute(text("insert or ignore into claims values ('a', 'far')"))


def test_a_run_on_another_machine_lives_as_long_as_it_says_so(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("harness.records.claims.time.monotonic", lambda: now[0])
    with Records(location) as records, records.claims() as claims:
        add_remote_run(location, 1)
        assert claims.take(["a"]) == set()
        now[0] += 59
        assert claims.take(["a"]) == set()
        add_remote_run(location, 2)
        now[0] += 59
        assert claims.take(["a"]) == set()
        now[0] += 61
        assert claims.take(["a"]) == {"a"}


def test_a_process_is_told_from_a_later_one_with_its_number() -> None:
    assert place.own() == (place.place(), os.getpid(), place.started(os.getpid()))
    with subprocess.Popen(["sleep", "60"]) as later:  # the parent may be of the same hundredth of a second
        started = place.started(later.pid)
        later.kill()
    assert started not in ("", place.started(os.getpid()))
    assert place.started(2**22 + 1) == ""
