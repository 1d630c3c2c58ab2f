"""Tests of rows that the harness would not write: the error is a line that names database, table, row and column."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.records import Claims, Records
from harness.records.versions import recorded_versions
from tests.records.evaluation_rows import evaluation, request
from tests.records.statements import execute

TEXT = "expected text of at most 32768 characters, without control characters"
CONFIGURATION = f"expected {evaluation().configuration}, by the settings in the row"
DEEP = '{"a": ' + "[" * 1500 + "]" * 1500 + "}"


@pytest.mark.parametrize(
    ("table", "column", "stored", "found"),
    [
        ("evaluations", "value", "high", "expected a finite number, found 'high'"),
        ("evaluations", "value", b"\x00\x01", r"expected a finite number, found b'\x00\x01'"),
        ("evaluations", "value", float("inf"), "expected a finite number, found inf"),
        ("evaluations", "value", None, "expected a number, found nothing"),
        ("evaluations", "outcome", "FINE", "expected an outcome, found 'FINE'"),
        ("evaluations", "repeat", 0.5, "expected an integer from 0 to 2147483647, found 0.5"),
        ("evaluations", "repeat", -1, "expected an integer from 0 to 2147483647, found -1"),
        ("evaluations", "repeat", 2**40, "expected an integer from 0 to 2147483647, found 1099511627776"),
        ("evaluations", "seed", "1 OR 1", "expected an integer from 0 to 9223372036854775807, found '1 OR 1'"),
        ("evaluations", "call_wall_s", float("inf"), "expected a number from 0 to 1e+09, found inf"),
        ("evaluations", "call_wall_s", -5, "expected a number from 0 to 1e+09, found -5"),
        ("evaluations", "call_wall_s", None, "expected a number from 0 to 1e+09, found nothing"),
        ("evaluations", "started_at", "yesterday", "expected a time, found 'yesterday'"),
        ("evaluations", "finished_at", "2026-02-30 12:00:00.000000", "expected a time, found '2026-02-30 12:00:00"),
        ("evaluations", "finished_at", "2026-01-01 99:00:00.000000", "expected a time, found '2026-01-01 99:00:00"),
        ("evaluations", "model", b"model_0", "expected a line of at most 255 characters, found b'model_0'"),
        ("evaluations", "model", "model_0\x1b[2J", "expected a line of at most 255 characters, found 'model_0"),
        ("evaluations", "model", "m" * 256, "expected a line of at most 255 characters, found 'mmm"),
        ("evaluations", "submission", "größe", "expected printable ASCII text, found 'größe'"),
        ("evaluations", "model_digest", "../m0", "expected letters and digits, found '../m0'"),
        ("evaluations", "message", "gone", "expected no message, because the outcome is OK, found 'gone'"),
        ("evaluations", "message", "m" * 40_000, f"{TEXT}, found 'mmm"),
        ("evaluations", "output_tail", "a\r\x9b", rf"{TEXT}, found 'a\r\x9b'"),
        ("evaluations", "environment", "{", "expected a JSON object of texts, found '{'"),
        ("evaluations", "environment", "[]", "expected a JSON object of texts, found '[]'"),
        ("evaluations", "environment", '{"a": 1e999}', "expected a JSON object of texts, found '{"),
        ("evaluations", "environment", DEEP, "expected a JSON object of texts, found '{"),
        ("evaluations", "configuration", "c0", f"{CONFIGURATION}, found 'c0'"),
        ("evaluations", "is_baseline", 2, "expected 0 or 1, found 2"),
        ("requests", "configuration", "c0", f"{CONFIGURATION}, found 'c0'"),
        ("requests", "settings", "[" * 2000, "expected the settings of a run, found '[[["),
        ("requests", "settings", '{"run_seed": 1e999}', "expected the settings of a run, found '{"),
        ("requests", "settings", "1" * 5000, "expected the settings of a run, found '111"),
        ("requests", "settings", "{}", "expected the settings of a run, found '{}'"),
        ("requests", "requested_at", b"", "expected a time, found b''"),
        ("requests", "merged_at", 3, "expected a time, found 3"),
        ("requests", "deterministic", "yes", "expected 0 or 1, found 'yes'"),
        ("requests", "team", "\0", "expected text of at most 4096 characters, without control characters, found"),
    ],
)  # fmt: skip
def test_odd_values(table: str, column: str, stored: object, found: str, tmp_path: Path) -> None:
    """SQLite stores any value in any column; without the check, the error would appear later, far from the cause."""
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        records.add(evaluation(model="model_1"), evaluation())
        records.ask([request(evaluation()), request(evaluation())])
    free = "".join(line.replace("NOT NULL", "") for line in _definition(file, table))
    with sqlite3.connect(file) as connection:  # a stranger's table may take NULL
        connection.executescript(f"ALTER TABLE {table} RENAME TO old; {free}; INSERT INTO {table} SELECT * FROM old")
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = 2", [stored])
        connection.execute("DROP TABLE old")
    connection.close()
    with Records(str(file), read_only=True) as records, pytest.raises(UserError) as error:
        list(records.whole_of()) if table == "evaluations" else records.requests()
    assert str(error.value).startswith(f"{file}, table {table}, row 2, column {column}: {found}")
    assert str(error.value).endswith("; name another database with --results")
    assert len(str(error.value)) < len(str(file)) + 250


def _definition(file: Path, table: str) -> list[str]:
    (row,) = execute(str(file), f"SELECT sql FROM sqlite_master WHERE name = '{table}'")
    return str(row[0]).splitlines(keepends=True)


@pytest.mark.parametrize(
    "ask",
    [
        lambda records: list(records.newest_of()),
        lambda records: records.ended([evaluation().key]),
        lambda records: list(records.newest([evaluation().key])),
        lambda records: records.distinct("outcome"),
    ],
)
def test_every_way_to_read_refuses_them_on_every_database(ask: Any, location: str) -> None:
    with Records(location) as records:
        records.add(evaluation())
        execute(location, "UPDATE evaluations SET outcome = 'FINE'")
        with pytest.raises(UserError, match="row 1, column outcome: expected an outcome, found 'FINE'"):
            ask(records)


def test_a_version_that_is_no_text_is_refused_where_it_is_read(file: Path) -> None:
    execute(str(file), "UPDATE evaluations SET submission_digest = CAST('d' AS BLOB)")
    odd = "row 1, column submission_digest: expected letters and digits, found b'd'"
    with Records(str(file), read_only=True) as records, pytest.raises(UserError, match=odd):
        recorded_versions(records, ["toy"])


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("outcome = 'TIMEOUT'", "value: expected none, because the outcome is TIMEOUT, found 1.0"),
        ("value = 'Infinity'", "value: expected a finite number, found"),  # a number for PostgreSQL only
        ("value = 'NaN'", "value: expected a finite number, found"),
        ("sandbox = 'none'", "configuration: expected [0-9a-f]{12}, by the settings in the row, found '"),
        ("time_limit_s = 1.0", "configuration: expected [0-9a-f]{12}, by the settings in the row, found '"),
    ],
)
def test_values_that_cannot_be_together(change: str, found: str, location: str) -> None:
    """Values in a row must fit each other, above all the configuration and the settings.

    A board counts the rows of a configuration, so a row with other settings than its configuration would count wrongly.
    """
    with Records(location) as records:
        records.add(evaluation())
        execute(location, f"UPDATE evaluations SET {change}")
        with pytest.raises(UserError, match=f"row 1, column {found}"):
            list(records.newest_of())


@pytest.mark.parametrize("part", ['"time_limit_s": Infinity', '"run_seed": -1', r'"versions": "\u001b[2J"'])
def test_settings_with_an_odd_part(part: str, tmp_path: Path) -> None:
    file, key = tmp_path / "results.db", part.partition(":")[0]
    given = request(evaluation())
    parts = [one for one in given.settings.strip("{}").split(", ") if not one.startswith(key) and '"' in one]
    settings = "{" + ", ".join([part, *(one for one in parts if ":" in one)]) + "}"
    with Records(str(file)) as records:
        records.ask([request(evaluation(), settings=settings)])
        with pytest.raises(UserError, match="row 1, column settings: expected the settings of a run, found"):
            records.requests()


def test_runs_that_are_none_are_named(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        execute(str(file), "INSERT INTO runs VALUES ('a', 'b', 'c', 'd', 0)")
        odd = "table runs, row 'a', column process: expected an integer from 0 to"
        with Claims(records) as claims, pytest.raises(UserError, match=odd):
            claims.take(["k"])
