"""Claims: each run records in the database which calls it makes. No other run on this database makes these calls."""

import os
import secrets
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Self

from sqlalchemy import Column, Integer, String, Table, delete, insert, literal, select, true, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from harness import process_identity
from harness.errors import UserError
from harness.records.connection import Database
from harness.records.keys import rows_of
from harness.records.rows import read
from harness.records.tables import METADATA

#: Seconds between two heartbeats of a run. Seconds without a heartbeat after which a run elsewhere counts as killed.
BEAT_S, SILENCE_S = 5.0, 60.0

SEARCH_S = 5.0  #: seconds between two searches for killed runs

_RUNNING = set[str]()  #: runs of this process that have not ended; a run that has ended may have left its claims behind

#: A row for each `pgdl run` in progress; the run deletes its row when it ends.
RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(16), primary_key=True, comment="Drawn at random."),
    Column("place", String(12), nullable=False, comment="Machine, boot and process namespace."),
    Column("process", Integer, nullable=False, comment="Process id there."),
    Column("started", String(24), nullable=False, comment="Start of that process, in clock ticks."),
    Column("beats", Integer, nullable=False, comment="Counter that increases while the run is alive."),
)

#: A row for each call that a run is making or will make.
CLAIMS = Table(
    "claims",
    METADATA,
    Column("key", String(64), primary_key=True, comment="The key of the call."),
    Column("run", String(16), index=True, nullable=False, comment="The run that makes it."),
)


class Claims:
    """The calls that a run claims for itself. As a context manager, it releases all claims on exit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._id = secrets.token_hex(8)
        self._pulses: dict[str, tuple[int, float]] = {}  #: run on another machine -> counter, when the counter changed
        self._searched_at = -SEARCH_S
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="claims", daemon=True)

    def __enter__(self) -> Self:
        _RUNNING.add(self._id)
        self._database.write(self._ensure_row)
        self._heart.start()
        return self

    def __exit__(self, *error: object) -> None:
        _RUNNING.discard(self._id)
        self._over.set()
        self._heart.join()
        with suppress(UserError):  # then the next run of this process releases these claims, or any run after its end
            self._database.write(lambda connection: _forget(connection, [self._id]), self._over)

    def take(self, keys: Collection[str]) -> set[str]:
        """Claim the calls with these keys, unless other runs hold them; return the keys that this run now holds."""
        self._release_dead()
        return self._database.patiently(lambda: self._database.write(lambda connection: self._take(connection, keys)))

    def held(self, connection: Connection, keys: Collection[str]) -> set[str]:
        """Return the keys that this run still holds, and lock these claims until the transaction ends.

        A run that was suspended, for instance on a sleeping machine, may have lost its claims to another run.
        """
        mine = CLAIMS.c.key.in_(rows_of(connection, keys)), CLAIMS.c.run == self._id
        return set(
            connection.execute(update(CLAIMS).where(*mine).values(run=self._id).returning(CLAIMS.c.key)).scalars()
        )

    def _take(self, connection: Connection, keys: Collection[str]) -> set[str]:
        self._ensure_row(connection)
        dialect = postgresql if self._database.is_postgresql else sqlite
        free = rows_of(connection, keys).add_columns(literal(self._id)).where(true())  # SQLite needs a WHERE
        connection.execute(dialect.insert(CLAIMS).from_select(["key", "run"], free).on_conflict_do_nothing())
        mine = select(CLAIMS.c.key).where(CLAIMS.c.key.in_(rows_of(connection, keys)), CLAIMS.c.run == self._id)
        return set(connection.execute(mine).scalars())

    def _ensure_row(self, connection: Connection) -> None:
        if not self._update_heartbeat(connection):
            where, process, started = process_identity.own_identity()
            row = {"id": self._id, "place": where, "process": process, "started": started, "beats": 0}
            connection.execute(insert(RUNS).values(row))

    def _update_heartbeat(self, connection: Connection) -> bool:
        beat = update(RUNS).where(RUNS.c.id == self._id).values(beats=RUNS.c.beats + 1)
        return connection.execute(beat).rowcount > 0

    def _release_dead(self) -> None:
        if time.monotonic() - self._searched_at >= SEARCH_S:
            self._database.patiently(lambda: self._database.write(self._forget_dead))
            self._searched_at = time.monotonic()

    def _forget_dead(self, connection: Connection) -> None:
        runs = read(connection, select(RUNS), RUNS, self._database)
        dead = [run for run, *rest in runs if not self._is_alive(run, *rest)]
        if dead:
            _forget(connection, dead)

    def _is_alive(self, run: str, where: str, process: int, started: str, beats: int) -> bool:
        if where == process_identity.process_scope():
            is_own = process == os.getpid()
            return process_identity.start_time(process) == started and (run in _RUNNING or not is_own)
        known, seen_at = self._pulses.get(run, (-1, 0.0))
        if known != beats:
            self._pulses[run] = beats, seen_at = beats, time.monotonic()
        return time.monotonic() - seen_at < SILENCE_S

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            try:
                self._database.write(self._update_heartbeat, self._over)
            except UserError:  # other threads report an unreachable database
                self._pulses.clear()  # meanwhile no run could update its counter


def _forget(connection: Connection, runs: list[str]) -> None:
    """Delete runs and their claims. A deleted run that is still alive inserts its row again before it claims calls."""
    connection.execute(delete(RUNS).where(RUNS.c.id.in_(runs)))
    connection.execute(delete(CLAIMS).where(CLAIMS.c.run.in_(runs)))
