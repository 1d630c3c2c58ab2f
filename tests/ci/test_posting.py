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
def server() -> Iterator[FakeGithub]:
    github = FakeGithub(HEAD, REPORT.to_json().encode())
    with serve(github) as github.address:
        yield github


@pytest.fixture
def api(server: FakeGithub) -> Github:
    return Github(server.address, "who/what", "token")


def bodies(server):
    return [comment["body"] for comment in server.comments]


def test_a_comment_on_the_pull_request_of_the_commit_and_the_token_goes_to_the_api_alone(server, api):
    assert post(api, RUN, HEAD, LINKS) == [7]
    assert bodies(server) == [render(REPORT, LINKS)]
    assert {asked[2] for asked in server.asked if asked[1].startswith(START)} == {"Bearer token"}
    assert [asked[2] for asked in server.asked if asked[1] == "/elsewhere"] == [None]


def test_a_comment_leads_to_the_job_and_to_the_published_page(server, api):
    job, server.page = "https://job.example", "https://board.example/"
    assert list(find_links(api, job).values()) == [job, server.page]
    assert "](https://board.example/)\n" in render(REPORT, find_links(api, job))
    server.page = ""
    assert list(find_links(api, job).values()) == [job]


def test_the_next_comment_replaces_the_own_earlier_one_also_beside_those_of_a_deleted_account(server, api):
    others = [{"id": number, "user": {"login": "else"} if number else None, "body": MARK} for number in range(120)]
    server.comments = [*others, {"id": 500, "user": {"login": AUTHOR}, "body": "of another job"}]
    post(api, RUN, HEAD, LINKS)
    server.artifact = zipped(replace(REPORT, broken=("too low",)).to_json().encode())
    post(api, RUN, HEAD, LINKS)
    *earlier, of_other_job, own = bodies(server)
    assert (earlier, of_other_job, "`too low`" in own) == ([MARK] * 120, "of another job", True)


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


def test_the_variables_of_the_job(server, monkeypatch, capsys):
    for name, value in {
        "GITHUB_API_URL": server.address, "GITHUB_REPOSITORY": "who/what", "GITHUB_TOKEN": "t", "RUN_ID": RUN,
        "GITHUB_SERVER_URL": "https://github.com", "HEAD_SHA": HEAD,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert main() == 0
    assert capsys.readouterr().out == "commented on: 7\n"
    assert f"(https://github.com/who/what/actions/runs/{RUN})" in server.comments[0]["body"]
    server.artifact = b""
    assert main() == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    for token in ("two\nlines", "not ASCII: \u00e9", ""):  # is not repeated
        monkeypatch.setenv("GITHUB_TOKEN", token)
        assert main() == 2
        assert capsys.readouterr().err == "harness.ci.post: expected a token without spaces in GITHUB_TOKEN\n"
    monkeypatch.setenv("GITHUB_TOKEN", "t")
    monkeypatch.setenv("HEAD_SHA", "../../x")
    assert main() == 2
