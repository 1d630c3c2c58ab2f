"""Safe access to untrusted SQLite files: only tables and indices without code, and statements with limited work."""

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import UserError
from harness.reading import real_path, require_regular
from harness.text import printable

#: Remedy if a file is not as the harness writes it.
REMEDY = "name another file of results"

#: Maximum size in bytes of a value in a file that is only read.
LONGEST = 128 * 1024

#: Numbers of SQLite's instructions: between two checks of a statement; and the maximum in a statement, which is a
#: constant plus a number per byte of the file. Reading all records takes 320 instructions per record, or 0.25 per byte.
LOOK, MOST, MOST_PER_BYTE = 10_000, 2_000_000, 5

#: Maximum processor time of a statement, in seconds.
DEADLINE_S = 300.0

#: Last bytes of a journal that names another file, which SQLite would delete.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")

# No text matches in two ways, and repetitions are possessive, so that matching is always fast.
_NAME = r'(?:\w++|"[\w ]++"|`[\w ]++`|\[[\w ]++\])'
_ORDER = r"(?: (?:ASC|DESC)\b)?+"
_NAMES = rf"\( ?+{_NAME}{_ORDER}(?: ?+, ?+{_NAME}{_ORDER})*+ ?+\)"
_NO_TYPE = r"(?!(?:AS|CHECK|COLLATE|CONSTRAINT|DEFAULT|GENERATED|NOT|NULL|PRIMARY|REFERENCES|UNIQUE)\b)"
_TYPE = rf"(?: {_NO_TYPE}\w++)*+(?: ?+\( ?+\d++(?: ?+, ?+\d++)?+ ?+\))?+"
_DEFAULT = r"DEFAULT (?:'[^']*+'|[+-]?+[\w.]++)"
_CLAUSE = rf" (?:(?:NOT )?+NULL\b|UNIQUE\b|PRIMARY KEY\b{_ORDER}(?: AUTOINCREMENT\b)?+|{_DEFAULT})"
_COLUMN = rf"(?!(?:CHECK|CONSTRAINT|FOREIGN|PRIMARY|UNIQUE)\b){_NAME}{_TYPE}(?:{_CLAUSE})*+"
_PART = rf"(?:{_COLUMN}|(?:CONSTRAINT {_NAME} )?+(?:PRIMARY KEY|UNIQUE) ?+{_NAMES})"

#: Statements that create a table or index without expressions. All other objects in a database are refused.
_PLAIN = re.compile(
    rf"CREATE TABLE {_NAME} ?+\( ?+{_PART}(?: ?+, ?+{_PART})*+ ?+\)(?: (?:WITHOUT ROWID|STRICT))?+"
    rf"|CREATE (?:UNIQUE )?+INDEX {_NAME} ON {_NAME} ?+{_NAMES}",
    re.IGNORECASE,
)


def beside(file: Path) -> tuple[Path, Path, Path]:
    """Return the paths of files that SQLite may create beside a database: rollback journal, write-ahead log, index."""
    real = real_path(file)
    journal, log, index = (real.with_name(f"{real.name}-{suffix}") for suffix in ("journal", "wal", "shm"))
    return journal, log, index


def require_sound(file: Path) -> None:
    """Raise `UserError` if it is not safe to open a database or one of the files beside it. Missing files are safe."""
    with suppress(OSError):  # SQLite reports it
        require_regular(file, file.stat())
    for path in beside(file):
        with suppress(OSError):  # another program may have removed it
            require_regular(path, path.lstat())
    with suppress(OSError), beside(file)[0].open("rb") as journal:
        journal.seek(-len(_NAMES_ANOTHER), os.SEEK_END)
        if journal.read() == _NAMES_ANOTHER:
            raise UserError("its journal names another file, which SQLite would delete", file=file, remedy=REMEDY)


def protect(connection: sqlite3.Connection, file: Path, *, read_only: bool) -> "StatementWatch":
    """Make a new connection to an untrusted database safe, and return an object that limits its statements.

    The caller must have called `require_sound`, and executed no statement yet. A connection that is `read_only` refuses
    writes, and values longer than `LONGEST`.

    Raises:
        UserError: the database has objects other than plain tables and indices, or too many of them.
        sqlite3.Error: the file is no database, or cannot be read.
    """
    watch = StatementWatch(connection, file)
    with watch.reasons():
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", *(["query_only = ON"] if read_only else [])):
            connection.execute(f"PRAGMA {pragma}")
        if read_only:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
            if not _PLAIN.fullmatch(" ".join(str(sql).split())):
                what, found = printable(str(name))[:80], printable(str(sql))[:80]
                raise UserError(what, file=file, expected="plain tables and indices", found=found, remedy=REMEDY)
    return watch


class StatementWatch:
    """Ends a statement that takes too much work, or during which a signal handler raises an exception."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._file = file
        self.begin()
        # The driver drops exceptions of its callback, even those of signal handlers. Python calls a handler when Python
        # code resumes: in a function before its first line, but in a started generator inside of `try`.
        checks = self._checks()
        next(checks)
        connection.set_progress_handler(checks.__next__, LOOK)

    def begin(self) -> None:
        """Reset the reason, the count of instructions and the time, before the next statement."""
        self.reason: BaseException | None = None  #: why the last statement was ended; None if it was not
        self._instructions, self._began_s = 0, time.thread_time()

    def leave_out(self, seconds: float) -> None:
        """Do not count processor time that was spent between two rows of the statement, by whoever reads them."""
        self._began_s += seconds

    @contextmanager
    def reasons(self) -> Iterator[None]:
        """If this object ends a statement in the context, raise `reason` instead of the driver's error."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if self.reason is None:
                raise
            raise self.reason from error

    def _checks(self) -> Iterator[bool]:
        """Yield at each check whether to end the current statement."""
        while True:
            try:
                while True:  # inside of `try`: Python may call signal handlers when a loop repeats
                    yield self.reason is not None
                    self._require_bounded()
            except GeneratorExit:
                return
            except BaseException as error:
                self.reason = error

    def _require_bounded(self) -> None:
        self._instructions += LOOK
        if self._instructions > MOST and self._instructions > MOST + MOST_PER_BYTE * self._size():
            raise UserError("reading takes more work than a file of its size can need", file=self._file, remedy=REMEDY)
        if time.thread_time() - self._began_s > DEADLINE_S:
            found = f"more than {DEADLINE_S:g} s of processor time"
            raise UserError("reading takes too long", file=self._file, found=found, remedy=REMEDY)

    def _size(self) -> int:
        return sum(path.stat().st_size for path in (self._file, *beside(self._file)) if path.exists())
