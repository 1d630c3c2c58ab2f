"""Claims of running runs on calls, so that two concurrent runs do not make the same call twice."""

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Protocol, Self, TypeVar

from sqlalchemy import Integer, String, delete, insert, select, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from harness import place
from harness.errors import UserError
from harness.records.evaluation import Evaluation
from harness.records.tables import Base, columns_of

T = TypeVar("T")

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


class Transact(Protocol):
    """Does something in one transaction, and returns its result."""

    def __call__(self, work: Callable[[Connection], T], /) -> T:
        """`work` may be done again if the database was locked."""


class Claims:
    """Claims of one run; a context that releases them on exit."""

    def __init__(self, transact: Transact) -> None:
        self._transact = transact
        self._id = secrets.token_hex(8)
        self._pulses: dict[str, _Pulse] = {}
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="claims", daemon=True)

    def __enter__(self) -> Self:
        self._transact(self._be_there)
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._heart.join()
        self._transact(lambda connection: _forget(connection, [self._id]))

    def record(self, evaluation: Evaluation) -> bool:
        """Write the record of a call if this run still claims it; returns whether it did.

        A run that stood still for long, as on a machine that slept, has lost its claims: another run may have made
        its calls, and each has one record.
        """
        held = update(Claim).where(Claim.key == evaluation.key, Claim.run == self._id).values(run=self._id)

        def write(connection: Connection) -> bool:
            if connection.execute(held).rowcount == 0:
                return False
            connection.execute(insert(Evaluation).values(columns_of(evaluation)))
            return True

        return self._transact(write)

    def take(self, keys: Collection[str]) -> set[str]:
        """Claim calls; returns those that now belong to this run. The others belong to runs that are alive."""
        self._release_dead()
        mine: set[str] = set()
        for part in chunks(list(keys)):
            while True:
                try:
                    mine |= self._transact(partial(self._take, part))
                    break
                except IntegrityError:  # another run has just claimed one of them: try again
                    continue
        return mine

    def _take(self, keys: list[str], connection: Connection) -> set[str]:
        rows = connection.execute(select(Claim.key, Claim.run).where(Claim.key.in_(keys)))
        owners = {row.key: row.run for row in rows}
        free = [key for key in keys if key not in owners]
        if free:
            self._be_there(connection)
            connection.execute(insert(Claim), [{"key": key, "run": self._id} for key in free])
        return {key for key in keys if owners.get(key, self._id) == self._id}

    def _be_there(self, connection: Connection) -> None:
        """Have a row in the table of runs; others have deleted it if they took this run for dead."""
        if not self._sign(connection):
            where, process, started = place.own()
            row = {"id": self._id, "place": where, "process": process, "started": started, "beats": 0}
            connection.execute(insert(Run).values(row))

    def _sign(self, connection: Connection) -> bool:
        """Give a sign of life; returns whether this run has a row for it."""
        beat = update(Run).where(Run.id == self._id).values(beats=Run.beats + 1)
        return connection.execute(beat).rowcount > 0

    def _release_dead(self) -> None:
        """Release the claims of runs that were killed."""
        self._transact(self._forget_dead)

    def _forget_dead(self, connection: Connection) -> None:
        runs = connection.execute(select(Run.id, Run.place, Run.process, Run.started, Run.beats)).all()
        dead = [run.id for run in runs if not self._is_alive(run.id, run.place, run.process, run.started, run.beats)]
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
            with suppress(UserError):  # an unreachable database is reported elsewhere
                self._transact(self._sign)


def _forget(connection: Connection, runs: list[str]) -> None:
    connection.execute(delete(Claim).where(Claim.run.in_(runs)))
    connection.execute(delete(Run).where(Run.id.in_(runs)))


def chunks(keys: list[str]) -> Iterator[list[str]]:
    """Split a list into parts that fit into one statement."""
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]
