"""Benchmark of records on SQLite and PostgreSQL: in groups or one per transaction, and claims of many calls."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stopwatch import seconds

from harness.records import Claims, Evaluation, Records, RecordWriter
from tests.records.evaluation_rows import evaluation
from tests.records.servers import Server, serving

#: Records that are written, and claims that are made in windows.
ROWS, CLAIMS, WINDOW = 2_000, 100_000, 4_000

#: Records per second that hundreds of lanes may end.
TARGET = 500


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(fsync=True) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def records(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Records]:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    server = None if request.param == "sqlite" else request.getfixturevalue("server")
    location = str(tmp_path / "results.db") if server is None else server.new_database(tmp_path.name.lower())
    with Records(location) as records:
        yield records


def cost(work: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def test_records_in_groups(records: Records) -> None:
    alone, grouped = (
        [evaluation(model=f"{prefix}{number}", output_tail="x" * 1_000) for number in range(ROWS)]
        for prefix in ("alone", "grouped")
    )
    with Claims(records) as claims:
        claims.take([row.key for row in alone + grouped])

        def write(rows: list[Evaluation], flushes: bool) -> None:
            with RecordWriter(records, claims) as writer:
                for row in rows:
                    writer.add(row)
                    if flushes:
                        writer.flush()

        one, many = cost(lambda: write(alone, True)), cost(lambda: write(grouped, False))
    for name, (wall, processor) in {"one by one": one, "in groups": many}.items():
        print(f"{name}: {ROWS / wall:.0f} records/s, {1e3 * processor / ROWS:.2f} ms of processor each")
    assert ROWS / many[0] > TARGET


def test_claims_in_windows(records: Records) -> None:
    keys = [f"{number:064}" for number in range(CLAIMS)]
    with Claims(records) as claims:
        first = seconds(lambda: claims.take(keys[:WINDOW]), repeats=1)
        wall, processor = cost(lambda: [claims.take(keys[at : at + WINDOW]) for at in range(WINDOW, CLAIMS, WINDOW)])
    print(f"first window: {first:.3f} s; {CLAIMS - WINDOW} claims: {wall:.2f} s, {processor:.2f} s of processor")
    assert wall / (CLAIMS / WINDOW) < 0.5
