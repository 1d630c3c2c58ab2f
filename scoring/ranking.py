"""The order of submissions on a board."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One submission on a board."""

    name: str  #: shown to the reader; orders entries of equal rank
    score: float | None  #: higher is better; None (or a number that is not finite) if there is none
    complete: bool  #: whether every task has a score
    eligible: bool = True  #: whether the entry may be ranked at all (not, for instance, if it ran without the sandbox)


@dataclass(frozen=True)
class Ranked:
    """An entry and its rank: 1 is best, equal entries share a rank, None may not be ranked."""

    entry: Entry
    rank: int | None


def rank(entries: Iterable[Entry]) -> list[Ranked]:
    """Put entries in the order of the board, best first.

    Complete entries come first, then incomplete ones, then those without a score, then those that may not
    be ranked; each by descending score, then by name. Equal scores of equal standing share a rank, and the
    next rank counts them all: 1, 2, 2, 4.
    """
    ordered = sorted(entries, key=lambda entry: (_standing(entry), entry.name))
    ranked: list[Ranked] = []
    for position, entry in enumerate(ordered, start=1):
        if not entry.eligible:
            ranked.append(Ranked(entry, None))
        elif ranked and _standing(ranked[-1].entry) == _standing(entry):
            ranked.append(Ranked(entry, ranked[-1].rank))
        else:
            ranked.append(Ranked(entry, position))
    return ranked


def _standing(entry: Entry) -> tuple[bool, bool, bool, float]:
    """Smaller is better. Without a score, completeness does not matter."""
    if entry.score is None or not math.isfinite(entry.score):
        return (not entry.eligible, True, True, 0.0)
    return (not entry.eligible, False, not entry.complete, -entry.score)
