"""Fetches members of an archive, several at once; each has its name on disk only when it is whole and checked."""

import hashlib
import os
import threading
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.listing import ListedFile
from harness.fetch.members import BadArchiveError
from harness.fetch.staging import StagedTask
from harness.format.archive import DAMAGE
from harness.format.fetched import FetchedFile
from harness.text import printable

#: Connections at once, and bytes written at once.
CONNECTIONS, CHUNK = 4, 1024**2

#: Seconds to wait for the threads of a transfer that failed; they end with the process in any case.
END_S = 1.0


class DamagedError(UserError):
    """A member is not what the directory of its archive says."""


_Outcome = tuple[ListedFile, FetchedFile] | Exception


def transfer(
    open_archive: Callable[[], IO[bytes]], members: Sequence[ListedFile], staging: StagedTask, url: Address
) -> None:
    """Fetch members into a staging directory; those that are finished are kept whatever happens to others.

    Raises:
        DamagedError: a member is not what the directory of the archive says.
        UserError: the server fails, the disk is full.
    """
    waiting: SimpleQueue[ListedFile] = SimpleQueue()
    for member in sorted(members, key=lambda member: -member.entry.compress_size):  # a large one last keeps others idle
        waiting.put(member)
    outcomes: SimpleQueue[_Outcome] = SimpleQueue()
    stop = threading.Event()
    work = _Work(open_archive, waiting, outcomes, staging, stop)
    number = min(CONNECTIONS, len(members))
    threads = [threading.Thread(target=work.run, daemon=True) for _ in range(number)]  # Ctrl-C waits for none
    for thread in threads:
        thread.start()
    try:
        for _ in members:
            _take(outcomes.get(), staging, url)
    finally:
        stop.set()
        for thread in threads:
            thread.join(END_S)
        with suppress(Empty, UserError):  # what others finished meanwhile
            while True:
                _take(outcomes.get_nowait(), staging, url)


def _take(outcome: _Outcome, staging: StagedTask, url: Address) -> None:
    if isinstance(outcome, Exception):
        raise _as_user_error(outcome, staging, url)
    staging.add(outcome[0].path, outcome[1])


class _Work:
    """What each thread does: takes members until there are no more, and says what became of them."""

    def __init__(
        self, open_archive: Callable[[], IO[bytes]], waiting: SimpleQueue[ListedFile], outcomes: SimpleQueue[_Outcome],
        staging: StagedTask, stop: threading.Event,
    ) -> None:  # fmt: skip
        self._open, self._waiting, self._outcomes = open_archive, waiting, outcomes
        self._staging, self._stop = staging, stop

    def run(self) -> None:
        try:
            with self._open() as file, zipfile.ZipFile(file) as archive:
                while not self._stop.is_set():
                    member = self._waiting.get_nowait()
                    self._outcomes.put((member, self._extract(archive, member)))
        except Empty:
            return
        except Exception as error:  # for the thread that waits
            self._outcomes.put(error)

    def _extract(self, archive: zipfile.ZipFile, member: ListedFile) -> FetchedFile:
        """Unpack a member to its place; `zipfile` checks its size and CRC-32."""
        place = self._staging.place(member.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f"{place.name}.partial")
        digest, size = hashlib.sha256(), 0
        try:
            with archive.open(member.entry) as source, partial.open("wb") as target:
                while chunk := source.read(CHUNK):
                    if self._stop.is_set():
                        raise Empty
                    digest.update(chunk)
                    target.write(chunk)
                    size += len(chunk)
                target.flush()
                os.fsync(target.fileno())
        except DAMAGE as error:
            raise zipfile.BadZipFile(f"{member.path}: {error}") from error
        if size != member.entry.file_size:
            raise zipfile.BadZipFile(f"{member.path}: expected {member.entry.file_size} bytes, found {size}")
        partial.replace(place)
        return FetchedFile(size, member.entry.CRC, digest.hexdigest())


def _as_user_error(error: Exception, staging: StagedTask, url: Address) -> Exception:
    """Return the message on what ended a transfer; a bug as it is."""
    if isinstance(error, (BadArchiveError, *DAMAGE)):
        remedy = "the same command fetches this file again; if that does not help, the archive is damaged"
        return DamagedError("damaged", file=url, found=printable(str(error))[:200], remedy=remedy)
    if isinstance(error, OSError):
        remedy = "the same command continues when there is space; finished files are kept"
        return UserError(
            "cannot be written", file=error.filename or staging.place(""), found=error.strerror, remedy=remedy
        )
    return error
