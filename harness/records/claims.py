"""Claims of running runs on calls, so that two concurrent runs do not make the same call twice."""

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

#: Seconds between two heartbeats, and seconds without one after which a run on another machine counts as dead.
BEAT_S, SILENCE_S = 5.0, 60.0

#: Keys per statement; databases limit the number of parameters.
CHUNK = 500


class Run(Base, kw_only=True):
    """A `pgdl run` in progress; its row is deleted when it ends."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(16), primary_key=True, comment="Drawn at random.")
    place: Mapped[str] = mapped_column(String(12), comment="Machine, boot and process namespace.")
    process: Mapped[int] = mapped_column(Integer, comment="Process id there.")
    started: Mapped[str] = mapped_column(String(24), comment="Start of that process, in clock ticks.")
    beats: Mapped[int] = mapped_column(Integer, comment="Counter that increases while the run is alive.")


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
    """Claims of one run; a context that releases them on exit. `begin` starts a transaction."""

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
        """Claim calls; returns those that now belong to this run. The others belong to runs that are alive."""
        self._release_dead()
        mine: set[str] = set()
        for part in chunks(list(keys)):
            while True:
                try:
                    mine |= self._take(part)
                    break
                except IntegrityError:  # another run has just claimed one of them: try again
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

    def _release_dead(self) -> None:
        """Release the claims of runs that were killed."""
        with self._begin() as connection:
            runs = connection.execute(select(Run.id, Run.place, Run.process, Run.started, Run.beats)).all()
            dead = [
                run.id for run in runs if not self._is_alive(run.id, run.place, run.process, run.started, run.beats)
            ]
            if dead:
                _forget(connection, dead)

    def _is_alive(self, run: str, where: str, process: int, started: str, beats: int) -> bool:
        if where == place.place():
            return place.started(process) == started
        pulse = self._pulses.setdefault(run, _Pulse(beats, time.monotonic()))
        if pulse.beats != beats:
            self._pulses[run] = pulse = _Pulse(beats, time.monotonic())
        return time.monotonic() - pulse.seen_at < SILENCE_S

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            with suppress(UserError), self._begin() as connection:  # an unreachable database is reported elsewhere
                connection.execute(update(Run).where(Run.id == self._id).values(beats=Run.beats + 1))


def _forget(connection: Connection, runs: list[str]) -> None:
    connection.execute(delete(Claim).where(Claim.run.in_(runs)))
    connection.execute(delete(Run).where(Run.id.in_(runs)))


def chunks(keys: list[str]) -> Iterator[list[str]]:
    """Split a list into parts that fit into one statement."""
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]
