"""An HTTP server on loopback that serves files in parts, as a store of archives does, and fails on request."""

import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.loopback import Handler, serving


@dataclass
class Served:
    """The behaviour of a server."""

    directory: Path  #: with the files
    url: str = ""
    etag: str | None = '"1"'  #: tag of all files, or None for no tag
    cut_every: int | None = None  #: bytes after which a connection ends, or None for never
    stall_s: float = 0  #: seconds of silence before each answer except the first
    ranges: bool = True  #: whether parts of files are sent
    redirect_to: str | None = None  #: address to which all requests are redirected
    headers: dict[str, str] = field(default_factory=dict)  #: of every answer, in place of the right headers
    asked: int = 0  #: number of requests
    statuses: list[int] = field(default_factory=list)  #: of the next answers, which have no content
    hits: list[str | None] = field(default_factory=list)  #: `Range` of every request that was answered with content
    sent: int = 0  #: number of sent bytes


@contextmanager
def serve(directory: Path, context: ssl.SSLContext | None = None) -> Iterator[Served]:
    """Serve a directory, with encryption if there is a TLS context; yield the server's behaviour, which can change."""
    served = Served(directory)
    with serving(_Handler, served, context=context) as served.url:
        yield served


class _Handler(Handler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802
        self.said.asked += 1
        if self.said.statuses:
            return self.send(self.said.statuses.pop(0), **self.said.headers)
        if self.said.redirect_to:
            return self.send(302, **{"Location": self.said.redirect_to + self.path} | self.said.headers)
        if self.said.hits and self.said.stall_s:
            time.sleep(self.said.stall_s)
        file = self.said.directory / self.path.lstrip("/").partition("?")[0]
        if not file.is_file():
            return self.send(404, **self.said.headers)
        size = file.stat().st_size
        wanted = self.headers.get("Range")
        self.said.hits.append(wanted)
        first, last = 0, size - 1
        headers = {"ETag": self.said.etag} if self.said.etag else {}
        if wanted and self.said.ranges:
            match = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)
            assert match
            first = int(match[1]) if match[1] else max(size - int(match[2]), 0)
            last = min(int(match[2]), size - 1) if match[1] else size - 1
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        self._send(206 if "Content-Range" in headers else 200, headers, file, first, last - first + 1)
        return None

    def _send(self, status: int, headers: dict[str, str], file: Path, first: int, length: int) -> None:
        cut = self.said.cut_every
        with file.open("rb") as stream:
            stream.seek(first)
            content = stream.read(length if cut is None else min(cut, length))
        self.said.sent += len(content)
        self.send(status, content, length, **headers | self.said.headers)
        if len(content) < length:
            self.close_connection = True
