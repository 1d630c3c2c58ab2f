"""A claim of a paper, and the findings on it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tests.studies.science.settings import DIGITS, FASHION

if TYPE_CHECKING:
    from tests.studies.science.evidence import Evidence


class Verdict(StrEnum):
    """Whether a claim held in a setting."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Finding:
    """The result of trying a claim in a setting.

    Attributes:
        number: the deciding figures, with their names.
        interval: 90 % intervals of the figures, or the reason why they are missing.
        verdict: whether the claim held.
        needed: how many networks would decide an undecided claim (`tests.studies.science.judgement`), or empty.
        remark: why the verdict is not `reproduced`, or what limits it.
    """

    number: str
    interval: str
    verdict: Verdict
    needed: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and how it is tried.

    Attributes:
        text: the claim in a sentence.
        source: paper and place.
        command: key of the command in `commands` that makes the evidence, or `synthetic`.
        power: name of each setting in which the claim is tried -> power of the evidence, stated before a look at it.
        check: returns the finding.
    """

    text: str
    source: str
    command: str
    power: Mapping[str, str]
    check: Callable[["Evidence"], Finding]


#: All claims, in the order of the page.
CLAIMS: list[Claim] = []


def claim(
    text: str, source: str, command: str, power: str | Mapping[str, str]
) -> Callable[[Callable[["Evidence"], Finding]], None]:
    """Return a decorator that registers a claim's check; if `power` is a text, it applies to both image settings."""
    powers = dict.fromkeys((DIGITS.name, FASHION.name), power) if isinstance(power, str) else power

    def register(check: Callable[["Evidence"], Finding]) -> None:
        CLAIMS.append(Claim(text, source, command, powers, check))

    return register


def shown(command: list[str]) -> str:
    """Return a command as a user types it."""
    return shlex.join(["pgdl", *command])
