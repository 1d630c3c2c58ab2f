"""Connections to the results database: SQLite or PostgreSQL."""

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import unquote

import sqlalchemy
from sqlalchemy import URL, event, func, select
from sqlalchemy.engine import Connection, Engine, ExceptionContext
from sqlalchemy.exc import DBAPIError, IntegrityError, SAWarning, SQLAlchemyError

from harness.credentials import Address
from harness.errors import UserError
from harness.extras import install
from harness.sqlite import StatementWatch, protect, require_sound
from harness.text import printable

BUSY_S = 60  #: seconds for which a transaction waits for a lock of another program
IDLE_S = 30  #: seconds after which the server ends the transaction of an idle client, and so releases its locks
RECOVERY_S = 600.0  #: seconds for which failed operations are tried again, so that runs survive a server's restart
PAUSE_S, LONGEST_PAUSE_S = 0.25, 5.0  #: seconds between the first two tries, and largest number between two tries
#: PostgreSQL's error codes for a lock that was not free within `BUSY_S`, and for a missing permission.
LOCKED, FORBIDDEN = "55P03", "42501"

FIX = "fix this and run the same command again"  #: remedy for a database that failed

#: SQLite's messages about a file that cannot be opened or written; they do not say why.
VAGUE = ("unable to open database file", "attempt to write a readonly database")

#: SQLite's messages about a file that is damaged, or of another kind.
DAMAGED = ("database disk image is malformed", "file is not a database")

#: Longest absolute path that SQLite opens, in bytes: its MAX_PATHNAME of 512, less `-journal`.
LONGEST_PATH = 504

_WATCH = "watch"  #: key of the `StatementWatch` in `Connection.info`

T = TypeVar("T")


class DatabaseError(UserError):
    """The database failed, or cannot be reached."""

    def __init__(self, name: str, reason: str, *, remedy: str = FIX) -> None:
        super().__init__(f"the results database failed: {reason}", file=name, remedy=remedy)
        self.reason = reason  #: the database's own message
        self.found = f"{name}: the results database failed: {reason}"  #: the message without the remedy


class MovedError(DatabaseError):
    """The file of an open SQLite database has been deleted or moved."""

    def __init__(self, name: str) -> None:
        remedy = "put it back, or run the same command again, which makes a new one"
        super().__init__(name, "its file has been deleted or moved meanwhile", remedy=remedy)


class ForbiddenError(DatabaseError):
    """The user's role on the PostgreSQL server lacks a permission."""


class LockedError(DatabaseError):
    """Another program has held a lock on the rows or the file for more than `BUSY_S` seconds."""


class Database:
    """Access to an SQLite file or a PostgreSQL database; failures of the database raise `DatabaseError`."""

    def __init__(self, address: Address, *, read_only: bool = False, option: str = "--results") -> None:
        """Prepare access to a database without opening it. Raise `UserError` unless it is SQLite or PostgreSQL."""
        self.other = f"name another database with {option}"  #: remedy for a database of another program
        first = "run `pgdl run SUBMISSION` first, or " if option == "--results" else ""
        self.filled = f"{first}{self.other}"  #: remedy for a database without records
        whole = address.reveal()
        try:
            self.url = sqlalchemy.make_url(whole) if address.is_url else URL.create("sqlite", database=whole)
            self.engine = _engine_of(self.url)
        except ImportError as error:
            remedy = f"for postgresql+psycopg://...: {install('postgresql')}"
            raise UserError(f"the database's driver cannot be loaded: {error}", remedy=remedy) from error
        except SAWarning:
            remedy = "leave it out; parameters of SQLite itself need file: and uri=true"
            raise UserError("SQLite's driver knows no such parameter", file=address, remedy=remedy) from None
        except (SQLAlchemyError, ValueError):
            expected = "sqlite:///FILE or postgresql+psycopg://..."
            raise UserError("not a database URL", file=address, expected=expected) from None
        if self.engine.dialect.name not in ("sqlite", "postgresql"):
            raise UserError("not a results database", file=address, expected="SQLite or PostgreSQL")
        self.file = _file_of(self.url)  #: path of an SQLite database; None for PostgreSQL
        self.name = str(address) if self.file is None else str(self.url.database)  #: for messages, without passwords
        if self.file is not None:
            _guard(self.engine, self.file, read_only=read_only)
            event.listen(self.engine, "do_connect", lambda *_: self._require_unmoved())
            event.listen(self.engine, "connect", self._remember_file)
        self._address = address
        self._opened: tuple[int, int] | None = None  # device and inode of the SQLite file at the first connection
        self._failing = self._locked = False  # whether `warn` has reported a failing server, a lock
        #: receives messages for the user, for instance while an operation waits; may be called in any thread
        self.warn: Callable[[str], None] = lambda _: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.engine.dispose()

    @property
    def is_postgresql(self) -> bool:
        """Whether the database is on a PostgreSQL server."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Yield a connection in a transaction; raise `DatabaseError` on a failure such as a full disk."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except IntegrityError:
            raise  # an error of the caller, not of the database
        except DBAPIError as error:
            self._require_unmoved()
            reason = printable(self._address.scrub(" ".join(str(error.orig).split())))
            state = getattr(error.orig, "sqlstate", None)
            if reason == "database is locked" or state == LOCKED:
                raise LockedError(self.name, reason) from error
            if state == FORBIDDEN:
                raise ForbiddenError(self.name, reason) from error
            if reason in VAGUE and self.file is not None:
                reason = _hindrance(self.file) or reason
            remedy = f"restore a backup, or {self.other}" if reason in DAMAGED else FIX
            raise DatabaseError(self.name, reason, remedy=remedy) from error
        except UnicodeDecodeError as error:  # SQLite's driver failed to decode a message that quotes the file
            raise DatabaseError(self.name, "text that is not UTF-8") from error

    def write(self, work: Callable[[Connection], T], hurry: threading.Event | None = None) -> T:
        """Run `work` in a transaction, and return its result. As long as another program holds a lock, try again.

        After `hurry` is set, a lock that is held for another `BUSY_S` seconds raises `LockedError`.
        """
        waited = False
        while True:
            try:
                with self.begin() as connection:
                    self._limit_locks(connection)
                    done = work(connection)
            except LockedError:
                if hurry is not None and hurry.is_set():
                    raise
                was_warned, self._locked = waited or self._locked, True  # another thread may have called `warn` already
                if not was_warned:
                    self.warn(f"{self.name} has been locked for {BUSY_S} s by another program; waiting for it")
                waited = True
            else:
                if waited:
                    self._locked = False
                return done

    def patiently(self, work: Callable[[], T], hurry: threading.Event | None = None) -> T:
        """Run `work`, and return its result. If a PostgreSQL server fails, try again for ten minutes.

        A failure of SQLite raises `DatabaseError` at once. After `hurry` is set, only one more try is made.
        """
        hurry = hurry or threading.Event()
        give_up, pause = time.monotonic() + RECOVERY_S, PAUSE_S
        while True:
            hurried = hurry.is_set()
            try:
                done = work()
                self._failing = False
                return done
            except DatabaseError as error:
                if not self.is_postgresql or hurried or time.monotonic() >= give_up:
                    raise
                if not self._failing:
                    self.warn(f"{error.found}; trying again for {RECOVERY_S / 60:.0f} minutes")
                self._failing = True
            hurry.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _limit_locks(self, connection: Connection) -> None:
        if self.is_postgresql:
            limits = {"lock_timeout": BUSY_S, "idle_in_transaction_session_timeout": IDLE_S}
            connection.execute(select(*(func.set_config(name, f"{limit}s", True) for name, limit in limits.items())))

    def _remember_file(self, *_: object) -> None:
        self._opened = self._opened or _identity(self.file)

    def _require_unmoved(self) -> None:
        if self._opened is not None and _identity(self.file) != self._opened:
            raise MovedError(self.name)


@contextmanager
def uncounted(connection: Connection) -> Iterator[None]:
    """Within the context, do not count processor time as work of the connection's statement."""
    watch: StatementWatch | None = connection.info.get(_WATCH)
    began_s = time.thread_time()
    try:
        yield
    finally:
        if watch is not None:
            watch.leave_out(time.thread_time() - began_s)


def _identity(file: Path | None) -> tuple[int, int] | None:
    with suppress(OSError):
        if file is not None:
            facts = file.stat()
            return facts.st_dev, facts.st_ino
    return None


def _file_of(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    return Path(unquote(url.database.removeprefix("file:")) if "uri" in url.query else url.database)


def _hindrance(file: Path) -> str:
    """Return why SQLite cannot create or write a file; "" if no reason is found."""
    if len(os.fsencode(file.absolute())) > LONGEST_PATH:
        return f"SQLite opens no path of more than {LONGEST_PATH} bytes"
    if not file.parent.is_dir():
        return f"there is no directory {printable(str(file.parent))}"
    places = [place for place in (file, file.parent) if place.exists() and not os.access(place, os.W_OK)]
    return f"{printable(str(places[0].absolute()))} is read-only" if places else ""


def _engine_of(url: URL) -> Engine:
    """Return SQLAlchemy's engine for a URL; raise `SAWarning` for parameters that SQLite's driver would ignore."""
    arguments = {"timeout": BUSY_S} if url.get_backend_name() == "sqlite" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SAWarning)
        engine = sqlalchemy.create_engine(url, connect_args=arguments)
    if engine.dialect.driver == "psycopg":
        from harness.records.postgresql import watch  # here, since few users have the driver

        watch(engine, url)
    return engine


def _guard(engine: Engine, file: Path, *, read_only: bool) -> None:
    """Check `file` before an engine connects to it, and protect every connection by `harness.sqlite.protect`."""

    @event.listens_for(engine, "do_connect")
    def _before(*_: Any) -> None:
        require_sound(file)

    @event.listens_for(engine, "connect")
    def _protect(connection: sqlite3.Connection, record: Any) -> None:
        record.info[_WATCH] = protect(connection, file, read_only=read_only)

    @event.listens_for(engine, "before_cursor_execute")
    def _begin(connection: Connection, *_: Any) -> None:
        watch: StatementWatch = connection.info[_WATCH]
        watch.begin()

    @event.listens_for(engine, "handle_error")
    def _reason(context: ExceptionContext) -> BaseException | None:
        watch: StatementWatch | None = context.connection.info.get(_WATCH) if context.connection else None
        return watch.reason if watch is not None else None
