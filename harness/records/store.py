"""The results database: SQLite by default, any SQLAlchemy URL (PostgreSQL) where there is one."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import sqlalchemy
from sqlalchemy import URL, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.schema import CreateIndex, CreateTable

from harness.errors import UserError
from harness.records.evaluation import Evaluation

#: Seconds that a writer waits for another harness that is writing to the same file.
BUSY_S = 60

#: Rows that are in memory at once while all are read; each holds up to 16 KB of output.
ROWS_AT_ONCE = 500

TABLE = Evaluation.metadata.tables[Evaluation.__tablename__]


class Records:
    """The table `evaluations` of one database; every row is on disk when `add` returns.

    Raises `UserError` where the database cannot be opened, read or written; what was written stays.
    """

    def __init__(self, location: str, *, must_exist: bool = False) -> None:
        """`location` is an SQLAlchemy URL, or the path of an SQLite file that `must_exist` or is created."""
        if must_exist and "://" not in location and not Path(location).is_file():
            raise UserError(
                "no such results file",
                file=location,
                remedy="run `pgdl run SUBMISSION` first, or name it by --results",
            )
        try:
            url = sqlalchemy.make_url(location) if "://" in location else URL.create("sqlite", database=location)
            self.name = url.database if url.drivername == "sqlite" and url.database else url.render_as_string()
            arguments = {"timeout": BUSY_S} if url.get_backend_name() == "sqlite" else {}
            self._engine = sqlalchemy.create_engine(url, connect_args=arguments)
        except ImportError as error:
            remedy = f"install the driver, e.g. pip install {error.name or 'psycopg[binary]'}"
            raise UserError(f"the database's driver cannot be loaded: {error}", remedy=remedy) from error
        except (SQLAlchemyError, ValueError) as error:
            where = re.sub(r":[^:@/]*@", ":***@", location)  # never print a password
            raise UserError(
                "not a database URL", file=where, expected="sqlite:///FILE or postgresql+psycopg://..."
            ) from error
        self._create()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.dispose()

    def add(self, evaluation: Evaluation) -> None:
        """Write one row."""
        with self._session() as session:
            session.add(evaluation)
            session.commit()

    def newest(self, keys: Collection[str] | None = None) -> Iterator[Evaluation]:
        """Yield the newest row of each key, oldest first, a few at a time; `keys` limits them."""
        wanted = set(keys) if keys is not None else None
        newest = select(func.max(Evaluation.id)).group_by(Evaluation.key)
        rows = select(Evaluation).where(Evaluation.id.in_(newest)).order_by(Evaluation.id)
        with self._session() as session:
            for row in session.scalars(rows, execution_options={"yield_per": ROWS_AT_ONCE}):
                if wanted is None or row.key in wanted:
                    yield row

    def _create(self) -> None:
        with self._guard(), self._engine.begin() as connection:
            connection.execute(CreateTable(TABLE, if_not_exists=True))
        with self._guard():
            found = {column["name"] for column in sqlalchemy.inspect(self._engine).get_columns(TABLE.name)}
        missing = sorted(set(TABLE.columns.keys()) - found)
        if missing:
            remedy = "it was written by another version: name another one with --results"
            raise UserError(f"table {TABLE.name} lacks columns {', '.join(missing)}", file=self.name, remedy=remedy)
        with self._guard(), self._engine.begin() as connection:
            for index in TABLE.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with self._guard(), Session(self._engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turn what a user can mend (full disk, wrong file, server away) into one line."""
        try:
            yield
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            remedy = "what was finished before is kept; mend this and run the same command again"
            raise UserError(f"the results database failed: {reason}", file=self.name, remedy=remedy) from error
