"""Tests of posting comments: the report may be forged, so GitHub's API says which pull request gets the comment."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.ci.comment import MARK, render
from harness.ci.post import AUTHOR, Github, PostError, find_links, main, post
from harness.ci.report import MAX_BYTES, ChangeReport, Line
from tests.ci.fake_github import RUN, START, FakeGithub, serve, zipped

HEAD = "a" * 40
LINKS = {"The job": "https://github.com/who/what/actions/runs/77"}
REPORT = ChangeReport(HEAD, "b" * 40, 2, (Line("mine", "submissions/mine.py", "new"),))


@pytest.fixture
def server() -> FakeGithub:
    return FakeGithub(HEAD, REPORT.to_json().encode())


@pytest.fixture
def address(server: FakeGithub) -> Iterator[str]:
    with serve(server) as address:
        yield address


@pytest.fixture
def api(address: str) -> Github:
    return Github(address, "who/what", "token")


def test_a_comment_on_the_pull_request_of_the_commit_and_the_token_goes_to_the_api_alone(server, api):
    assert post(api, RUN, HEAD, LINKS) == [7]
    assert [comment["body"] for comment in server.comments] == [render(REPORT, LINKS)]
    assert {asked[2] for asked in server.asked if asked[1].startswith(START)} == {"Bearer token"}
    assert [asked[2] for asked in server.asked if asked[1] == "/elsewhere"] == [None]


def test_a_comment_leads_to_the_job_and_to_the_published_page(server, api):
    assert list(find_links(api, "https://job.example").values()) == ["https://job.example"]
    server.page = "https://board.example/"
    assert list(find_links(api, "https://job.example").values()) == ["https://job.example", "https://board.example/"]
    assert "](https://board.example/)\n" in render(REPORT, find_links(api, "https://job.example"))


def test_the_next_comment_replaces_the_own_earlier_one(server, api):
    others = [{"id": number, "user": {"login": "else"}, "body": MARK} for number in range(120)]
    server.comments = [*others, {"id": 500, "user": {"login": AUTHOR}, "body": "of another job"}]
    post(api, RUN, HEAD, LINKS)
    server.artifact = zipped(replace(REPORT, broken=("too low",)).to_json().encode())
    post(api, RUN, HEAD, LINKS)
    assert len(server.comments) == 122
    assert "`too low`" in server.comments[-1]["body"]
    assert [comment["body"] for comment in server.comments[:120]] == [MARK] * 120


def test_a_comment_of_a_deleted_account_does_not_hide_the_own_one(server, api):
    server.comments = [{"id": 1, "user": None, "body": MARK}]
    post(api, RUN, HEAD, LINKS)
    post(api, RUN, HEAD, LINKS)
    assert [comment["body"] for comment in server.comments] == [MARK, render(REPORT, LINKS)]


@pytest.mark.parametrize(
    ("artifact", "problem"),
    [
        (b"no zip", "the artifact is not a zip with report.json"),
        (zipped(b"{}", "other.json"), "the artifact is not a zip with report.json"),
        (zipped(b"{}"), "expected a report of format 7"),
        (zipped(b" " * (MAX_BYTES + 1)), f"expected at most {MAX_BYTES} bytes"),
        (zipped(replace(REPORT, head="c" * 40).to_json().encode()), "found one of another commit"),
        (None, "expected an artifact of at most"),
    ],
)
def test_what_is_no_report_of_the_commit_is_not_posted(server, api, artifact, problem):
    """A large artifact is not even downloaded."""
    server.artifact, server.size = artifact, 100 if artifact else MAX_BYTES + 1
    with pytest.raises(PostError, match=problem):
        post(api, RUN, HEAD, LINKS)
    assert server.comments == []
    assert artifact or not any(asked[1].endswith("/zip") for asked in server.asked)


def test_the_variables_of_the_job(server, address, monkeypatch, capsys):
    variables = {"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "who/what", "GITHUB_TOKEN": "t", "RUN_ID": RUN}
    variables["GITHUB_SERVER_URL"] = "https://github.com"
    for name, value in (variables | {"HEAD_SHA": HEAD}).items():
        monkeypatch.setenv(name, value)
    assert main() == 0
    assert capsys.readouterr().out == "commented on: 7\n"
    assert f"(https://github.com/who/what/actions/runs/{RUN})" in server.comments[0]["body"]
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
