"""The bound that PAC-Bayes theorems give for an error, from its value on the training set and a complexity."""

import math

from baselines.core.needs import MeasureUnavailable

#: Nats; less than rounding of the training error makes.
TOLERANCE = 1e-12


def log_bound(error: float, complexity: float) -> float:
    """-ln(1 - p) of the largest p with kl(error || p) <= complexity, kl of two coins. Range: [0, inf).

    It is about p where p is small. Where p is so near to 1 that it says nothing as a bound, networks still differ.

    Args:
        error: on the training set, in [0, 1).
        complexity: nats per example, the whole right side of the theorem.

    Raises:
        MeasureUnavailable: the error is 1, which bounds nothing.
    """
    from scipy.optimize import brentq  # here: listing the measures must not wait for it

    if error >= 1:
        raise MeasureUnavailable("needs a right answer to a training example, which the network does not give")
    entropy = -sum(share * math.log(share) for share in (error, 1 - error) if share)

    def excess(value: float) -> float:
        of_wrong = error * math.log(-math.expm1(-value)) if error else 0.0
        return (1 - error) * value - of_wrong - entropy - complexity

    low, high = -math.log1p(-error), (complexity + entropy) / (1 - error) + 1  # + 1: a margin for rounding
    if excess(low) >= 0:  # no complexity at all
        return low
    return float(brentq(excess, low, high, xtol=TOLERANCE))
