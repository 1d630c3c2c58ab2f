"""The submissions of a phase as the platform lists them, and those of them that count."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import AwareDatetime, BaseModel, Field

from harness.codabench.competition import position_of
from harness.codabench.platform import Platform
from harness.credentials import Address
from harness.errors import UserError
from harness.text import printable

#: The page of a competition.
PAGE = "https://www.codabench.org/competitions/ID/"
_PAGE = re.compile(r"(https?://[^/?#@\s]+)/competitions/(\d{1,18})(?:[/?#].*)?")

#: The status of a submission that has a score (apps/competitions/models.py:431).
FINISHED = "Finished"


class _Phase(BaseModel):
    id: int
    name: str
    end: AwareDatetime | None = None


class _Competition(BaseModel):
    phases: list[_Phase]
    organised: str | None = Field(None, validation_alias="secret_key")  # (api/serializers/competitions.py:451)


class Score(BaseModel):
    """A cell of the platform's board."""

    id: int
    column_key: str
    score: float


class Listed(BaseModel):
    """A submission as the platform lists it."""

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
    """Return the address of the site, and the number of a competition, of its page; raises `UserError`."""
    match = _PAGE.fullmatch(page.reveal())
    if match is None:
        raise UserError("not the page of a competition", file=page, expected=PAGE)
    return match[1], match[2]


def open_phase(platform: Platform, number: str, name: str | None) -> OpenedPhase:
    """Return a phase of a competition; `name` may be None if it has one.

    Raises:
        UserError: the platform cannot be reached, refuses or fails, or there is no such competition or phase.
    """
    competition = platform.get(f"competitions/{number}/", _Competition)
    if "organised" not in competition.model_fields_set:
        raise UserError("the user of the token is no organiser of this competition", file=platform.address)
    phase = competition.phases[position_of(name, [phase.name for phase in competition.phases], platform.address)]
    return OpenedPhase(platform, phase, platform.entries(f"submissions/?phase={phase.id}", Listed))


def by_participant(opened: OpenedPhase, status: str | None) -> tuple[dict[str, list[Listed]], list[str]]:
    """Return each participant's submissions with a status, that on the board first, and lines on the others.

    The others follow, the newest first by their numbers. Participants choose the time and the status that the platform
    stores (api/serializers/submissions.py:82).
    """
    found: dict[str, list[Listed]] = {}
    for one in sorted(opened.submissions, key=lambda one: (not one.on_leaderboard, -one.id)):
        if status in (None, one.status):
            found.setdefault(one.owner, []).append(one)
    others = Counter(one.status for one in opened.submissions if status not in (None, one.status))
    counts = ", ".join(f"{number} {status}" for status, number in sorted(others.items()))
    said = f"{opened.phase.name}: left out, because they have no score on the platform: {counts}"
    return found, [printable(said)] if others else []
