"""Keeps records in a local SQLite file while the results database fails; the next run adds them to the database."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from sqlalchemy import URL

from harness.cache import cache_directory, cache_file, locked
from harness.errors import UserError, writing
from harness.reading import real_path
from harness.records.connection import Database, DatabaseError
from harness.records.evaluation import EVALUATIONS, Evaluation
from harness.records.keys import in_groups, insert_missing
from harness.records.rows import read_as, select_of
from harness.records.schema import SCHEMA
from harness.records.store import Records
from harness.sqlite import beside
from harness.text import counted

#: Parameters of a database's URL that identify the user, not the database.
OF_THE_USER = ("user", "password", "passfile", "sslpassword", "sslkey", "sslcert")


class UnusableError(UserError):
    """A local file of records cannot be read completely."""


def keep(database: Database, evaluations: Sequence[Evaluation]) -> Path:
    """Write records to the local file that replaces the failing `database`, and return the file's path.

    Raise `UserError` if that fails.
    """
    with _locked(database) as stem:
        file = stem.with_suffix(f".version-{SCHEMA}.db")
        is_new = not file.exists()
        try:
            with Records(file) as local:
                local.add(*evaluations)
        except Exception as error:
            if is_new:  # it holds no record yet
                for part in (file, *beside(file)):
                    part.unlink(missing_ok=True)
            if isinstance(error, DatabaseError):
                raise UserError(f"cannot be written: {error.reason}", file=file) from error
            raise
    return file


def add_unwritten(database: Database) -> None:
    """Move the records in the local files of `keep` into the database; report each file to the database's `warn`.

    Each record is added once, even if several runs do this at the same time. A damaged file is renamed.
    """
    if not _files(_stem(database)):
        return
    with _locked(database) as stem:
        for file in _files(stem):  # another run may just have added their records
            number = 0
            try:
                for part in _parts(file):
                    database.write(partial(insert_missing, records=part))
                    number += len(part)
            except UnusableError:
                lost = f"{file}, which keeps records of finished calls, cannot be read"
                database.warn(f"{lost}; {number} of its records were added, and it is now called {_set_aside(file)}")
                continue
            with writing(file):
                file.unlink()
            database.warn(f"{database.name}: added {counted(number, 'record')} that an earlier run kept locally")


def _parts(file: Path) -> Iterator[Sequence[Evaluation]]:
    try:
        query = select_of(Evaluation, EVALUATIONS).order_by(EVALUATIONS.c.id)
        with Records(file, read_only=True) as local, local.begin() as connection:
            yield from in_groups(read_as(Evaluation, connection, query, EVALUATIONS, local))
    except UserError as error:
        raise UnusableError(str(error)) from error


def _set_aside(file: Path) -> Path:
    """Rename a file and its journals, which SQLite would apply to a new file of this name. Return the new path."""
    names = (file.with_name(f"{file.name}.unusable-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    with writing(file):
        for old, new in zip((file, *beside(file)), (aside, *beside(aside)), strict=True):
            if old.exists():
                old.rename(new)
    return aside


def has_unwritten(database: Database) -> bool:
    """Return whether local files contain records that this user's runs could not write into the database."""
    stem = cache_file("unwritten", _digest(database))
    return stem is not None and bool(_files(stem))


@contextmanager
def _locked(database: Database) -> Iterator[Path]:
    """Lock the files in which `keep` stores a database's records; yield their path without suffix."""
    stem = _stem(database)
    with writing(stem), locked(stem.with_suffix(".lock")):
        yield stem


def _stem(database: Database) -> Path:
    return cache_directory("unwritten") / _digest(database)


def _digest(database: Database) -> str:
    if database.file is not None:
        address = str(real_path(database.file))
    else:
        url = database.url.difference_update_query(OF_THE_USER)
        of_any_user = URL.create(url.get_backend_name(), None, None, url.host, url.port, url.database, url.query)
        address = of_any_user.render_as_string()
    return hashlib.sha256(address.encode()).hexdigest()[:16]


def _files(stem: Path) -> list[Path]:
    return sorted(stem.parent.glob(f"{stem.name}.version-*.db"))
