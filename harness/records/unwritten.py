"""Records that a database did not take, in a local file until the next run adds them.

There is one file for each database, in the user's cache directory: an SQLite file with the same tables. Its name is a
digest of the database's address without user and password.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

from sqlalchemy import URL, func, insert, select
from sqlalchemy.engine import Connection

from harness.cache import cache_directory, locked
from harness.credentials import Address
from harness.errors import writing
from harness.records.connection import Database
from harness.records.creation import open_tables
from harness.records.evaluation import Evaluation
from harness.records.keys import rows_of
from harness.records.schema import SCHEMA, readable
from harness.records.tables import columns_of

#: Parameters of a URL that are the user's, not the database's.
OF_THE_USER = ("user", "password", "passfile", "sslpassword", "sslkey", "sslcert")

#: Rows in memory at once.
AT_ONCE = 500


def keep(database: Database, evaluations: Sequence[Evaluation]) -> Path:
    """Add records to the local file of a database; returns its path. Raises `UserError` if it cannot be written."""
    with _locked(database) as stem:
        file = stem.with_suffix(f".version-{SCHEMA}.db")
        local = Database(Address.of(file, "unwritten"))
        open_tables(local, read_only=False)
        rows = [columns_of(row) for row in evaluations]
        local.write(lambda connection: connection.execute(insert(Evaluation), rows))
        local.engine.dispose()
    return file


def add_unwritten(database: Database) -> None:
    """Add the records of local files to the database, unless a call has a later record, and delete the files.

    Each is added once, also if this is interrupted, or done by several runs at the same time.
    """
    if not _files(_stem(database)):
        return
    with _locked(database) as stem:
        for file in _files(stem):  # another run may just have added them
            added, all_of_them = _add_file(database, file)
            with writing(file):
                file.unlink()
            database.warn(f"{database.name}: added {added} of {all_of_them} records that it had not taken before")


def _add_file(database: Database, file: Path) -> tuple[int, int]:
    """Returns how many rows were added, and how many there are."""
    local = Database(Address.of(file, "unwritten"))
    schema = open_tables(local, read_only=True)
    columns = [column for column in Evaluation.__table__.columns if column.name != "id"]
    added = all_of_them = 0
    with local.begin() as connection:
        query = select(*readable(columns, schema)).order_by(Evaluation.id)
        rows = iter(connection.execute(query).mappings())
        while part := [Evaluation(**row) for row in islice(rows, AT_ONCE)]:
            added += database.write(partial(_add, part))
            all_of_them += len(part)
    local.engine.dispose()
    return added, all_of_them


def _add(rows: Sequence[Evaluation], connection: Connection) -> int:
    newest = (
        select(Evaluation.key, func.max(Evaluation.finished_at))
        .where(Evaluation.key.in_(rows_of(connection, {row.key for row in rows})))
        .group_by(Evaluation.key)
    )
    known = {row.key: row[1] for row in connection.execute(newest)}
    new = [columns_of(row) for row in rows if row.key not in known or known[row.key] < row.finished_at]
    if new:
        connection.execute(insert(Evaluation), new)
    return len(new)


@contextmanager
def _locked(database: Database) -> Iterator[Path]:
    """The path of the local files without their suffixes, while no other process of this user works on them."""
    stem = _stem(database)
    with writing(stem), locked(stem.with_suffix(".lock")):
        yield stem


def _stem(database: Database) -> Path:
    return cache_directory("unwritten") / hashlib.sha256(_address(database).encode()).hexdigest()[:16]


def _files(stem: Path) -> list[Path]:
    return sorted(stem.parent.glob(f"{stem.name}.version-*.db"))


def _address(database: Database) -> str:
    if database.file is not None:
        return str(database.file.resolve())
    url = database.url.difference_update_query(OF_THE_USER)
    of_any_user = URL.create(url.get_backend_name(), None, None, url.host, url.port, url.database, url.query)
    return of_any_user.render_as_string()
