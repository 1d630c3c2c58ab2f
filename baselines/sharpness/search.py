"""The search for the largest scale of changes of the weights that do little harm."""

import math
from collections.abc import Callable

import numpy as np

from baselines.core.sample import Array

#: Scales are sought in this interval; the ends are what is returned if all are harmful, or none is.
SMALLEST, LARGEST = 1e-6, 2.0

#: Between the logarithms of the last two scales.
INTERVAL = 2e-2

#: Part of the margin that is so little that a harmless scale may be the last one.
LITTLE = 1e-2

#: Factor by which a scale that is told by one margin may differ from the scale of that margin.
FARTHEST = 16.0

#: By which factor steps of the logarithm grow, at least, until they have passed the place.
GROWTH = 2.0


def largest_harmless(
    margins: Callable[[float], Array], still: Array, accuracy_drop: float, begin: float, largest: float = LARGEST
) -> float:
    """Largest scale at which no more answers are lost than allowed, or the smallest such one that the search meets.

    The number of right answers jumps, so the search follows a margin: the smallest of those that must stay positive if
    no more answers are lost than allowed. Its loss is about a power of the scale: a line in logarithms, which tells
    from `begin` where to look. Once the search has passed the place, Brent's method takes over. The search ends with a
    harmless and a harmful scale within `INTERVAL`, or with a harmless scale that leaves `LITTLE` of the margin. It
    returns where the line through the last two scales reaches 0, at most two of `INTERVAL` above the harmless scale;
    the error is 0.1 % where the margin is smooth. Range: [SMALLEST, largest].

    Args:
        margins: of a scale, the margins (n,) of all answers after changes of that scale.
        still: margins (n,) of the same answers without changes; positive ones are right.
        accuracy_drop: fraction of all answers that may be lost.
        begin: the scale that is tried first.
        largest: no larger one is tried.
    """
    from scipy.optimize import brentq  # here: listing the measures must not wait for it

    k = int((still > 0).sum()) - _allowed(accuracy_drop, len(still))
    if k < 1:
        return largest
    whole = _kth_largest(still, k)
    lowest, highest = math.log(SMALLEST), math.log(largest)
    known = {lowest: -math.log(FARTHEST)}

    def excess(logarithm: float) -> float:
        """Logarithm of the lost part of that margin; positive where all of it is lost."""
        if logarithm not in known:
            known[logarithm] = _excess(_kth_largest(margins(math.exp(logarithm)), k) / whole)
        return known[logarithm]

    def beyond(logarithm: float) -> float:
        """The same, but 0 where so little is left that the search may end, once two scales tell the line."""
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
        brentq(beyond, low, high, xtol=INTERVAL / 2)  # half, so that rounding cannot keep the loop going
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
    """ln(1 - left), but positive exactly where nothing is left, and within the logarithm of `FARTHEST`."""
    if left <= 0:
        return min(max(math.log1p(-left), 1e-9), math.log(FARTHEST))
    return -math.log(FARTHEST) if left >= 1 - 1 / FARTHEST else math.log1p(-left)


def _allowed(accuracy_drop: float, n: int) -> int:
    """How many of n answers may be lost."""
    return max(number for number in range(n + 1) if number / n <= accuracy_drop)


def _kth_largest(margins: Array, k: int) -> float:
    return float(-np.partition(-margins, k - 1)[k - 1])
