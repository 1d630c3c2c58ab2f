"""Writes the comment on a pull request, from the report that the pull request's job left as an artifact.

This module runs in a separate job, which may write comments and runs no code of the pull request. The artifact may be
forged: its size and content are checked, and GitHub tells to which pull request it belongs. Only the standard library
is imported: `python3 -m harness.ci.post` needs no installation.
"""

import io
import json
import os
import re
import sys
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

from harness.ci.comment import MARK, render
from harness.ci.report import MAX_BYTES, ChangeReport, ReportError
from harness.parsing import parse_json
from harness.text import printable

#: Name of the artifact, and name of the report in the artifact.
ARTIFACT, FILE = "leaderboard-report", "report.json"

#: GitHub's name for the author of comments that a workflow writes.
AUTHOR = "github-actions[bot]"

#: For GitHub's API: number of entries per page; maximum numbers of pages, of bytes per answer, of seconds to wait.
PER_PAGE, MAX_PAGES, MAX_ANSWER, SILENCE_S = 100, 20, 16 * 1024**2, 60


class PostError(Exception):
    """The comment cannot be written. The message is one line."""


class Github:
    """GitHub's API for a repository. If a request fails, every method raises `PostError`."""

    def __init__(self, api: str, repository: str, token: str) -> None:
        self._start, self._token = f"{api}/repos/{repository}/", token

    def call(self, method: str, path: str, content: Any = None) -> bytes:
        """Send a request with `content` as JSON, and return the body of the answer."""
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(self._start + path, data=data, method=method)  # noqa: S310 - GitHub's own
        request.add_header("Accept", "application/vnd.github+json")
        # The token is not sent to redirected addresses: artifacts are stored elsewhere.
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=SILENCE_S) as answer:  # noqa: S310
                body: bytes = answer.read(MAX_ANSWER + 1)
        except (OSError, ValueError) as error:
            raise PostError(f"{method} {path}: {printable(str(error))}") from error
        if len(body) > MAX_ANSWER:
            raise PostError(f"{method} {path}: the answer is larger than {MAX_ANSWER // 1024**2} MiB")
        return body

    def page(self) -> str:
        """Return the address of the repository's published page; "" if it has none."""
        try:
            return str(parse_json(self.call("GET", "pages"))["html_url"])
        except PostError as error:
            if isinstance(error.__cause__, HTTPError) and error.__cause__.code == HTTPStatus.NOT_FOUND:
                return ""
            raise
        except (ValueError, LookupError, TypeError) as error:
            raise PostError("GET pages: not an answer of GitHub's API") from error

    def list(self, path: str, key: str | None = None, **query: str) -> Iterator[Any]:
        """Yield the entries of a list, page by page. If a page is an object, `key` is its field with the entries."""
        for page in range(1, MAX_PAGES + 1):
            parameters = urlencode(query | {"per_page": PER_PAGE, "page": page})
            try:
                answer = parse_json(self.call("GET", f"{path}?{parameters}"))
                entries = answer if key is None else answer[key]
            except (ValueError, LookupError, TypeError) as error:
                raise PostError(f"GET {path}: not an answer of GitHub's API") from error
            yield from entries
            if len(entries) < PER_PAGE:
                return


def find_links(github: Github, job: str) -> dict[str, str]:
    """Return text -> address, for links to the job and to the published board if it exists."""
    page = github.page()
    return {"The board with this change, a file of the job": job} | ({"The published board": page} if page else {})


def post(github: Github, run: str, head: str, links: Mapping[str, str]) -> list[int]:
    """Comment on the open pull requests whose newest commit is `head`, and return their numbers.

    The comment shows the report of the job `run`, and `links` (text -> address). It replaces an earlier comment.
    """
    report = _report(github, run)
    if report.head != head:
        raise PostError(f"expected a report of {head}, found one of another commit")
    comment = {"body": render(report, links)}
    numbers = [pull["number"] for pull in github.list("pulls", state="open") if pull["head"]["sha"] == head]
    for number in numbers:
        own = (one["id"] for one in github.list(f"issues/{number}/comments") if _is_own(one))
        if (known := next(own, None)) is not None:
            github.call("PATCH", f"issues/comments/{known}", comment)
        else:
            github.call("POST", f"issues/{number}/comments", comment)
    return numbers


def _is_own(comment: Any) -> bool:
    author = comment["user"] or {}  # null: the account has been deleted
    return bool(author.get("login") == AUTHOR and comment["body"].startswith(MARK))


def _report(github: Github, run: str) -> ChangeReport:
    found = [
        one for one in github.list(f"actions/runs/{run}/artifacts", "artifacts", name=ARTIFACT) if not one["expired"]
    ]
    if not found:
        raise PostError(f"the run has no artifact {ARTIFACT}")
    newest = max(found, key=lambda one: one["id"])
    if newest["size_in_bytes"] > MAX_BYTES:
        raise PostError(f"expected an artifact of at most {MAX_BYTES} bytes, found {newest['size_in_bytes']}")
    content = github.call("GET", f"actions/artifacts/{newest['id']}/zip")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(FILE) as file:
            return ChangeReport.parse(file.read(MAX_BYTES + 1))
    except ReportError as error:
        raise PostError(f"{FILE}: {error}") from error
    except Exception as error:  # decoders may raise any error on a damaged zip
        raise PostError(f"the artifact is not a zip with {FILE}") from error


def main() -> int:
    """Post the comment for the job in the variables RUN_ID and HEAD_SHA, and return the exit code."""
    run, head = os.environ["RUN_ID"], os.environ["HEAD_SHA"]
    if not (run.isdecimal() and re.fullmatch("[0-9a-f]{40,64}", head)):
        print("harness.ci.post: expected a number in RUN_ID, and a commit in HEAD_SHA", file=sys.stderr)
        return 2
    token = os.environ["GITHUB_TOKEN"]
    if not re.fullmatch("[!-~]+", token):  # otherwise the message of Python's library would repeat the token
        print("harness.ci.post: expected a token without spaces in GITHUB_TOKEN", file=sys.stderr)
        return 2
    repository = os.environ["GITHUB_REPOSITORY"]
    job = f"{os.environ['GITHUB_SERVER_URL']}/{repository}/actions/runs/{run}"
    github = Github(os.environ["GITHUB_API_URL"], repository, token)
    try:
        numbers = post(github, run, head, find_links(github, job))
    except PostError as error:
        print(f"harness.ci.post: {error}", file=sys.stderr)
        return 1
    print(f"commented on: {', '.join(map(str, numbers)) or 'no open pull request has this commit'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
