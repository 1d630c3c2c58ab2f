"""The search for the largest scale of weight changes that costs little training accuracy."""

import math
from collections.abc import Callable

import numpy as np

from baselines.core.sample import Array

#: Interval of the search. The result is the lower end if all scales are harmful, the upper end if all are harmless.
SMALLEST, LARGEST = 1e-6, 2.0

#: The search ends when the logarithms of a harmless and a harmful scale differ by at most this number.
INTERVAL = 2e-2

#: The search also ends at a harmless scale at which at most this fraction of the margin is left.
LITTLE = 1e-2

#: Largest factor between a scale and the next scale, if the latter is predicted from a single margin.
FARTHEST = 16.0

#: Until the result is bracketed, steps in the logarithm grow by at least this factor.
GROWTH = 2.0


def largest_harmless(
    margins: Callable[[float], Array], still: Array, accuracy_drop: float, begin: float, largest: float = LARGEST
) -> float:
    """Return the largest scale of changes at which at most `accuracy_drop` of all predictions become wrong.

    The accuracy is a step function of the scale, so the search follows a margin: the k-th largest, k the number of
    predictions that must stay right. The lost fraction of this margin is about a power of the scale, so the next scale
    is predicted by a line through logarithms. Once harmless and harmful scales bracket the result, Brent's method takes
    over. The search ends when the bracket is within `INTERVAL`, or at a harmless scale that leaves `LITTLE` of the
    margin. The result is the root of the line through the last two scales, with an error of 0.1 % for smooth margins.
    If the margin crosses 0 several times, the result is the smallest crossing that the search meets. Range: [SMALLEST,
    largest].

    Args:
        margins: returns the margins (n,) of all predictions after changes of a given scale.
        still: margins (n,) of the same predictions without changes; positive if right.
        begin: the scale that is tried first.
    """
    from scipy.optimize import brentq  # here, so that listing the measures is fast

    k = int((still > 0).sum()) - _allowed(accuracy_drop, len(still))
    if k < 1:
        return largest
    whole = _kth_largest(still, k)
    lowest, highest = math.log(SMALLEST), math.log(largest)
    known = {lowest: -math.log(FARTHEST)}

    def excess(logarithm: float) -> float:
        if logarithm not in known:
            known[logarithm] = _excess(_kth_largest(margins(math.exp(logarithm)), k) / whole)
        return known[logarithm]

    def beyond(logarithm: float) -> float:
        """Return the excess, or 0 to end the search once at most `LITTLE` is left and two scales determine a line."""
        found = excess(logarithm)
        is_told = sum(abs(one) < math.log(FARTHEST) for one in known.values()) > 1
        return 0.0 if is_told and -LITTLE <= found <= 0 else found

    low = high = math.log(begin)
    step = INTERVAL / GROWTH
    while excess(low) > 0:
        step = max(GROWTH * step, excess(low))
        high, low = low, max(low - step, lowest)
    while high == low or excess(high) <= 0:
        if high == highest:
            return largest
        step = max(GROWTH * step, -excess(high))
        low, high = high, min(high + step, highest)
    while high - low > INTERVAL and beyond(low) < 0:
        brentq(beyond, low, high, xtol=INTERVAL / 2)  # half, because with rounding the loop could run longer
        high = min(scale for scale, found in known.items() if found > 0)
        low = max(scale for scale in known if scale < high)
    if low == lowest:
        return SMALLEST
    if high - low > INTERVAL:
        high = min(high, low + GROWTH * INTERVAL)
        first, second = sorted(known, key=lambda scale: abs(known[scale]))[:2]
    else:
        first, second = low, high
    slope = (known[first] - known[second]) / (first - second)
    place = first - known[first] / slope if slope > 0 else low
    return math.exp(min(max(place, low), high))


def _excess(left: float) -> float:
    """Return ln(1 - left), limited to +-ln `FARTHEST`; `left` is the fraction of a margin that is left.

    If `left` is 0 or less, the result is at least 1e-9.
    """
    if left <= 0:
        return min(max(math.log1p(-left), 1e-9), math.log(FARTHEST))
    return -math.log(FARTHEST) if left >= 1 - 1 / FARTHEST else math.log1p(-left)


def _allowed(accuracy_drop: float, n: int) -> int:
    return max(number for number in range(n + 1) if number / n <= accuracy_drop)


def _kth_largest(margins: Array, k: int) -> float:
    return float(-np.partition(-margins, k - 1)[k - 1])
