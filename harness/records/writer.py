"""Writes the records of a run in groups, since a transaction for each record would take too long."""

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.engine import Connection

from harness.errors import UserError
from harness.records.claims import Claims
from harness.records.connection import FIX, Database, DatabaseError
from harness.records.evaluation import Evaluation
from harness.records.keys import insert_missing
from harness.records.unwritten import keep
from harness.text import counted

#: A group is written as soon as it has this many records, or this many seconds after the previous group.
GROUP, INTERVAL_S = 100, 1.0


class RecordWriter:
    """Writes records in groups, in a separate thread. As a context manager, it writes the remaining records on exit.

    With `claims`, only records of calls that the run still claims are written. If a PostgreSQL server fails, the writer
    tries again for ten minutes; after an error or Ctrl-C in the context, only once. Records that cannot be written go
    into a local file (`unwritten`); then every method raises a `UserError` that names the file.
    """

    def __init__(self, database: Database, claims: Claims | None) -> None:
        self._database, self._claims = database, claims
        self._changed = threading.Condition()
        self._waiting: list[Evaluation] = []
        self._in_hand = 0  # records of the group that is being written
        self._decided: list[tuple[Evaluation, bool]] = []
        self._flushing = self._over = False
        self._hurry = threading.Event()
        self._cause: Exception | None = None  # the error after which no group is written to the database
        self._failure: Exception | None = None  # the error that every method then raises
        self._file: Path | None = None  # the local file of records
        self._lost, self._why_lost = 0, ""
        self._thread = threading.Thread(target=self._work, name="records")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._hurry.set()
        with self._changed:
            self._over = True
            self._changed.notify_all()
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._hurry.set()
            self._thread.join()
            self._tell_failure(error)
            raise
        if kind is None or (isinstance(error, UserError) and (self._lost or isinstance(error, DatabaseError))):
            # Otherwise the run would not report lost calls.
            self._require_success()
        self._tell_failure(error)

    def _tell_failure(self, error: BaseException | None) -> None:
        if self._failure is not None and str(self._failure) != str(error):
            self._database.warn(str(self._failure))

    def add(self, evaluation: Evaluation) -> None:
        """Queue a record, without waiting for the database."""
        with self._changed:
            self._waiting.append(evaluation)
            self._changed.notify_all()
        self._require_success()

    def written(self) -> list[tuple[Evaluation, bool]]:
        """Return the records handled since the last call of this method, and whether each was written.

        A record is not written if another run has taken over the call.
        """
        self._require_success()
        with self._changed:
            decided, self._decided = self._decided, []
        return decided

    def flush(self) -> None:
        """Write all queued records at once, and wait until they are written."""
        with self._changed:
            self._flushing = True
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: not (self._waiting or self._in_hand))
            finally:
                self._flushing = False
        self._require_success()

    def _require_success(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while group := self._next_group():
            started = time.monotonic()
            decided = self._write_or_keep(group)
            with self._changed:
                self._decided += decided
                self._in_hand = 0
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: len(self._waiting) >= GROUP or self._flushing or self._over,
                    started + INTERVAL_S - time.monotonic(),
                )

    def _next_group(self) -> list[Evaluation]:
        with self._changed:
            while not self._changed.wait_for(lambda: self._waiting or self._over, INTERVAL_S):
                if not threading.main_thread().is_alive():  # Ctrl-C interrupted this writer's exit
                    break
            group, self._waiting = self._waiting[:GROUP], self._waiting[GROUP:]
            self._in_hand = len(group)
        return group

    def _write_or_keep(self, group: list[Evaluation]) -> list[tuple[Evaluation, bool]]:
        if self._cause is None:
            try:
                return self._database.patiently(lambda: self._write(group), self._hurry)
            except Exception as error:  # any exception: no finished call may be lost
                self._cause = error
        self._failure = self._keep(group, self._cause)
        return []

    def _write(self, group: list[Evaluation]) -> list[tuple[Evaluation, bool]]:
        def work(connection: Connection) -> list[bool]:
            held = None if self._claims is None else self._claims.held(connection, {row.key for row in group})
            return insert_missing(connection, group, held)

        return list(zip(group, self._database.write(work, self._hurry), strict=True))

    def _keep(self, group: list[Evaluation], cause: Exception) -> Exception:
        """Write records to the local file, because the database failed with `cause`. Return an error to raise.

        The error names the file. If the file cannot be written, the error says how many calls are lost. If `cause` is
        a bug, and no call is lost, return `cause`.
        """
        try:
            self._file = keep(self._database, group)
        except Exception as error:  # the thread must not end: other threads wait for it
            self._lost, self._why_lost = self._lost + len(group), str(error)
        if not (self._lost or isinstance(cause, DatabaseError)):
            return cause  # a bug: its traceback is shown
        lost = [f"{counted(self._lost, 'finished call')} lost, because {self._why_lost}"] if self._lost else []
        kept = [f"{'others' if lost else 'finished calls'} are kept in {self._file}"] if self._file else []
        again = "fix this and run the same command again, which adds them" if kept else FIX
        found = cause.found if isinstance(cause, DatabaseError) else repr(cause)
        failure = UserError(found, remedy="; ".join((*lost, *kept, again)))
        failure.__cause__ = cause
        return failure
