"""Claims of Huang, Yu and Zhang (2025): the practical generalization metric."""

from baselines import MEASURES
from tests.science.evidence import Evidence
from tests.science.finding import Finding, Verdict, claim

#: Sign-error of a measure that orders models as often rightly as wrongly.
CHANCE = 0.5

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
    return Finding(
        f"sign-error {error:.3f} (paper: 0.143 to 0.467)",
        "none: 28 pairs of 8 networks",
        Verdict.REPRODUCED if error < CHANCE else Verdict.NOT_REPRODUCED,
        "8 networks",
    )
