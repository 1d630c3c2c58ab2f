"""Which run is making which calls now, so that two runs at once do not do the same work twice."""

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sqlalchemy import Integer, String, delete, insert, select, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from harness import place
from harness.errors import UserError
from harness.records.tables import Base

#: Seconds between two signs of life, and without one until a run on another machine counts as dead.
BEAT_S, SILENCE_S = 5.0, 60.0

#: Keys in one statement; databases bound the number of parameters.
CHUNK = 500


class Run(Base, kw_only=True):
    """A `pgdl run` that is going on; its row goes when it ends."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(16), primary_key=True, comment="Drawn at random.")
    place: Mapped[str] = mapped_column(String(12), comment="The machine, since it was started, and process namespace.")
    process: Mapped[int] = mapped_column(Integer, comment="Its process id there.")
    started: Mapped[str] = mapped_column(String(24), comment="When that process started, in clock ticks.")
    beats: Mapped[int] = mapped_column(Integer, comment="Counts up as long as it lives.")


class Claim(Base, kw_only=True):
    """A call that a run is making or will make."""

    __tablename__ = "claims"

    key: Mapped[str] = mapped_column(String(64), primary_key=True, comment="The key of the call.")
    run: Mapped[str] = mapped_column(String(16), index=True, comment="The run that makes it.")


@dataclass
class _Pulse:
    beats: int
    seen_at: float


class Claims:
    """The calls of one run; a context that gives them back. `begin` begins a transaction."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._begin = begin
        self._id = secrets.token_hex(8)
        self._pulses: dict[str, _Pulse] = {}
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="claims", daemon=True)

    def __enter__(self) -> Self:
        where, process, started = place.own()
        with self._begin() as connection:
            row = {"id": self._id, "place": where, "process": process, "started": started, "beats": 0}
            connection.execute(insert(Run).values(row))
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._heart.join()
        with self._begin() as connection:
            _forget(connection, [self._id])

    def take(self, keys: Collection[str]) -> set[str]:
        """Claim calls; returns those that are this run's now. The others are those of a run that lives."""
        self._bury()
        mine: set[str] = set()
        for part in chunks(list(keys)):
            while True:
                try:
                    mine |= self._take(part)
                    break
                except IntegrityError:  # another run was faster with one of them: look again
                    continue
        return mine

    def _take(self, keys: list[str]) -> set[str]:
        with self._begin() as connection:
            rows = connection.execute(select(Claim.key, Claim.run).where(Claim.key.in_(keys)))
            owners = {row.key: row.run for row in rows}
            free = [key for key in keys if key not in owners]
            if free:
                connection.execute(insert(Claim), [{"key": key, "run": self._id} for key in free])
        return {key for key in keys if owners.get(key, self._id) == self._id}

    def _bury(self) -> None:
        """Free the claims of runs that did not come to their end."""
        with self._begin() as connection:
            runs = connection.execute(select(Run.id, Run.place, Run.process, Run.started, Run.beats)).all()
            dead = [run.id for run in runs if not self._lives(run.id, run.place, run.process, run.started, run.beats)]
            if dead:
                _forget(connection, dead)

    def _lives(self, run: str, where: str, process: int, started: str, beats: int) -> bool:
        if where == place.place():
            return place.started(process) == started
        pulse = self._pulses.setdefault(run, _Pulse(beats, time.monotonic()))
        if pulse.beats != beats:
            self._pulses[run] = pulse = _Pulse(beats, time.monotonic())
        return time.monotonic() - pulse.seen_at < SILENCE_S

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            with suppress(UserError), self._begin() as connection:  # a database that is away says so elsewhere
                connection.execute(update(Run).where(Run.id == self._id).values(beats=Run.beats + 1))


def _forget(connection: Connection, runs: list[str]) -> None:
    connection.execute(delete(Claim).where(Claim.run.in_(runs)))
    connection.execute(delete(Run).where(Run.id.in_(runs)))


def chunks(keys: list[str]) -> Iterator[list[str]]:
    """Split a list into parts that fit into a statement."""
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]
