"""The outputs of a phase's submissions, downloaded through the platform's API; what is here already is not asked for.

An organiser may download them all (api/serializers/submissions.py:262); addresses in the platform's storage are signed
(utils/data.py:45), so the token is not sent there.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from zipfile import is_zipfile

from pydantic import BaseModel, Field, ValidationError

from harness.codabench.platform import Platform
from harness.credentials import Address
from harness.errors import UserError, writing
from harness.fetch.whole import fetch_file
from harness.submission.name import MAX_NAME, clean
from harness.text import printable
from harness.validation import first_problem

#: The page of a competition.
PAGE = "https://www.codabench.org/competitions/ID/"
_PAGE = re.compile(r"(https?://[^/?#@\s]+)/competitions/(\d{1,18})(?:[/?#].*)?")

#: The status of a submission that has a score (apps/competitions/models.py:431).
FINISHED = "Finished"

#: Largest output, in bytes.
MAX_OUTPUT = 4 * 1024**3


class _Phase(BaseModel):
    id: int
    name: str


class _Competition(BaseModel):
    """`secret_key` is there for organisers alone (api/serializers/competitions.py:451)."""

    phases: list[_Phase]
    organised: str | None = Field(None, validation_alias="secret_key")


class _Submission(BaseModel):
    id: int
    owner: str
    status: str


class _Files(BaseModel):
    prediction_result: str | None


@dataclass(frozen=True)
class Downloads:
    """The outputs that are here, and lines on what is not."""

    files: list[Path]
    notes: list[str]


def download(page: Address, phase: str | None, token: str, directory: Path, step: Callable[[str], None]) -> Downloads:
    """Download the outputs of a phase's finished submissions, as DIRECTORY/ID/OWNER.zip.

    Args:
        page: address of the competition's page.
        phase: its name; None if the competition has one phase.
        token: of an organiser.
        directory: where outputs are kept.
        step: is told of the progress.

    Raises:
        UserError: the platform cannot be reached, refuses or fails, or there is no such competition or phase.
    """
    match = _PAGE.fullmatch(page.reveal())
    if match is None:
        raise UserError("not the page of a competition", file=page, expected=PAGE)
    platform = Platform(match[1], token)
    step("asking the platform")
    competition = _parsed(_Competition, platform.get(f"competitions/{match[2]}/"), page)
    if "organised" not in competition.model_fields_set:
        raise UserError("the user of the token is no organiser of this competition", file=page)
    chosen = _chosen(competition.phases, phase, page)
    listed = [_parsed(_Submission, one, page) for one in platform.entries(f"submissions/?phase={chosen.id}")]
    finished = sorted((one for one in listed if one.status == FINISHED), key=lambda one: one.id)
    notes = _unfinished(chosen, listed)
    files = []
    for number, one in enumerate(finished, start=1):
        name = name_of_owner(one.owner)
        place = directory / str(one.id) / f"{name}.zip"
        if not is_zipfile(place):
            step(f"output {number} of {len(finished)}")
            with writing(place):
                place.parent.mkdir(parents=True, exist_ok=True)
            if not _fetch(platform, one, place):
                notes.append(f"left out: submission {one.id} of {name}: the platform has no output of it")
                continue
        files.append(place)
    return Downloads(files, notes)


def name_of_owner(owner: str) -> str:
    """Return the name of a participant's submission: no two participants have one.

    Usernames may have letters of any alphabet (apps/profiles/forms.py:16), all of which `clean` makes the same.
    """
    if clean(owner) == owner:
        return owner
    return f"{clean(owner)[: MAX_NAME - 9]}_{hashlib.sha256(owner.encode()).hexdigest()[:8]}"


def _fetch(platform: Platform, submission: _Submission, place: Path) -> bool:
    """Download an output; returns whether there is one."""
    path = f"submissions/{submission.id}/get_details/"  # (api/views/submissions.py:474)
    asked = platform.url_of(path)
    named = _parsed(_Files, platform.get(path), asked).prediction_result
    if named is None:
        return False
    if platform.address.startswith("https:") and not named.startswith("https:"):
        raise UserError("leads to an address without encryption", file=asked)
    url = Address(named.replace("@", "%40"), f"{asked}: prediction_result")
    moved = "the platform's storage has lost it; ask who runs the platform"
    fetch_file(url, place, lambda _: None, lambda _: None, most=MAX_OUTPUT, moved=moved)
    return True


def _chosen(phases: list[_Phase], name: str | None, page: Address) -> _Phase:
    found = [phase for phase in phases if name in (None, phase.name)]
    if len(found) != 1:
        expected = f"one of {', '.join(repr(phase.name) for phase in phases)}"
        raise UserError("--phase", file=page, expected=expected, found="none" if name is None else repr(name))
    return found[0]


def _unfinished(phase: _Phase, submissions: Iterable[_Submission]) -> list[str]:
    """Return a line on the submissions without a score."""
    others = Counter(one.status for one in submissions if one.status != FINISHED)
    if not others:
        return []
    counts = ", ".join(f"{number} {status}" for status, number in sorted(others.items()))
    return [printable(f"{phase.name}: submissions without a score on the platform are left out: {counts}")]


_Answer = TypeVar("_Answer", bound=BaseModel)


def _parsed(kind: type[_Answer], answer: object, page: Address) -> _Answer:
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        problem = first_problem(error)
        what = f"not an answer of Codabench's API: {problem.key}"
        raise UserError(what, file=page, expected=problem.expected, found=problem.found) from error
