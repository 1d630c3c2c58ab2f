"""The comment on a pull request is posted from an artifact that may be forged, to where GitHub says it belongs."""

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness.ci.comment import MARK, render
from harness.ci.post import AUTHOR, Github, PostError, main, post
from harness.ci.report import MAX_BYTES, ChangeReport, Line

HEAD, RUN = "a" * 40, "77"
REPORT = ChangeReport(HEAD, "b" * 40, 2, (Line("mine", "submissions/mine.py", "new"),))
START = "/api/repos/who/what/"


def zipped(content: bytes, name: str = "report.json") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


class FakeGithub:
    """A server with the part of GitHub's API that the job uses, and a store of artifacts elsewhere."""

    def __init__(self) -> None:
        self.artifact = zipped(REPORT.to_json().encode())
        self.pulls = [{"number": number, "head": {"sha": "c" * 40}} for number in range(150)]
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, str | None]] = []
        self.size = 100

    def answer(self, method: str, path: str, body: Any) -> Any:
        path, _, query = path.removeprefix(START).partition("?")
        page = int(query.rpartition("page=")[2] or 1)
        entry = slice(100 * (page - 1), 100 * page)
        if path == f"actions/runs/{RUN}/artifacts":
            old = {"id": 1, "expired": True, "size_in_bytes": 1}
            return {"artifacts": [old, {"id": 5, "expired": False, "size_in_bytes": self.size}]}
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


@pytest.fixture
def fake() -> Iterator[tuple[FakeGithub, str]]:
    """The server, and the address of its API."""
    github = FakeGithub()

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
            content = (
                github.artifact if elsewhere else json.dumps(github.answer(self.command, self.path, body)).encode()
            )
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PATCH = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield github, f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()


@pytest.fixture
def server(fake):
    return fake[0]


@pytest.fixture
def api(fake):
    return Github(fake[1], "who/what", "token")


def test_a_comment_on_the_pull_request_of_the_commit(server, api):
    server.pulls += [{"number": 7, "head": {"sha": HEAD}}]
    assert post(api, RUN, HEAD) == [7]
    assert [comment["body"] for comment in server.comments] == [render(REPORT)]


def test_the_next_comment_replaces_the_own_earlier_one(server, api):
    server.pulls = [{"number": 7, "head": {"sha": HEAD}}]
    others = [{"id": number, "user": {"login": "else"}, "body": MARK} for number in range(120)]
    server.comments = [*others, {"id": 500, "user": {"login": AUTHOR}, "body": "of another job"}]
    post(api, RUN, HEAD)
    server.artifact = zipped(replace(REPORT, broken=("too low",)).to_json().encode())
    post(api, RUN, HEAD)
    assert len(server.comments) == 122
    assert "`too low`" in server.comments[-1]["body"]
    assert [comment["body"] for comment in server.comments[:120]] == [MARK] * 120


def test_a_comment_of_a_deleted_account_does_not_hide_the_own_one(server, api):
    server.pulls = [{"number": 7, "head": {"sha": HEAD}}]
    server.comments = [{"id": 1, "user": None, "body": MARK}]
    post(api, RUN, HEAD)
    post(api, RUN, HEAD)
    assert [comment["body"] for comment in server.comments] == [MARK, render(REPORT)]


def test_the_token_goes_to_the_api_alone(server, api):
    server.pulls = [{"number": 7, "head": {"sha": HEAD}}]
    post(api, RUN, HEAD)
    assert {asked[2] for asked in server.asked if asked[1].startswith(START)} == {"Bearer token"}
    assert [asked[2] for asked in server.asked if asked[1] == "/elsewhere"] == [None]


@pytest.mark.parametrize(
    ("artifact", "problem"),
    [
        (b"no zip", "the artifact is not a zip with report.json"),
        (zipped(b"{}", "other.json"), "the artifact is not a zip with report.json"),
        (zipped(b"{}"), "expected a report of format 4"),
        (zipped(b" " * (100 * MAX_BYTES)), f"expected at most {MAX_BYTES} bytes"),
        (zipped(replace(REPORT, head="c" * 40).to_json().encode()), "found one of another commit"),
    ],
)
def test_what_is_no_report_of_the_commit_is_not_posted(server, api, artifact, problem):
    server.artifact, server.pulls = artifact, [{"number": 7, "head": {"sha": HEAD}}]
    with pytest.raises(PostError, match=problem):
        post(api, RUN, HEAD)
    assert server.comments == []


def test_a_large_artifact_is_not_downloaded(server, api):
    server.size = MAX_BYTES + 1
    with pytest.raises(PostError, match="expected an artifact of at most"):
        post(api, RUN, HEAD)
    assert not any(asked[1].endswith("/zip") for asked in server.asked)


def test_the_variables_of_the_job(fake, monkeypatch, capsys):
    server, address = fake
    server.pulls = [{"number": 7, "head": {"sha": HEAD}}]
    variables = {"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "who/what", "GITHUB_TOKEN": "t", "RUN_ID": RUN}
    for name, value in (variables | {"HEAD_SHA": HEAD}).items():
        monkeypatch.setenv(name, value)
    assert main() == 0
    assert capsys.readouterr().out == "commented on: 7\n"
    server.artifact = b""
    assert main() == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    monkeypatch.setenv("HEAD_SHA", "../../x")
    assert main() == 2


@pytest.mark.parametrize("token", ["two\nlines", "not ASCII: \u00e9", ""])
def test_a_token_that_cannot_be_sent_is_not_repeated(monkeypatch, capsys, token):
    variables = {"RUN_ID": RUN, "HEAD_SHA": HEAD, "GITHUB_API_URL": "http://127.0.0.1:1", "GITHUB_REPOSITORY": "a/b"}
    for name, value in {**variables, "GITHUB_TOKEN": token}.items():
        monkeypatch.setenv(name, value)
    assert main() == 2
    assert capsys.readouterr().err == "harness.ci.post: expected a token without spaces in GITHUB_TOKEN\n"
