"""A PAC-Bayes bound on the test error, from the training error and a complexity, by inverting the relative entropy."""

import math

from baselines.core.needs import MeasureUnavailable

#: Tolerance of the bound in nats: less than the effect of rounding the training error.
TOLERANCE = 1e-12


def log_bound(error: float, complexity: float) -> float:
    """Return -ln(1 - p) for the largest error p with kl(`error` || p) <= `complexity`. Range: [0, inf).

    kl is the relative entropy, in nats, of Bernoulli distributions. -ln(1 - p) is about p for small p, and still
    differs between networks for which p is near 1. Raises `MeasureUnavailable` if `error` is 1.
    """
    from scipy.optimize import brentq  # here, so that listing the measures is fast

    if error >= 1:
        raise MeasureUnavailable("needs a right answer to a training example, which the network does not give")
    entropy = -sum(share * math.log(share) for share in (error, 1 - error) if share)

    def excess(value: float) -> float:
        of_wrong = error * math.log(-math.expm1(-value)) if error else 0.0
        return (1 - error) * value - of_wrong - entropy - complexity

    low, high = -math.log1p(-error), (complexity + entropy) / (1 - error) + 1  # with a margin of 1 for rounding
    if excess(low) >= 0:  # for complexity 0
        return low
    return float(brentq(excess, low, high, xtol=TOLERANCE))
