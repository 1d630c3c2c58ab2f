"""A local server with the part of GitHub's API that `pgdl` uses for comments."""

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.ci.post import AUTHOR

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
        self.size = 100

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


@contextmanager
def serve(github: FakeGithub) -> Iterator[str]:
    """Serve the API, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            github.asked.append((self.command, self.path, self.headers.get("Authorization")))
            if self.path.endswith("/zip"):
                self.send_response(302)
                self.send_header("Location", f"http://localhost:{self.server.server_port}/elsewhere")  # type: ignore[attr-defined]
                self.end_headers()
                return
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            elsewhere = self.path == "/elsewhere"
            found = github.artifact if elsewhere else github.answer(self.command, self.path, body)
            self.send_response(404 if found is None else 200)
            self.end_headers()
            self.wfile.write(found if elsewhere else json.dumps(found).encode())

        do_POST = do_PATCH = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()
