"""An archive to take members from: on its server in parts, or here as a whole."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import requests

from harness.errors import UserError, writing
from harness.fetch.catalogue import Archive, Wanted
from harness.fetch.listing import Listing, Member, read_listing
from harness.fetch.members import MAX_ARCHIVE
from harness.fetch.ranges import TIMEOUTS_S, require_encrypted
from harness.fetch.remote import CHUNK, RemoteFile, find_remote
from harness.fetch.staging import require_space
from harness.fetch.troubles import connection_error, response_error
from harness.fetch.watcher import Watcher
from harness.format.fetched import FETCHING


@dataclass(frozen=True)
class Source:
    """An archive: its size in bytes, what its server calls this version, and its members.

    `file` is where it is read: on its server, or here. `is_pinned` says whether the catalogue knows its digest.
    """

    url: str
    length: int
    etag: str | None
    listing: Listing
    file: RemoteFile | Path
    is_pinned: bool

    def open(self, seen: Callable[[int], None]) -> IO[bytes]:
        """Return a reader of the archive, for one thread; `seen` is told the number of bytes as they travel."""
        if isinstance(self.file, Path):
            return self.file.open("rb")
        return cast(IO[bytes], self.file.open(seen))

    def travelling(self, members: Iterable[Member]) -> int:
        """Return the number of bytes that travel for some members."""
        return 0 if isinstance(self.file, Path) else sum(map(self.listing.span, members))

    @property
    def version(self) -> str:
        """What tells this archive from another one at the same address."""
        return f"{self.length} bytes, ETag {self.etag or 'none'}, SHA-256 of its directory {self.listing.sha256}"

    def discard(self) -> None:
        """Remove the file of an archive that was fetched as a whole."""
        if isinstance(self.file, Path):
            self.file.unlink()


def find_source(wanted: Wanted, root: Path, watcher: Watcher, *, whole: bool) -> Source:
    """Return the archive of some tasks; the whole of it is fetched first if `whole`, into the directory of the tasks.

    Raises:
        UserError: it cannot be fetched, is damaged, or is another one than the catalogue says.
    """
    archive, tasks = wanted.archive, [task.name for task in wanted.tasks]
    is_pinned = archive.sha256 is not None
    if whole:
        here = _fetch_whole(archive, root, watcher)
        try:
            with here.open("rb") as local:
                listing = read_listing(local, tasks, archive.url)
        except UserError:
            here.unlink()  # the next command fetches it again
            raise
        source = Source(archive.url, here.stat().st_size, None, listing, here, is_pinned)
    else:
        remote = find_remote(archive.url)
        with cast(IO[bytes], remote.open()) as parts:
            listing = read_listing(parts, tasks, archive.url)
        file = remote.within(listing.boundaries)
        source = Source(archive.url, remote.length, remote.etag, listing, file, is_pinned)
    if is_pinned and archive.sha256 != listing.sha256:
        source.discard()
        what = "another archive than the catalogue says: SHA-256 of its directory"
        raise UserError(what, file=archive.url, expected=archive.sha256, found=listing.sha256)
    return source


def _fetch_whole(archive: Archive, root: Path, watcher: Watcher) -> Path:
    """Return the file of a whole archive, which is fetched unless it is here since an interrupted command."""
    here = root / FETCHING / f"{hashlib.sha256(archive.url.encode()).hexdigest()[:16]}.zip"
    if here.exists():
        return here
    partial = here.with_suffix(".partial")
    try:
        with requests.get(archive.url, stream=True, timeout=TIMEOUTS_S, headers={"Accept-Encoding": "identity"}) as got:
            require_encrypted(archive.url, got)
            if got.status_code != requests.codes.ok:
                raise response_error(archive.url, got)
            length = int(got.headers.get("Content-Length") or 0)
            require_space(root, length)
            watcher.begin("fetching the archive", length)
            with writing(partial, remedy="free some space"), partial.open("wb") as file:
                size = _copy(got, file, watcher)
    except requests.RequestException as error:
        raise connection_error(archive.url, error) from error
    if length not in (0, size):
        raise UserError("cut off", file=archive.url, expected=f"{length} bytes", found=size, remedy="try again")
    return partial.rename(here)


def _copy(response: requests.Response, file: IO[bytes], watcher: Watcher) -> int:
    size = 0
    for chunk in response.iter_content(CHUNK):
        size += len(chunk)
        if size > MAX_ARCHIVE:
            raise UserError("too large", file=response.url, expected=f"at most {MAX_ARCHIVE / 1024**3:g} GiB")
        file.write(chunk)
        watcher.seen(len(chunk))
    return size
