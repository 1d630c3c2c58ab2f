"""Claims of Huang, Yu and Zhang (2025): the practical generalization metric."""

import math

from scoring.comparison import CRITICAL
from tests.studies.science.evidence import Evidence
from tests.studies.science.finding import Finding, Verdict, claim
from tests.studies.science.judgement import by_interval

#: Sign-error of a measure that orders models as often rightly as wrongly.
CHANCE = 0.5

#: The measure that the paper finds consistent.
CONSISTENT = "inverse_margin"


def _sign_errors(evidence: Evidence) -> dict[str, float]:
    """Return measure -> mean of its sign-errors on the two slices of the testbed, for the mean error rate."""
    columns = ("unseen 0 %: error_mean", "SSIM 1: error_mean")
    return {
        row["measure"]: sum(float(row[column]) for column in columns) / len(columns)
        for row in evidence.table("testbed/consistency.csv")
    }


@claim(
    "Many measures order networks differently from the testbed (in the paper's four panels 30, 100, 43 and 21 % of 23)",
    "Huang et al. 2025, figure 5", "testbed", "8 networks that differ in width alone cannot decide the claim",
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    errors = _sign_errors(evidence)
    above, below = sum(error > CHANCE for error in errors.values()), sum(error < CHANCE for error in errors.values())
    return Finding(
        f"{above} of {len(errors)} measures ({100 * above / len(errors):.0f} %) have a sign-error above one half, "
        f"{below} below",
        "none: the measures of a network are correlated",
        Verdict.UNDECIDED,
        "more networks do not help: they must differ in more than width",
        "the networks differ in width alone, so a norm that grows with width orders all pairs the other way round",
    )


@claim(
    "The inverse margin orders most pairs of networks like the testbed", "Huang et al. 2025, table 3", "testbed",
    "8 networks show a sign-error up to about 0.25",
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    error = _sign_errors(evidence)[CONSISTENT]
    n = len(evidence.reference(evidence.setting.testbed).models)
    deviation = math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))) / 2  # of (1 - Kendall's tau) / 2
    low, high = max(error - CRITICAL * deviation, 0.0), min(error + CRITICAL * deviation, 1.0)
    return Finding(
        f"sign-error {error:.3f} (paper: 0.286 to 0.500)",
        f"{low:.2f} to {high:.2f}",
        *by_interval(CHANCE - error, (CHANCE - high, CHANCE - low), n),
        f"{n} networks are few",
    )
