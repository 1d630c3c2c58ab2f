"""An archive of tasks, which is read in parts from its server or downloaded as a whole."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from harness.credentials import Address
from harness.digest import digest_of
from harness.errors import UserError
from harness.fetch.catalogue import WantedTasks
from harness.fetch.listing import MAX_ARCHIVE, MAX_LIST, ListedFile, Listing, read_listing
from harness.fetch.remote import RemoteFile, fetch_file, find_remote
from harness.fetch.session import MOVED
from harness.fetch.staging import require_space
from harness.format.archive import Pieces
from harness.format.fetched import FETCHING
from harness.reading import open_regular, read_text

#: Maximum size in bytes of the file in which an ETag is kept.
MAX_ETAG = 1024


class Watcher:
    """Receives the progress of a download, and ignores it; subclasses show it."""

    def begin(self, what: str, total: int) -> None:
        """Begin a download with a name, and with its number of bytes; 0 if the number is not known."""

    def seen(self, number: int) -> None:
        """Note that `number` more bytes have arrived. Any thread may call this."""

    def note(self, line: str) -> None:
        """Show a line to the user."""


@dataclass(frozen=True)
class ArchiveSource:
    """An archive on a server, or a downloaded copy."""

    url: Address
    length: int  #: size in bytes
    etag: str | None  #: the server's tag of this version
    listing: Listing
    file: RemoteFile | Path  #: the archive on its server, or a downloaded copy
    is_pinned: bool  #: whether the catalogue states the digest of the archive's list of files

    def open(self, seen: Callable[[int], None]) -> IO[bytes]:
        """Open the archive for one thread. `seen` is called with the number of bytes of each piece that arrives."""
        if isinstance(self.file, Path):
            return Pieces(open_regular(self.file, links=True), MAX_LIST)
        return cast(IO[bytes], self.file.open(seen))

    def travelling(self, members: Iterable[ListedFile]) -> int:
        """Return the number of bytes to download for `members`; 0 if the archive has been downloaded."""
        return 0 if isinstance(self.file, Path) else sum(map(self.listing.span, members))

    def discard(self) -> None:
        """Remove the downloaded copy, if there is one."""
        if isinstance(self.file, Path):
            self.file.unlink()
            _etag_file(self.file).unlink(missing_ok=True)


def find_source(
    wanted: WantedTasks, root: Path, begin: Callable[[], None], watcher: Watcher, *, whole: bool
) -> ArchiveSource:
    """Return the archive of the wanted tasks; with `whole`, first download it below `root`.

    `begin` is called before the download of a whole archive. Raises `UserError` if the archive cannot be downloaded, is
    damaged, or has another digest than in the catalogue.
    """
    archive, tasks = wanted.archive, [task.name for task in wanted.tasks]
    url, is_pinned = archive.url, archive.sha256 is not None
    if whole:
        here, etag = _fetch_whole(wanted, root, begin, watcher)
        try:
            with Pieces(open_regular(here, links=True), MAX_LIST) as local:
                listing = read_listing(local, tasks, url)
        except UserError:
            here.unlink()  # then the next command downloads it again
            raise
        source = ArchiveSource(url, here.stat().st_size, etag, listing, here, is_pinned)
    else:
        remote = find_remote(url)
        with cast(IO[bytes], remote.open()) as parts:
            listing = read_listing(parts, tasks, url)
        file = remote.within(listing.boundaries)
        source = ArchiveSource(url, remote.length, remote.etag, listing, file, is_pinned)
    if is_pinned and archive.sha256 != listing.sha256:
        source.discard()
        what = "another archive than the catalogue says: SHA-256 of its directory"
        raise UserError(what, file=url, expected=archive.sha256, found=listing.sha256)
    return source


def _fetch_whole(
    wanted: WantedTasks, root: Path, begin: Callable[[], None], watcher: Watcher
) -> tuple[Path, str | None]:
    """Download a whole archive, unless an interrupted command has left it. Return its path and ETag.

    The file name is a digest of the address without its secrets, because a digest would help to guess a password.
    """
    archive = wanted.archive
    name = digest_of([(f"{wanted.corpus.name}/{archive.phase}", str(archive.url).encode())])
    here = root / FETCHING / f"{name[:16]}.zip"

    def travels(length: int) -> None:
        require_space(root, length)
        begin()
        watcher.begin("fetching the archive", length)

    if not here.exists():
        _etag_file(here).unlink(missing_ok=True)
        etag = fetch_file(archive.url, here, most=MAX_ARCHIVE, moved=MOVED, begin=travels, seen=watcher.seen).etag
        if etag is not None:
            _etag_file(here).write_bytes(etag.encode())
    return here, read_text(_etag_file(here), MAX_ETAG) if _etag_file(here).exists() else None


def _etag_file(archive: Path) -> Path:
    return archive.with_suffix(".etag")
