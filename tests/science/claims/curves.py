"""Claims of Schiff, Quanz, Das and Chen (2021), arXiv 2106.04765."""

import numpy as np
from scipy.stats import chi2

from harness.format.reference import Reference
from scoring import compare_submissions, compare_with_chance, false_discovery_rates
from scoring.comparison import CRITICAL
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one, jackknife_deviations
from scoring.official import cell_frequencies, conditional_information
from tests.science.corpora import HELD_OUT
from tests.science.evidence import Evidence
from tests.science.finding import Finding, Verdict, claim, decide

SCHIFF = "Schiff et al. 2021"

#: Level below which a p-value speaks against chance, after correction for several of them.
LEVEL = 0.05


def _tells(measure: str) -> None:
    @claim(f"`{measure}` tells about the gap of held-out corpora", f"{SCHIFF}, table 1", "held out")
    def check(evidence: Evidence) -> Finding:
        calls = {name: {task: evidence.calls(task, name) for task in HELD_OUT} for name in (measure, "random")}
        standing = compare_submissions(calls).standings[measure]
        found = [
            compare_with_chance(evidence.values(task, measure), evidence.gaps(task), evidence.reference(task).grid)
            for task in HELD_OUT
        ]
        rates = false_discovery_rates({task: one.p_value for task, one in zip(HELD_OUT, found, strict=True)})
        surely = sum(rate < LEVEL for rate in rates.values())
        chance = 100 * np.mean([one.level for one in found])
        everywhere, on_average = surely == len(HELD_OUT), standing.low > chance
        verdict = Verdict.REPRODUCED if everywhere else Verdict.UNDECIDED if on_average else Verdict.NOT_REPRODUCED
        p_values = ", ".join(f"{one.p_value:.3f}" for one in found)
        return Finding(
            f"score {standing.score:.1f}, chance {chance:.1f}; above chance on {surely} of {len(HELD_OUT)} tasks",
            f"{standing.low:.1f} to {standing.high:.1f}",
            verdict,
            "" if everywhere else f"p-values of the tasks: {p_values}",
        )


for _measure in ("gi_inter_l0", "gi_intra_l0", "pal_inter_l0", "pal_intra_l0"):
    _tells(_measure)


def _beats(statistic: str, words: str) -> None:
    @claim(f"For invariance, the Gi-score tells more than {words}", f"{SCHIFF}, table 3", "invariance")
    def check(evidence: Evidence) -> Finding:
        reference = evidence.reference("invariance_digits_rotation")
        rows = {
            row["model"]: row for row in evidence.table("invariance/scores.csv") if row["perturbation"] == "rotation"
        }
        difference, low, high, n_models = _difference(rows, reference, "gi", statistic)
        return Finding(
            f"difference of scores {difference:+.1f} points, {n_models} models",
            f"{low:+.1f} to {high:+.1f}",
            decide(low, high),
            "one task; the paper has 16 pairs of corpora and perturbations, in 14 of which Gi is first",
        )


_beats("mean_error", "the mean accuracy of the same curve")
_beats("subset_error", "the accuracy on an augmented subset")


def _difference(
    rows: dict[str, dict[str, str]], reference: Reference, first: str, second: str
) -> tuple[float, float, float, int]:
    """Difference of two statistics' scores in points, with its 90 % interval by the jackknife over models."""
    grid = reference.grid
    models = [model for model in grid.models if rows[model]["compared"] == "True"]
    assert len(models) == len(grid.models), "every model was compared"
    gap = np.array([float(rows[model]["gap"]) for model in models])
    cond = conditioning(grid, tuple(name for name in grid.varying if name != "augmentation_level"))
    scores, left_out = [], []
    for statistic in (first, second):
        values = np.array([float(rows[model][statistic]) for model in models])
        scores.append(100 * conditional_information(cell_frequencies(values, gap, cond), cond).min())
        left_out.append(100 * delete_one(values, gap, cond))
    error = float(np.linalg.norm(jackknife_deviations(left_out[0] - left_out[1])))
    difference = scores[0] - scores[1]
    return difference, difference - CRITICAL * error, difference + CRITICAL * error, len(models)


@claim("Once a curve is there, its scores take less than a millisecond", f"{SCHIFF}, section 4.1.3", "invariance")
def _(evidence: Evidence) -> Finding:
    from harness.protocols.invariance.perturbations import Chosen
    from harness.protocols.invariance.sensitivity import seconds_of_a_score
    from harness.protocols.invariance.study import Responses, Study

    random = np.random.default_rng(0)
    study = Study({"model": Responses({"rotation.0": random.random((2048, 25)) < 0.7})}, {})
    times = [1000 * seconds_of_a_score(study, Chosen("rotation", -90, 90)) for _ in range(20)]
    low, high = np.percentile(times, (5, 95))
    return Finding(f"{np.median(times):.2f} ms", f"{low:.2f} to {high:.2f} ms", decide(-high, -low, -1.0))


@claim(
    "The spread of the score falls as a curve takes more batches of training examples",
    f"{SCHIFF}, figure 3",
    "invariance",
)
def _(evidence: Evidence) -> Finding:
    rows = [row for row in evidence.table("invariance/sensitivity.csv") if row["perturbation"] == "rotation"]
    freedom = int(rows[0]["n_scores"]) - 1
    few, many = (100 * float(row["standard_deviation"]) for row in (rows[0], rows[-1]))
    ends = [
        [deviation * np.sqrt(freedom / chi2.ppf(level, freedom)) for level in (0.95, 0.05)] for deviation in (few, many)
    ]
    verdict = (
        Verdict.REPRODUCED if ends[0][0] > ends[1][1] else Verdict.UNDECIDED if few > many else Verdict.NOT_REPRODUCED
    )
    return Finding(
        f"standard deviation of {few:.1f} points with 1 batch, {many:.1f} with {rows[-1]['n_batches']}",
        "; ".join(f"{low:.1f} to {high:.1f}" for low, high in ends),
        verdict,
        "a part of this comes from subsets that are nearly the whole training set",
    )
