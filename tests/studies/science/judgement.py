"""Verdicts from intervals and p-values, and how many networks would decide what they leave undecided.

The numbers are extrapolations from what was seen: they take the estimate for the truth, and let errors fall with the
square root of the number of networks. As the estimate has an error itself, they tell the order of magnitude.
"""

import math
from statistics import NormalDist

from tests.studies.science.finding import Verdict

#: Text if no number is enough.
NONE = "none can be said: it looks like chance"


def by_interval(
    estimate: float, ends: tuple[float, float], n: int, unit: str = "networks", nothing: float = 0.0
) -> tuple[Verdict, str]:
    """Return the verdict on a claim that a number is above `nothing`, and what would decide it if it is undecided.

    Args:
        estimate: the number.
        ends: its interval.
        n: size of the sample that the interval comes from.
        unit: what the sample consists of.
        nothing: the value that decides.
    """
    low, high = ends
    if low > nothing:
        return Verdict.REPRODUCED, ""
    if high < nothing:
        return Verdict.NOT_REPRODUCED, ""
    distance = abs(estimate - nothing)
    half = estimate - low if estimate > nothing else high - estimate
    return Verdict.UNDECIDED, _about(n * (half / distance) ** 2 if distance else None, unit)


def by_p_value(p_value: float, level: float, n: int) -> tuple[Verdict, str]:
    """Return the same for a one-sided test of a mean over n networks, which is normal under chance."""
    if p_value < level:
        return Verdict.REPRODUCED, ""
    normal = NormalDist()
    needed = n * (normal.inv_cdf(level) / normal.inv_cdf(p_value)) ** 2 if p_value < 0.5 else None
    return Verdict.UNDECIDED, _about(needed, "networks")


def _about(number: float | None, unit: str) -> str:
    """Return a number as text, rounded up to two digits."""
    if number is None or not math.isfinite(number):
        return NONE
    step = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    return f"about {math.ceil(number / step - 1e-9) * step:,} {unit}"
