"""Claims of Schiff, Quanz, Das and Chen (2021), arXiv 2106.04765."""

import numpy as np

from harness.protocols.invariance.evaluate import InvarianceSettings
from harness.protocols.invariance.table import Compared
from harness.text import p_value_equation, p_value_text
from scoring import compare_submissions, compare_with_chance, p_values
from scoring.comparison import CRITICAL
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one, jackknife_deviations
from scoring.official import cell_frequencies, conditional_information
from tests.studies.science.evidence import Evidence
from tests.studies.science.finding import Finding, claim
from tests.studies.science.judgement import by_interval, by_p_value
from tests.studies.science.settings import DIGITS, FASHION

SCHIFF = "Schiff et al. 2021"

#: The tested measures, the level of all their tests, and the number of permutations.
TELLING, LEVEL, PERMUTATIONS = ("gi_inter_l0", "gi_intra_l0", "pal_inter_l0", "pal_intra_l0"), 0.05, 10_000

#: The power of these measures' tests, by simulation.
POWER = {
    DIGITS.name: "three tasks find measures that score 7 on each in 2 of 10 cases, 10 in 7 of 10, 13 in 9 of 10",
    FASHION.name: "four tasks find measures that score 3 on each in 5 of 10 cases, 5 in nearly all",
}


def _tells(measure: str) -> None:
    @claim(
        f"`{measure}` tells about the gaps of held-out corpora", f"{SCHIFF}, table 1", "held out",
        POWER,
    )  # fmt: skip
    def check(evidence: Evidence) -> Finding:
        tasks = evidence.held_out(measure, "random")
        calls = {name: {task: evidence.calls(task, name) for task in tasks} for name in (measure, "random")}
        standing = compare_submissions(calls).standings[measure]
        found = {
            task: compare_with_chance(
                evidence.values(task, measure), evidence.gaps(task), evidence.reference(task).grid, PERMUTATIONS
            )
            for task in tasks
        }
        p_value, decisive = float(p_values([found])[0]), LEVEL / len(TELLING)
        chance = 100 * np.mean([one.level for one in found.values()])
        each = ", ".join(p_value_text(one.p_value) for one in found.values())
        return Finding(
            f"score {standing.score:.1f}, chance {chance:.1f}, {p_value_equation(p_value)}",
            f"{standing.low:.1f} to {standing.high:.1f}",
            *by_p_value(p_value, decisive, sum(evidence.gaps(task).size for task in tasks)),
            f"p-values by corpus {each}",
        )


for _measure in TELLING:
    _tells(_measure)


def _beats(statistic: str, words: str, remark: str) -> None:
    @claim(
        f"The Gi-score of rotations tells more about the gap than {words}", f"{SCHIFF}, table 3", "invariance",
        "one task of 24 networks shows differences of scores from about 15 points",
    )  # fmt: skip
    def check(evidence: Evidence) -> Finding:
        rows = {
            row["model"]: row for row in evidence.table("invariance/scores.csv") if row["perturbation"] == "rotation"
        }
        reference = evidence.reference(evidence.setting.invariance)
        compared = Compared.of(reference, list(rows), (), InvarianceSettings.least_accuracy)
        difference, low, high = _difference(compared, rows, "gi", statistic)
        n_models = len(compared.models)
        return Finding(
            f"difference of scores {difference:+.1f} points, {n_models} models",
            f"{low:+.1f} to {high:+.1f}",
            *by_interval(difference, (low, high), n_models),
            remark,
        )


_beats(
    "mean_error", "the mean accuracy of the same curve",
    "one task; the paper has 16 pairs of corpora and perturbations, in 14 of which Gi is first",
)  # fmt: skip
_beats(
    "subset_error", "the accuracy on an augmented subset",
    "one task, like 10. Here, the subset has about four changed copies of each training image; in the paper, it has "
    "one copy of a tenth of the images, so the Gi-score has a weaker rival",
)  # fmt: skip


def _difference(
    compared: Compared, rows: dict[str, dict[str, str]], first: str, second: str
) -> tuple[float, float, float]:
    """Return the score difference of two statistics in points, and the ends of its 90 % jackknife interval."""
    gap, cond = np.array(compared.gaps), conditioning(compared.grid, compared.given)
    scores, left_out = [], []
    for statistic in (first, second):
        values = np.array([float(rows[model][statistic]) for model in compared.models])
        scores.append(100 * conditional_information(cell_frequencies(values, gap, cond), cond).min())
        left_out.append(100 * delete_one(values, gap, cond))
    error = float(np.linalg.norm(jackknife_deviations(left_out[0] - left_out[1])))
    difference = scores[0] - scores[1]
    return difference, difference - CRITICAL * error, difference + CRITICAL * error
