"""Claims of Huang, Yu and Zhang (2025): the practical generalization metric."""

import math

from baselines import MEASURES
from scoring.comparison import CRITICAL
from tests.science.evidence import Evidence
from tests.science.finding import Finding, Verdict, claim, decide

#: Sign-error of a measure that orders models as often rightly as wrongly.
CHANCE = 0.5

#: Networks of `digits_half`.
N_NETWORKS = 8

#: The measure that the paper finds consistent.
CONSISTENT = "inverse_margin"


def _sign_errors(evidence: Evidence) -> dict[str, float]:
    """Measure -> mean of its sign-errors of the mean error, against both slices of the testbed."""
    columns = ("unseen 0 %: error_mean", "SSIM 1: error_mean")
    return {
        row["measure"]: sum(float(row[column]) for column in columns) / len(columns)
        for row in evidence.table("testbed/consistency.csv")
    }


@claim("Most norms order networks otherwise than the testbed", "Huang et al. 2025, figure 5", "testbed")
def _(evidence: Evidence) -> Finding:
    errors = _sign_errors(evidence)
    norms = [errors[name] for name in errors if MEASURES[name].family == "norm"]
    above, below = sum(error > CHANCE for error in norms), sum(error < CHANCE for error in norms)
    verdict = (
        Verdict.REPRODUCED if above > 2 * below else Verdict.UNDECIDED if above > below else Verdict.NOT_REPRODUCED
    )
    return Finding(
        f"{above} of {len(norms)} norms have a sign-error above one half, {below} below",
        "none: norms of one network go together",
        verdict,
        "8 networks that differ in width alone: a norm that grows with width is in reverse as a whole",
    )


@claim("The inverse margin does not", "Huang et al. 2025, table 3", "testbed")
def _(evidence: Evidence) -> Finding:
    error = _sign_errors(evidence)[CONSISTENT]
    deviation = (
        math.sqrt(2 * (2 * N_NETWORKS + 5) / (9 * N_NETWORKS * (N_NETWORKS - 1))) / 2
    )  # of (1 - Kendall's tau) / 2
    low, high = max(error - CRITICAL * deviation, 0.0), min(error + CRITICAL * deviation, 1.0)
    return Finding(
        f"sign-error {error:.3f} (paper: 0.143 to 0.467)",
        f"{low:.2f} to {high:.2f}",
        decide(CHANCE - high, CHANCE - low),
        f"{N_NETWORKS} networks are few",
    )
