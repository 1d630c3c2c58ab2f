"""Tests of rows that the harness would not write: the error is a line that names database, table, row and column."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.records import Claims, Records
from harness.records.versions import recorded_versions
from tests.records.evaluation_rows import evaluation, request
from tests.records.statements import execute

LINE, TEXT = "a line of at most 255 characters", "text of at most 32768 characters, without control characters"
CONFIGURATION = f"{evaluation().configuration}, by the settings in the row"
COUNT, SECONDS, OBJECT = "an integer from 0 to 2147483647", "a number from 0 to 1e+09", "a JSON object of texts"
DEEP = '{"a": ' + "[" * 1500 + "]" * 1500 + "}"

#: Table, column, and what is expected there -> odd values; an error shows their beginning.
ODD: dict[tuple[str, str, str], list[Any]] = {
    ("evaluations", "value", "a finite number"): ["high", b"\x00\x01", float("inf")],
    ("evaluations", "value", "a number"): [None],
    ("evaluations", "outcome", "an outcome"): ["FINE"],
    ("evaluations", "repeat", COUNT): [0.5, -1, 2**40],
    ("evaluations", "seed", "an integer from 0 to 9223372036854775807"): ["1 OR 1"],
    ("evaluations", "call_wall_s", SECONDS): [float("inf"), -5, None],
    ("evaluations", "started_at", "a time"): ["yesterday"],
    ("evaluations", "finished_at", "a time"): ["2026-02-30 12:00:00.000000", "2026-01-01 99:00:00.000000"],
    ("evaluations", "model", LINE): [b"model_0", "model_0\x1b[2J", "m" * 256],
    ("evaluations", "submission", "printable ASCII text"): ["größe"],
    ("evaluations", "model_digest", "letters and digits"): ["../m0"],
    ("evaluations", "message", "no message, because the outcome is OK"): ["gone"],
    ("evaluations", "message", TEXT): ["m" * 40_000],
    ("evaluations", "output_tail", TEXT): ["a\r\x9b"],
    ("evaluations", "environment", OBJECT): ["{", "[]", '{"a": 1e999}', DEEP],
    ("evaluations", "configuration", CONFIGURATION): ["c0"],
    ("evaluations", "is_baseline", "0 or 1"): [2],
    ("requests", "configuration", CONFIGURATION): ["c0"],
    ("requests", "settings", "the settings of a run"): ["[" * 2000, '{"run_seed": 1e999}', "1" * 5000, "{}"],
    ("requests", "requested_at", "a time"): [b""],
    ("requests", "merged_at", "a time"): [3],
    ("requests", "deterministic", "0 or 1"): ["yes"],
    ("requests", "team", "text of at most 4096 characters, without control characters"): ["\0"],
}


@pytest.mark.parametrize(
    ("table", "column", "expected", "stored"), [(*place, value) for place, values in ODD.items() for value in values]
)
def test_odd_values(table: str, column: str, expected: str, stored: object, tmp_path: Path) -> None:
    """SQLite stores any value in any column; without the check, the error would appear later, far from the cause."""
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        records.add(evaluation(model="model_1"), evaluation())
        records.ask([request(evaluation()), request(evaluation())])
    ((definition,),) = execute(str(file), f"SELECT sql FROM sqlite_master WHERE name = '{table}'")
    free = definition.replace("NOT NULL", "")  # a stranger's table may take NULL
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(f"ALTER TABLE {table} RENAME TO old; {free}; INSERT INTO {table} SELECT * FROM old")
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = 2", [stored])
        connection.execute("DROP TABLE old")
        connection.commit()
    with Records(str(file), read_only=True) as records, pytest.raises(UserError) as error:
        list(records.whole_of()) if table == "evaluations" else records.requests()
    found = "nothing" if stored is None else repr(stored)[:4]
    assert str(error.value).startswith(
        f"{file}, table {table}, row 2, column {column}: expected {expected}, found {found}"
    )
    assert str(error.value).endswith("; name another database with --results")
    assert len(str(error.value)) < len(str(file)) + 250


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
