"""A stand-in of the platform's API and storage: two HTTP servers on loopback.

They answer as revision c7dbc756 of codalab/codabench does; comments name its lines, below src/.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Handler, serving

TOKEN = "0123456789abcdef" * 2 + "deadbeef"
COMPETITION, PHASES = 12, {45: "Feedback", 46: "Final"}
SIGNATURE = "X-Amz-Signature=5ecret"


@dataclass
class Handed:
    """A submission on the platform: its owner, its file, its output, the file's date, and its state."""

    owner: str
    file: Path | None
    output: Path | None = None
    written: str = "Mon, 01 Feb 2027 12:00:00 GMT"
    status: str = "Finished"
    on_leaderboard: bool = False


@dataclass
class Served:
    """The settings of the servers, and the requests that they have received."""

    url: str = ""  #: of the API
    storage: str = ""
    submissions: dict[int, "Handed"] = field(default_factory=dict)  #: by number
    organiser: bool = True  #: whether the token is an organiser's
    ends: str = "2027-02-28T12:00:00Z"  #: end of the phase 45
    changed: dict[int, str] = field(default_factory=dict)  #: number of a score -> its new value
    statuses: list[int] = field(default_factory=list)  #: HTTP statuses of the next answers of the API
    stored: list[int] = field(default_factory=list)  #: and of the storage
    redirect_to: str | None = None  #: address to which the API redirects all requests
    text: str | None = None  #: the API's answer in place of JSON
    cut: bool = False  #: whether the storage closes connections in the middle of a file
    seen: list[tuple[str, str | None]] = field(default_factory=list)  #: path and `Authorization` of every request

    @property
    def page(self) -> str:
        return f"{self.url}/competitions/{COMPETITION}/#/phases-tab"

    def asked(self, part: str) -> int:
        return sum(part in path for path, _ in self.seen)


@contextmanager
def serve() -> Iterator[Served]:
    served = Served()
    with serving(_Api, served) as served.url, serving(_Storage, served, "localhost") as served.storage:
        yield served


class _Api(Handler):
    def do_GET(self) -> None:  # noqa: N802
        said = self.said
        said.seen.append((self.path, self.headers["Authorization"]))
        if said.statuses:
            return self.send(said.statuses.pop(0), b"<h1>Server Error</h1>")
        if said.redirect_to:
            return self.send(301, b"", Location=said.redirect_to + self.path)
        if said.text is not None:
            return self.send(200, said.text.encode())
        if self.headers["Authorization"] != f"Token {TOKEN}":  # (settings/base.py:289) 403: sessions come first
            return self.answer(403, {"detail": "Invalid token."})
        parts = urlsplit(self.path)
        if not parts.path.endswith("/"):  # Django's APPEND_SLASH
            return self.send(301, b"", Location=f"{parts.path}/")
        if parts.path == f"/api/competitions/{COMPETITION}/":
            dates = {"start": "2027-01-10T00:00:00Z", "end": said.ends}
            phases = [{"id": number, "name": name, "index": 0, **dates} for number, name in PHASES.items()]
            own = {"secret_key": None} if said.organiser else {}  # (api/serializers/competitions.py:451)
            return self.answer(200, {"id": COMPETITION, "title": "Which?", "phases": phases, **own})
        if parts.path == "/api/submissions/":
            return self.submissions(parse_qs(parts.query))
        return self.details(parts.path.split("/"))

    def do_PATCH(self) -> None:  # noqa: N802
        """Change a score, as an organiser may; scores have at most ten decimals (api/views/leaderboards.py:38)."""
        score = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["score"]
        assert self.headers["Authorization"] == f"Token {TOKEN}"
        self.said.changed[int(self.path.split("/")[3])] = score
        self.answer(200, {"score": score})

    def answer(self, status: int, content: Any) -> None:
        self.send(status, json.dumps(content).encode())

    def submissions(self, query: dict[str, list[str]]) -> None:
        """Answer with a list of all submissions, the newest first (api/views/submissions.py:29)."""
        assert query["phase"] == ["45"]
        found = [
            {
                "id": number, "owner": one.owner, "status": one.status, "phase": 45,
                "on_leaderboard": one.on_leaderboard,
                "scores": [
                    {"id": 10 * number + index, "index": index, "column_key": key, "score": "-1.0000000000"}
                    for index, key in enumerate(["complete", "final"] if one.status == "Finished" else [])
                ],
            }
            for number, one in sorted(self.said.submissions.items(), reverse=True)
        ]  # fmt: skip
        return self.answer(200, found)

    def details(self, parts: list[str]) -> None:
        """Answer with the addresses of a submission's files (api/views/submissions.py:474)."""
        if parts[2] != "submissions" or int(parts[3]) not in self.said.submissions:
            return self.answer(404, {"detail": "No such thing matches the given query."})
        one = self.said.submissions[int(parts[3])]
        files = {"data_file": one.file, "prediction_result": one.output}
        place = f"{self.said.storage}/private/{parts[3]}"
        urls = {name: file and f"{place}/{name}.zip?{SIGNATURE}" for name, file in files.items()}
        return self.answer(200, {"logs": [], "scoring_result": None, **urls})


class _Storage(Handler):
    def do_GET(self) -> None:  # noqa: N802
        said = self.said
        said.seen.append((self.path, self.headers["Authorization"]))
        parts = urlsplit(self.path)
        if said.stored:
            return self.send(said.stored.pop(0), b"<Error/>")
        if self.headers["Authorization"] is not None:  # as S3 does, beside a signature
            return self.send(400, b"<Error><Code>InvalidArgument</Code></Error>")
        if parts.query != SIGNATURE:
            return self.send(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        one = said.submissions[int(parts.path.split("/")[2])]
        file = one.file if parts.path.endswith("/data_file.zip") else one.output
        assert file is not None
        content = file.read_bytes()
        modified = {"Last-Modified": one.written}
        return self.send(200, content[: len(content) // 2] if said.cut else content, len(content), **modified)
