"""Records that a database refused, in a local file until the next run adds them.

Each database has a file in the user's cache directory: an SQLite file with the same tables, named by a digest of the
database's address without user and password.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from pathlib import Path

from sqlalchemy import URL, insert
from sqlalchemy.engine import Connection

from harness.cache import cache_directory, cache_file, locked
from harness.credentials import Address
from harness.errors import UserError, writing
from harness.records.connection import Database, DatabaseError
from harness.records.evaluation import EVALUATIONS, Evaluation
from harness.records.keys import are_there
from harness.records.rows import read_as, select_of
from harness.records.schema import SCHEMA, open_tables
from harness.records.tables import columns_of
from harness.sqlite import beside
from harness.text import counted

#: Parameters of a URL that belong to the user, not to the database.
OF_THE_USER = ("user", "password", "passfile", "sslpassword", "sslkey", "sslcert")

#: Rows in memory at once.
AT_ONCE = 500


class UnusableError(UserError):
    """A local file cannot be read, or not to its end."""


def keep(database: Database, evaluations: Sequence[Evaluation]) -> Path:
    """Add records to the local file of a database; returns its path. Raises `UserError` if it cannot be written."""
    rows = [columns_of(row) for row in evaluations]
    with _locked(database) as stem:
        file = stem.with_suffix(f".version-{SCHEMA}.db")
        is_new = not file.exists()
        try:
            with Database(Address.of(file, "unwritten")) as local:
                open_tables(local, read_only=False)
                local.write(lambda connection: connection.execute(insert(EVALUATIONS), rows))
        except Exception as error:
            if is_new:  # a partial file holds no record
                for part in (file, *beside(file)):
                    part.unlink(missing_ok=True)
            if isinstance(error, DatabaseError):
                raise UserError(f"cannot be written: {error.reason}", file=file) from error
            raise
    return file


def add_unwritten(database: Database) -> None:
    """Add the records of local files to the database, and delete the files; these records count as the newest.

    Each record is added once, also after an interruption, or if several runs add records at the same time. An
    unreadable file is set aside, with a line to `warn`.
    """
    if not _files(_stem(database)):
        return
    with _locked(database) as stem:
        for file in _files(stem):  # another run may just have added their records
            number = 0
            try:
                for part in _parts(file):
                    database.write(partial(_add, part))
                    number += len(part)
            except UnusableError:
                lost = f"{file}, which keeps records of finished calls, cannot be read"
                database.warn(f"{lost}; {number} of its records were added, and it is now called {_set_aside(file)}")
                continue
            with writing(file):
                file.unlink()
            database.warn(f"{database.name}: added {counted(number, 'record')} from where an earlier run kept them")


def _parts(file: Path) -> Iterator[Sequence[Evaluation]]:
    """Yield the records of a local file, in their order."""
    try:
        with Database(Address.of(file, "unwritten")) as local:
            open_tables(local, read_only=True)
            query = select_of(Evaluation, EVALUATIONS).order_by(EVALUATIONS.c.id)
            with local.begin() as connection:
                rows = read_as(Evaluation, connection, query, EVALUATIONS, local.name)
                while part := list(islice(rows, AT_ONCE)):
                    yield part
    except UserError as error:
        raise UnusableError(str(error)) from error


def _add(rows: Sequence[Evaluation], connection: Connection) -> None:
    there = are_there(connection, rows)
    new = [columns_of(row) for row, is_there in zip(rows, there, strict=True) if not is_there]
    if new:
        connection.execute(insert(EVALUATIONS), new)


def _set_aside(file: Path) -> Path:
    """Rename a file and its journals, which SQLite would otherwise apply to the next file of this name."""
    names = (file.with_name(f"{file.name}.unusable-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    with writing(file):
        for old, new in zip((file, *beside(file)), (aside, *beside(aside)), strict=True):
            if old.exists():
                old.rename(new)
    return aside


def has_unwritten(database: Database) -> bool:
    """Whether local files hold records of a database."""
    stem = cache_file("unwritten", _digest(database))
    return stem is not None and bool(_files(stem))


@contextmanager
def _locked(database: Database) -> Iterator[Path]:
    """Yield the path of the local files without suffix, while no other process of this user works on them."""
    stem = _stem(database)
    with writing(stem), locked(stem.with_suffix(".lock")):
        yield stem


def _stem(database: Database) -> Path:
    return cache_directory("unwritten") / _digest(database)


def _digest(database: Database) -> str:
    if database.file is not None:
        address = str(database.file.resolve())
    else:
        url = database.url.difference_update_query(OF_THE_USER)
        of_any_user = URL.create(url.get_backend_name(), None, None, url.host, url.port, url.database, url.query)
        address = of_any_user.render_as_string()
    return hashlib.sha256(address.encode()).hexdigest()[:16]


def _files(stem: Path) -> list[Path]:
    return sorted(stem.parent.glob(f"{stem.name}.version-*.db"))
