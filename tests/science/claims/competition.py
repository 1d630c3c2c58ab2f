"""Claims about the competition and its winners: Jiang et al. 2020, Natekar and Sharma 2020."""

import numpy as np

from scoring import compare_submissions, granulated_kendall, official_score
from tests.science.corpora import HELD_OUT
from tests.science.evidence import Evidence, bootstrap, correlation, span
from tests.science.finding import Finding, Verdict, claim, decide

#: The winners' measure, and a rival's that Schiff et al. found as good.
WINNERS, RIVAL = "dbi_mixup", "gi_intra_l0"


@claim(
    "Davies-Bouldin times mixup, the winners' measure, is competitive with the Gi-score within classes",
    "Natekar and Sharma 2020; Schiff et al. 2021, table 1", "held out",
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    compared = compare_submissions(
        {name: {task: evidence.calls(task, name) for task in HELD_OUT} for name in (WINNERS, RIVAL, "random")}
    )
    winners, rival = compared.standings[WINNERS], compared.standings[RIVAL]
    surely = compared.beats[WINNERS][RIVAL]
    verdict = Verdict.NOT_REPRODUCED if surely < 0.05 else Verdict.REPRODUCED if surely > 0.95 else Verdict.UNDECIDED
    return Finding(
        f"score {winners.score:.1f}, against {rival.score:.1f}; probability {surely:.2f} that it is the higher one",
        f"{winners.low:.1f} to {winners.high:.1f}; {rival.low:.1f} to {rival.high:.1f}",
        verdict,
        "the intervals are wider than the difference" if verdict is Verdict.UNDECIDED else "",
    )


@claim(
    "The competition's two metrics, conditional information and granulated rank correlation, agree about measures",
    "Jiang et al. 2020, section 4", "held out",
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    measures = sorted(set.intersection(*(set(evidence.measures(task)) for task in HELD_OUT)) - {"random"})
    information = np.zeros(len(measures))
    kendall = np.zeros(len(measures))
    for task in HELD_OUT:
        for number, measure in enumerate(measures):
            calls = evidence.calls(task, measure)
            values, gaps = evidence.values(task, measure), evidence.gaps(task)
            information[number] += official_score(values, gaps, calls.grid).score / len(HELD_OUT)
            kendall[number] += abs(granulated_kendall(values, gaps, calls.grid).score) / len(HELD_OUT)
    found = correlation(information, kendall)
    low, high = bootstrap(correlation, information, kendall)
    return Finding(
        f"rank correlation {found:.2f} over {len(measures)} measures (of the coefficient's absolute value)",
        span((low, high)),
        decide(low, high),
        "information has no sign; without the absolute value measures in the reverse order disagree",
    )
