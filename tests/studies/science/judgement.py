"""Verdicts from intervals and p-values, and how many networks would decide an undecided claim.

These numbers are extrapolations: they take the estimate for the truth, and assume that errors fall with the square root
of the number of networks. Since the estimate has an error, they are orders of magnitude.
"""

import math
from statistics import NormalDist

from tests.studies.science.finding import Verdict

#: Text if no number is enough.
NONE = "none can be said: it looks like chance"


def by_interval(
    estimate: float, ends: tuple[float, float], n: int, unit: str = "networks", nothing: float = 0.0
) -> tuple[Verdict, str]:
    """Return the verdict on the claim that a number is above `nothing`, and how many networks would decide it.

    Args:
        estimate: the estimated number.
        ends: its interval.
        n: size of the sample that the interval comes from.
        unit: the elements of the sample.
        nothing: the threshold of the claim.
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
    """Return the verdict of a one-sided test of a mean over n networks, and how many networks would decide it."""
    if p_value < level:
        return Verdict.REPRODUCED, ""
    normal = NormalDist()
    needed = n * (normal.inv_cdf(level) / normal.inv_cdf(p_value)) ** 2 if p_value < 0.5 else None
    return Verdict.UNDECIDED, _about(needed, "networks")


def _about(number: float | None, unit: str) -> str:
    """Return number and unit as text; the number is rounded up to an integer of at most two significant digits."""
    if number is None or not math.isfinite(number):
        return NONE
    step = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    return f"about {math.ceil(number / step - 1e-9) * step:,} {unit}"
