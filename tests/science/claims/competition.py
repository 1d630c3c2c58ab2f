"""Claims about the competition and its winners: Jiang et al. 2020, Natekar and Sharma 2020."""

import numpy as np

from baselines import MEASURES
from scoring import granulated_kendall, official_score
from scoring.comparison import CRITICAL
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one, jackknife_deviations
from tests.science.corpora import HELD_OUT
from tests.science.evidence import Evidence, Vector, bootstrap, correlation, span
from tests.science.finding import Finding, claim, decide

#: The winners' measure, and a rival's that Schiff et al. found as good.
WINNERS, RIVAL = "dbi_mixup", "gi_intra_l0"

#: Points that a competitive measure may be lower, and random measures that show how the metrics agree about nothing.
MARGIN, N_RANDOM = 5.0, 1000


@claim(
    "Davies-Bouldin times mixup, the winners' measure, is competitive with the Gi-score within classes",
    "Natekar and Sharma 2020; Schiff et al. 2021, table 1", "held out",
    f"competitive: at most {MARGIN:g} points lower; how far above three tasks see is not known",
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    scores, errors = [], []
    for task in HELD_OUT:
        cond, gap = conditioning(evidence.reference(task).grid), evidence.gaps(task)
        both = [evidence.values(task, name) for name in (WINNERS, RIVAL)]
        scores.append([100 * official_score(values, gap, evidence.reference(task).grid).score for values in both])
        left_out = [100 * delete_one(values, gap, cond) for values in both]
        errors.append(np.linalg.norm(jackknife_deviations(left_out[0] - left_out[1])))
    winners, rival = np.mean(scores, axis=0)
    error = CRITICAL * float(np.linalg.norm(errors)) / len(HELD_OUT)
    low, high = winners - rival - error, winners - rival + error
    return Finding(
        f"score {winners:.1f}, against {rival:.1f}", f"difference {low:+.1f} to {high:+.1f}", decide(low, high, -MARGIN)
    )


@claim(
    "The competition's two metrics, conditional information and granulated rank correlation, agree about measures",
    "Jiang et al. 2020, section 4", "held out",
    "8 families of measures that go together: few; how much above random measures they see is not known",
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    measures = sorted(set.intersection(*(set(evidence.measures(task)) for task in HELD_OUT)) - {"random"})
    found = _both_metrics(evidence, {name: [evidence.values(task, name) for task in HELD_OUT] for name in measures})
    random = np.random.default_rng(0)
    noise = {str(n): [random.normal(size=evidence.gaps(task).size) for task in HELD_OUT] for n in range(N_RANDOM)}
    null = correlation(*_both_metrics(evidence, noise))
    families = [MEASURES[name.partition(":")[0]].family for name in measures]
    members = [np.flatnonzero(np.array(families) == family) for family in sorted(set(families))]

    def of_families(drawn: Vector) -> float:
        rows = np.concatenate([members[int(number)] for number in drawn])
        return correlation(found[0][rows], found[1][rows])

    low, high = bootstrap(of_families, np.arange(len(members), dtype=np.float64))
    return Finding(
        f"rank correlation {correlation(*found):.2f} over {len(measures)} measures, {null:.2f} over {N_RANDOM} random "
        "ones (of the coefficient's absolute value)",
        span((low, high)),
        decide(low, high, null),
        "information has no sign; without the absolute value measures in the reverse order disagree",
    )


def _both_metrics(evidence: Evidence, values: dict[str, list[Vector]]) -> tuple[Vector, Vector]:
    """Mean information and mean absolute granulated Kendall of measures, given their values on each task."""
    information, kendall = np.zeros(len(values)), np.zeros(len(values))
    for place, task in enumerate(HELD_OUT):
        gaps, grid = evidence.gaps(task), evidence.reference(task).grid
        for number, of_measure in enumerate(values.values()):
            information[number] += official_score(of_measure[place], gaps, grid).score / len(HELD_OUT)
            kendall[number] += abs(granulated_kendall(of_measure[place], gaps, grid).score) / len(HELD_OUT)
    return information, kendall
