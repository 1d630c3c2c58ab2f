"""The API of Codabench. Comments name files and lines of revision c7dbc756 of codalab/codabench, below src/."""

import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from harness.codabench.competition import position_of
from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.session import CONTINUE, PASSING, TIMEOUTS_S, Session, origin, persistently, require_ready
from harness.parsing import parse_json
from harness.reading import read_text
from harness.text import printable
from harness.validation import first_problem

Answer = TypeVar("Answer")

VARIABLE = "CODABENCH_TOKEN"  #: environment variable with the token
MAX_TOKEN, MAX_ANSWER = 64 * 1024, 256 * 1024**2  #: maximum size of the file with the token, and of an answer, in bytes
LOCAL = ("localhost", "127.0.0.1", "::1")  #: hosts that need no encryption, since requests stay on this machine
HELP = "pgdl help codabench says how to get a token"  #: remedy for a missing or refused token
UNEXPECTED = "not an answer of Codabench's API"

#: The address of a competition's page: its form, for messages, and its pattern.
PAGE = "https://www.codabench.org/competitions/ID/"
_PAGE = re.compile(r"(https?://[^/?#@\s]+)/competitions/(\d{1,18})(?:[/?#].*)?")

FINISHED = "Finished"  #: status of a submission that has a score (apps/competitions/models.py:431)


def read_token(file: Path | None) -> str:
    """Return the token in a file, or in the environment if `file` is None. Raise `UserError` if there is no token."""
    source = file or VARIABLE
    token = (os.environ.get(VARIABLE, "") if file is None else read_text(file, MAX_TOKEN)).strip()
    if not token:
        remedy = f"set {VARIABLE}, or name a file with --token-file; {HELP}"
        raise UserError("no token of the platform", file=source, remedy=remedy)
    if not re.fullmatch(r"[!-~]{1,200}", token):
        raise UserError("not a token", file=source, expected="up to 200 ASCII characters without a space", remedy=HELP)
    return token


class Platform:
    """The API of a Codabench site, such as https://www.codabench.org. The token is sent to no other host."""

    def __init__(self, address: str, token: str, readable: Collection[str] = ()) -> None:
        self._readable = {*LOCAL, *readable}
        self.require_encryption(address)
        parts = urlsplit(address)
        self.address = address
        self._token = token
        self._session = Session()
        self._session.trust_env = parts.scheme == "https"  # a proxy would see unencrypted requests
        self._session.auth = self._authorized  # a header would be replaced by an entry of ~/.netrc

    def get(self, path: str, kind: type[Answer]) -> Answer:
        """Return the answer at a path below /api/ as a checked object of `kind`. Raise `UserError` on failure."""
        url = self.url_of(path)
        try:
            return TypeAdapter(kind).validate_python(self._ask("GET", url))
        except ValidationError as error:
            problem = first_problem(error)
            what = ": ".join(filter(None, [UNEXPECTED, problem.key]))
            raise UserError(what, file=url, expected=problem.expected, found=problem.found) from error

    def patch(self, path: str, content: Mapping[str, object]) -> None:
        """Change the object at a path below /api/. Raise `UserError` on failure."""
        self._ask("PATCH", self.url_of(path), content)

    def require_encryption(self, address: str) -> None:
        """Raise `UserError` for an unencrypted address, unless its host is in `LOCAL`, or the user allows it."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https"):
            raise UserError("not an address on the web", file=origin(address), expected="https")
        if parts.scheme == "http" and parts.hostname not in self._readable:
            remedy = f"--allow-http {parts.hostname} allows it, and then others may read the token or the files"
            raise UserError("not encrypted", file=origin(address), expected="https", remedy=remedy)

    def url_of(self, path: str) -> Address:
        """Return the address of a path below /api/."""
        return Address(f"{self.address}/api/{path}".replace("@", "%40"), self.address)

    def _authorized(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Token {self._token}"  # (settings/base.py:291)
        return request

    def _ask(self, method: str, url: Address, content: Mapping[str, object] | None = None) -> Any:
        body = persistently(lambda: self._body(method, url, content), url, *PASSING)
        try:
            return parse_json(body)
        except ValueError as error:
            raise UserError(UNEXPECTED, file=url) from error

    def _body(self, method: str, url: Address, content: Mapping[str, object] | None) -> bytes:
        options = {"headers": {"Accept": "application/json"}, "stream": True, "timeout": TIMEOUTS_S}
        with self._session.request(method, url.reveal(), json=content, **options) as response:
            require_ready(response)
            if response.is_redirect:
                remedy = "the token is not sent there; name the address that the platform has now"
                found = origin(response.headers["Location"])
                raise UserError("redirects to another server", file=url, found=found, remedy=remedy)
            body = b""
            for chunk in response.iter_content(1 << 20):
                body += chunk
                if len(body) > MAX_ANSWER:
                    raise UserError("the answer is too large", file=url, expected=f"at most {MAX_ANSWER} bytes")
            if self._token.encode() in body:
                raise UserError("repeats the token in its answer", file=url)
            if response.status_code != requests.codes.ok:
                raise self._refused(url, response, body)
            return body

    def _refused(self, url: Address, response: requests.Response, body: bytes) -> UserError:
        found = printable(f"{response.status_code} {response.reason}")
        with suppress(ValueError, LookupError, TypeError):
            found += f": {printable(str(parse_json(body)['detail']))[:200]}"
        remedies = {401: HELP, 403: HELP, 404: "it does not exist, or the user of the token may not see it"}
        return UserError("refused", file=url, found=found, remedy=remedies.get(response.status_code, CONTINUE))


class _Phase(BaseModel):
    id: int
    name: str
    end: AwareDatetime | None = None


class _Competition(BaseModel):
    phases: list[_Phase]
    organised: str | None = Field(None, validation_alias="secret_key")  # (api/serializers/competitions.py:451)


class Score(BaseModel):
    """A submission's value in a column of the platform's board."""

    id: int
    column_key: str
    score: float


class Listed(BaseModel):
    """A submission in the platform's list of submissions."""

    id: int
    owner: str
    status: str
    on_leaderboard: bool = False
    scores: list[Score] = []


@dataclass(frozen=True)
class OpenedPhase:
    """A phase on the platform, with all its submissions."""

    platform: Platform
    phase: _Phase
    submissions: Sequence[Listed]


def split_page(page: Address) -> tuple[str, str]:
    """Split the address of a competition's page into (site, number); raise `UserError` for any other address."""
    match = _PAGE.fullmatch(page.reveal())
    if match is None:
        raise UserError("not the page of a competition", file=page, expected=PAGE)
    return match[1], match[2]


def open_phase(platform: Platform, number: str, name: str | None) -> OpenedPhase:
    """Return the phase `name` of the competition `number`, or its only phase if `name` is None.

    Raise `UserError` if the platform cannot be reached, refuses or fails, or if there is no such competition or phase.
    """
    competition = platform.get(f"competitions/{number}/", _Competition)
    if "organised" not in competition.model_fields_set:
        raise UserError("the user of the token is no organiser of this competition", file=platform.address)
    phase = competition.phases[position_of(name, [phase.name for phase in competition.phases], platform.address)]
    return OpenedPhase(platform, phase, platform.get(f"submissions/?phase={phase.id}", list[Listed]))


def by_participant(opened: OpenedPhase, status: str | None) -> tuple[dict[str, list[Listed]], list[str]]:
    """Return participant -> submissions with `status` (None: any), and a list of notes on the submissions left out.

    The submission on the platform's board comes first, then the others by descending number. The times of submissions
    do not count, since participants can choose them (api/serializers/submissions.py:82).
    """
    found: dict[str, list[Listed]] = {}
    for one in sorted(opened.submissions, key=lambda one: (not one.on_leaderboard, -one.id)):
        if status in (None, one.status):
            found.setdefault(one.owner, []).append(one)
    others = Counter(one.status for one in opened.submissions if status not in (None, one.status))
    counts = ", ".join(f"{number} {status}" for status, number in sorted(others.items()))
    said = f"{opened.phase.name}: left out, because they have no score on the platform: {counts}"
    return found, [printable(said)] if others else []
