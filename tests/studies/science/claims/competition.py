"""Claims about the competition and its winners: Jiang et al. 2020, Natekar and Sharma 2020."""

import numpy as np

from baselines import MEASURES
from scoring import compare_submissions, granulated_kendall, official_score
from tests.studies.science.evidence import Evidence, Vector, bootstrap, correlation, span
from tests.studies.science.finding import Finding, claim
from tests.studies.science.judgement import by_interval
from tests.studies.science.settings import DIGITS, FASHION

#: The winners' measure, and a rival's that Schiff et al. found as good.
WINNERS, RIVAL = "dbi_mixup", "gi_intra_l0"

#: Points that a competitive measure may be lower, and random measures that show how the metrics agree about nothing.
MARGIN, N_RANDOM = 5.0, 1000


@claim(
    "The winners' measure (Davies-Bouldin index times mixup error) is competitive with the Gi-score within classes",
    "Natekar and Sharma 2020; Schiff et al. 2021, table 1", "held out",
    {
        DIGITS.name: f"at most {MARGIN:g} points lower is competitive; which larger score 3 tasks show is not known",
        FASHION.name: f"at most {MARGIN:g} points lower is competitive; which larger score the tasks show is not known",
    },
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    tasks = evidence.held_out(WINNERS, RIVAL)
    calls = {name: {task: evidence.calls(task, name) for task in tasks} for name in (WINNERS, RIVAL)}
    found = compare_submissions(calls)
    difference = found.difference(WINNERS, RIVAL)
    winners, rival = (found.standings[name].score for name in (WINNERS, RIVAL))
    n_networks = sum(evidence.gaps(task).size for task in tasks)
    return Finding(
        f"score {winners:.1f}, against {rival:.1f}, mean of {len(tasks)} corpora",
        f"difference {difference.low:+.1f} to {difference.high:+.1f}",
        *by_interval(difference.points, (difference.low, difference.high), n_networks, nothing=-MARGIN),
    )


@claim(
    "The competition's two metrics, conditional information and granulated rank correlation, agree about measures",
    "Jiang et al. 2020, section 4", "held out",
    {
        name: f"{n} families of correlated measures are few; which difference they show is not known"
        for name, n in ((DIGITS.name, 8), (FASHION.name, 7))
    },
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    tasks = evidence.held_out("random")
    measures = sorted(set.intersection(*map(evidence.measures, tasks)) - {"random"})
    found = _both_metrics(evidence, tasks, {name: [evidence.values(task, name) for task in tasks] for name in measures})
    random = np.random.default_rng(0)
    noise = {str(n): [random.normal(size=evidence.gaps(task).size) for task in tasks] for n in range(N_RANDOM)}
    null = correlation(*_both_metrics(evidence, tasks, noise))
    families = [MEASURES[name.partition(":")[0]].family for name in measures]
    members = [np.flatnonzero(np.array(families) == family) for family in sorted(set(families))]

    def of_families(drawn: Vector) -> float:
        rows = np.concatenate([members[int(number)] for number in drawn])
        return correlation(found[0][rows], found[1][rows])

    ends = bootstrap(of_families, np.arange(len(members), dtype=np.float64))
    agreement = correlation(*found)
    return Finding(
        f"rank correlation {agreement:.2f} over {len(measures)} measures, {null:.2f} over {N_RANDOM} random "
        f"measures; {len(tasks)} corpora",
        span(ends),
        *by_interval(agreement, ends, len(members), "families of measures", null),
        "information has no sign, so the absolute value of the rank correlation is taken",
    )


def _both_metrics(evidence: Evidence, tasks: list[str], values: dict[str, list[Vector]]) -> tuple[Vector, Vector]:
    """Return mean information and mean absolute granulated Kendall of measures, from their values on each task."""
    information, kendall = np.zeros(len(values)), np.zeros(len(values))
    for place, task in enumerate(tasks):
        gaps, grid = evidence.gaps(task), evidence.reference(task).grid
        for number, of_measure in enumerate(values.values()):
            information[number] += official_score(of_measure[place], gaps, grid).score / len(tasks)
            kendall[number] += abs(granulated_kendall(of_measure[place], gaps, grid).score) / len(tasks)
    return information, kendall
