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
    """Whether a claim held here."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Finding:
    """What came out.

    Attributes:
        number: the figures that decide, with their names.
        interval: 90 % intervals of the figures, or the reason why they are missing.
        verdict: what follows.
        needed: how many networks would decide what is undecided (`tests.studies.science.judgement`); empty otherwise.
        remark: why the verdict is not `reproduced`, or what limits it.
    """

    number: str
    interval: str
    verdict: Verdict
    needed: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        text: the claim in a sentence.
        source: paper and place.
        command: key of the command in `commands` that makes the evidence, or `synthetic`.
        power: name of each setting of a trial -> the power of its evidence, stated before it is
            looked at.
        check: finds out.
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
    """Register a function that finds out whether a claim holds; a power alone is that on all images."""
    powers = dict.fromkeys((DIGITS.name, FASHION.name), power) if isinstance(power, str) else power

    def register(check: Callable[["Evidence"], Finding]) -> None:
        CLAIMS.append(Claim(text, source, command, powers, check))

    return register


def shown(command: list[str]) -> str:
    """Return a command as a user types it."""
    return shlex.join(["pgdl", *command])
