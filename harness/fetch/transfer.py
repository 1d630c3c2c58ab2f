"""Downloads members of an archive over several connections. A file appears only when it is complete and checked."""

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
from harness.fetch.listing import BadArchiveError, ListedFile
from harness.fetch.staging import StagedTask
from harness.format.archive import DAMAGE
from harness.format.fetched import FetchedFile
from harness.text import printable

#: Number of connections, and number of bytes written at once.
CONNECTIONS, CHUNK = 4, 1024**2

#: Seconds to wait for the threads after a failure. They end with the process in any case.
END_S = 1.0


_Outcome = tuple[ListedFile, FetchedFile] | Exception


def transfer(
    open_archive: Callable[[], IO[bytes]], members: Sequence[ListedFile], staging: StagedTask, url: Address
) -> None:
    """Download members of an archive into a temporary directory. If one fails, finished members stay there.

    Raises `UserError` if a member differs from the archive's list of files, or server or disk fail.
    """
    waiting: SimpleQueue[ListedFile] = SimpleQueue()
    for member in sorted(members, key=lambda member: -member.entry.compress_size):  # largest first
        waiting.put(member)
    outcomes: SimpleQueue[_Outcome] = SimpleQueue()
    stop = threading.Event()

    def work() -> None:
        try:
            with open_archive() as file, zipfile.ZipFile(file) as archive:
                while not stop.is_set():
                    member = waiting.get_nowait()
                    outcomes.put((member, _extract(archive, member, staging, stop)))
        except Empty:
            return
        except Exception as error:  # passed to the waiting thread
            outcomes.put(error)

    number = min(CONNECTIONS, len(members))
    threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]  # Ctrl-C need not wait for them
    for thread in threads:
        thread.start()
    try:
        for _ in members:
            _take(outcomes.get(), staging, url)
    finally:
        stop.set()
        for thread in threads:
            thread.join(END_S)
        with suppress(Empty, UserError):  # finished after the failure
            while True:
                _take(outcomes.get_nowait(), staging, url)


def _take(outcome: _Outcome, staging: StagedTask, url: Address) -> None:
    if isinstance(outcome, Exception):
        raise _as_user_error(outcome, staging, url)
    staging.add(outcome[0].path, outcome[1])


def _extract(archive: zipfile.ZipFile, member: ListedFile, staging: StagedTask, stop: threading.Event) -> FetchedFile:
    """Unpack a member into the temporary directory; `zipfile` checks the CRC-32. If `stop` is set, raise `Empty`."""
    place = staging.staged_path(member.path)
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f"{place.name}.partial")
    digest, size = hashlib.sha256(), 0
    try:
        with archive.open(member.entry) as source, partial.open("wb") as target:
            while chunk := source.read(CHUNK):
                if stop.is_set():
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
    if isinstance(error, (BadArchiveError, *DAMAGE)):
        remedy = "the same command fetches this file again; if that does not help, the archive is damaged"
        return UserError("damaged", file=url, found=printable(str(error))[:200], remedy=remedy)
    if isinstance(error, OSError):
        remedy = "the same command continues when there is space; finished files are kept"
        return UserError(
            "cannot be written", file=error.filename or staging.staged_path(""), found=error.strerror, remedy=remedy
        )
    return error
