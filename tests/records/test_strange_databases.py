"""Tests of SQLite files from strangers: nothing in them runs as code, and reading them ends."""

import os
import signal
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest
from matrix import rest

from harness import sqlite
from harness.errors import UserError
from harness.records import Records
from tests.records.evaluation_rows import evaluation
from tests.records.statements import execute

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"


CODE = {
    "a view": (f"CREATE VIEW more AS {ENDLESS}",),
    "a view in place of a table": ("DROP TABLE requests", f"CREATE VIEW requests AS {ENDLESS}"),
    "a trigger": ("CREATE TRIGGER more AFTER INSERT ON requests BEGIN DELETE FROM evaluations; END",),
    "a virtual table": (  # as text: SQLite within TensorFlow, which it uses once that is imported, has no module
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_master VALUES "
        "('table', 'more', 'more', 0, 'CREATE VIRTUAL TABLE more USING rtree(id, low, high)')",
    ),
    "a computed column": ("ALTER TABLE runs ADD COLUMN more AS (length(zeroblob(1000000)))",),
    "a stored computed column": ("CREATE TABLE more (a, b TEXT AS (hex(a)) STORED)",),
    "a computed default": ("CREATE TABLE more (a TEXT DEFAULT (hex(randomblob(10))))",),
    "a constant computed column": ("CREATE TABLE more (a, b AS (1))",),
    "a check": ("CREATE TABLE more (a TEXT, CHECK (length(a) > 1))",),
    "an index of an expression": ("CREATE INDEX more ON requests (length(source))",),
    "an index of some rows": ("CREATE INDEX more ON requests (source) WHERE source LIKE '%a%'",),
    "a foreign key": ("CREATE TABLE more (a INTEGER REFERENCES runs (id))",),
}


@pytest.mark.parametrize("statements", CODE.values(), ids=CODE)
@pytest.mark.parametrize("read_only", [True, False])
def test_tables_and_indices_are_plain(file: Path, statements: tuple[str, ...], read_only: bool) -> None:
    execute(str(file), *statements)
    with pytest.raises(UserError, match=r": expected plain tables and indices, found CREATE .*; name another file of"):
        Records(str(file), read_only=read_only)


def test_a_table_is_looked_at_in_one_pass(file: Path) -> None:
    """If the pattern could match a column in two ways, the time would double with every column of the table."""
    columns = ", ".join(f"a{number} b DEFAULT ''" for number in range(100))
    execute(str(file), f"CREATE TABLE more ({columns}, b AS (hex(a0)))")
    with pytest.raises(UserError, match="expected plain tables and indices"):
        Records(str(file), read_only=True)


def test_tables_and_indices_of_ones_own_do_no_harm(file: Path) -> None:
    execute(
        str(file),
        "CREATE TABLE notes (a, b TEXT DEFAULT '' NOT NULL)",
        'CREATE TABLE [my notes] (id INTEGER PRIMARY KEY AUTOINCREMENT, note varchar(80) unique, "a b" NUMERIC(9, 2))',
        "CREATE TABLE days (day DATETIME DEFAULT CURRENT_TIMESTAMP, n INT DEFAULT -1, UNIQUE (day, n DESC))",
        "CREATE TABLE pairs (a INT NOT NULL, b DOUBLE PRECISION, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "CREATE UNIQUE INDEX more ON notes (a, b)",
        "ANALYZE",
    )
    with Records(str(file), read_only=True) as records:
        assert len(list(records.newest_of())) == 1


@pytest.mark.parametrize("table", ["requests", "runs", "claims"])
def test_a_table_that_is_missing_is_named(file: Path, table: str) -> None:
    execute(str(file), f"DROP TABLE {table}")
    with pytest.raises(UserError, match=f"^{file}: no table {table}; name another database with --results$"):
        Records(str(file), read_only=True)


def test_a_message_of_sqlite_that_quotes_odd_bytes_is_one_line(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content.replace(b"CREATE TABLE claims", b"CREATE TABLE \xff\xff\xff\xff\xff\xff"))
    with pytest.raises(UserError, match=f"^{file}: the results database failed: ") as error:
        Records(str(file), read_only=True)
    assert len(str(error.value).splitlines()) == 1


def test_who_only_reads_cannot_write(file: Path) -> None:
    with Records(str(file), read_only=True) as records, pytest.raises(UserError, match="write a readonly database"):
        records.add(evaluation(model="model_1"))


def repeat(file: Path, times: int = 3) -> None:
    """Let all children of the root page of the table `requests` be the same page, so that its rows never end."""
    (row,) = execute(str(file), "SELECT rootpage FROM sqlite_master WHERE name = 'requests'")
    size, root = 4096, row[0]
    content = bytearray(file.read_bytes())
    leaf = bytes(content[(root - 1) * size : root * size])
    pages = len(content) // size
    content += leaf
    child, begin = pages + 1, (root - 1) * size
    for _ in range(times):  # levels
        cells = [struct.pack(">IB", child, 1) for _ in range(500)]
        start = size - 5 * len(cells)
        page = struct.pack(">BHHHBI", 5, 0, len(cells), start, 0, child)
        page += b"".join(struct.pack(">H", start + 5 * n) for n in range(len(cells)))
        content += page.ljust(start, b"\0") + b"".join(cells)
        child = len(content) // size
    content[begin : begin + size] = content[(child - 1) * size : child * size]
    content[28:32] = struct.pack(">I", len(content) // size)
    content[92:96] = content[24:28]
    file.write_bytes(content)


WORK, TIME = (
    "takes more work than a file of its size can need",
    "takes too long: found more than 0.1 s of processor time",
)


@pytest.mark.parametrize(("most", "refused"), [rest(sqlite.MOST, WORK), (10**15, TIME)], ids=["work", "time"])
def test_a_table_without_end_is_left(file: Path, most: int, refused: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repeat(file)
    if refused is TIME:
        monkeypatch.setattr(sqlite, "MOST", most)
        monkeypatch.setattr(sqlite, "DEADLINE_S", 0.1)
    with Records(str(file), read_only=True) as records, pytest.raises(UserError) as error:
        records.requests()
    assert str(error.value) == f"{file}: reading {refused}; name another file of results"


def test_who_reads_the_rows_may_take_any_time_for_each(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline is for the database's work, not for the reader's."""
    with Records(str(file)) as records:
        records.add(*(evaluation(model=f"model_{number}") for number in range(1, 500)))
    monkeypatch.setattr(sqlite, "LOOK", 10)
    worked_s, read = 0.0, []
    monkeypatch.setattr("harness.sqlite.time.thread_time", lambda: worked_s)
    with Records(str(file), read_only=True) as records:
        for row in records.whole_of():
            read.append(row.model)
            worked_s += sqlite.DEADLINE_S
    assert len(read) == 500


class StoppedError(KeyboardInterrupt):
    """Raised by the handler of a signal."""


def test_a_signal_ends_a_statement(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repeat(file)
    monkeypatch.setattr(sqlite, "MOST", 10**15)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        # Again and again: Python drops an exception that is raised while it frees an object.
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        with pytest.raises(StoppedError), Records(str(file), read_only=True) as records:
            records.requests()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def journal_of(file: Path, other: Path) -> None:
    """Write a journal that names another file, which SQLite deletes after it has applied the journal."""
    end, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(other)
    header = end + struct.pack(">5I", 0, 1, file.stat().st_size // 4096, 512, 4096)
    checksum = sum(name) & 0xFFFFFFFF
    trailer = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), checksum) + end
    file.with_name(f"{file.name}-journal").write_bytes(header.ljust(512, b"\0") + trailer)


@pytest.mark.parametrize("linked", [False, True])
def test_no_other_file_is_deleted(file: Path, linked: bool) -> None:
    other, place = file.with_name("precious"), file
    other.write_text("precious")
    journal_of(file, other)
    if linked:
        place = file.with_name("link.db")
        place.symlink_to(file)
    for read_only in (True, False):
        with pytest.raises(UserError, match="its journal names another file, which SQLite would delete"):
            Records(str(place), read_only=read_only)
    assert other.read_text() == "precious"
    with closing(sqlite3.connect(file)) as connection:  # SQLite applies the journal
        connection.execute("SELECT * FROM evaluations")
    assert not other.exists()


@pytest.mark.parametrize("name", ["results.db", "results.db-journal", "results.db-wal", "results.db-shm"])
def test_what_would_be_waited_for_is_refused(file: Path, name: str) -> None:
    file.with_name(name).unlink(missing_ok=True)
    os.mkfifo(file.with_name(name))
    with pytest.raises(UserError, match=f"/{name}: cannot be read: expected a regular file, found a pipe"):
        Records(str(file), read_only=True)
