"""A local server with the part of GitHub's API that `pgdl` uses for comments."""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.ci.post import AUTHOR
from tests.loopback import Handler, serving

RUN = "77"
START = "/api/repos/who/what/"


def zipped(content: bytes, name: str = "report.json") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


class FakeGithub:
    """A fake of GitHub with the repository who/what and a pull request, whose job has left a report as an artifact."""

    def __init__(self, head: str, report: bytes, page: str = "") -> None:
        self.artifact, self.page = zipped(report), page
        others = [{"number": number, "head": {"sha": "c" * 40}} for number in range(150)]
        self.pulls = [*others, {"number": 7, "head": {"sha": head}}]
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, str | None]] = []
        self.size, self.address = 100, ""

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Return the answer to a request, or None if the path does not exist."""
        path, _, query = path.removeprefix(START).partition("?")
        page = int(query.rpartition("page=")[2] or 1)
        entry = slice(100 * (page - 1), 100 * page)
        if path == f"actions/runs/{RUN}/artifacts":
            old = {"id": 1, "expired": True, "size_in_bytes": 1}
            return {"artifacts": [old, {"id": 5, "expired": False, "size_in_bytes": self.size}]}
        if path == "pages":
            return {"html_url": self.page} if self.page else None
        if path == "pulls":
            return self.pulls[entry]
        if method == "GET":
            return self.comments[entry]
        if method == "POST":
            self.comments.append({"id": 900, "user": {"login": AUTHOR}, "body": body["body"]})
        else:
            (changed,) = [one for one in self.comments if path.endswith(f"/{one['id']}")]
            changed["body"] = body["body"]
        return {}


class _Handler(Handler):
    said: FakeGithub

    def do_GET(self) -> None:  # noqa: N802
        self.said.asked.append((self.command, self.path, self.headers.get("Authorization")))
        if self.path.endswith("/zip"):
            port = self.server.server_port  # type: ignore[attr-defined]
            return self.send(302, Location=f"http://localhost:{port}/elsewhere")
        if self.path == "/elsewhere":
            return self.send(200, self.said.artifact)
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        found = self.said.answer(self.command, self.path, body)
        return self.send(404 if found is None else 200, json.dumps(found).encode())

    do_POST = do_PATCH = do_GET  # noqa: N815


@contextmanager
def serve(github: FakeGithub) -> Iterator[str]:
    with serving(_Handler, github) as address:
        yield f"{address}/api"
