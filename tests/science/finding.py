"""A claim of a paper, and what came out when it was tried."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.science.evidence import Evidence


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
        interval: 90 % intervals of them, or why there are none.
        verdict: what follows.
        remark: why the verdict is not `reproduced`, or what limits it.
    """

    number: str
    interval: str
    verdict: Verdict
    remark: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        text: the claim in a sentence.
        source: paper and place.
        command: key of the command in `commands` that makes the evidence, or `synthetic`.
        power: what the evidence can decide, stated before it is looked at.
        check: finds out.
    """

    text: str
    source: str
    command: str
    power: str
    check: Callable[["Evidence"], Finding]


#: All claims, in the order of the page.
CLAIMS: list[Claim] = []


def claim(text: str, source: str, command: str, power: str) -> Callable[[Callable[["Evidence"], Finding]], None]:
    """Register a function that finds out whether a claim holds."""

    def register(check: Callable[["Evidence"], Finding]) -> None:
        CLAIMS.append(Claim(text, source, command, power, check))

    return register


def decide(low: float, high: float, nothing: float = 0.0) -> Verdict:
    """Return the verdict on a claim that a number is above `nothing`, given its interval."""
    if low > nothing:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if high < nothing else Verdict.UNDECIDED


def shown(command: list[str]) -> str:
    """Return a command as a user types it."""
    return shlex.join(["pgdl", *command])
