"""Prints the resolution of tasks of several sizes, and how often such a difference is found, as a Markdown table.

    nice python -m tests.studies.resolution [TRAININGS, default 40]

Gaps are the sum of linear effects of the hyperparameters and normal noise of 0.5, drawn anew for each training. For
each training, two measures with independent noise are drawn 25 times, first with scores around 25 that differ by the
detectable difference, then with equal scores of about 25. A difference is seen if it is more than z(.95) standard
errors. Standard errors come from the bootstrap of residuals, and for comparison from simulation. All errors in the
table are standard errors over trainings.
"""

import sys
from math import cos, pi, sin
from statistics import NormalDist

import numpy as np

from scoring import compare_with_chance, smallest_p_value
from scoring.batches import official_scores
from scoring.conditioning import conditioning
from scoring.paired import PairedTask
from scoring.resolution import LEVEL, POWER, TYPICAL, detectable_difference
from scoring.retrained import retrained_scores
from tests.studies import simulated
from tests.studies.simulated import Task

GRIDS = {"2 x 2 x 2": (2,) * 3} | simulated.GRIDS
DRAWS = 25  #: of two measures, on each training
TRIED = 400  #: draws that find the strength of the noise
FULL = 100 * TYPICAL
Z = NormalDist().inv_cdf(1 - LEVEL)


class Training:
    """A grid with the gaps of one training; draws random measures that have a chosen expected score."""

    def __init__(self, sizes: tuple[int, ...], random: np.random.Generator) -> None:
        task = Task(sizes)
        self.grid, self.random, self.gap = task.grid, random, task.gap(random)
        self.noise = random.normal(size=(TRIED, self.gap.size))

    def measures(self, angle: float, noise: np.ndarray) -> np.ndarray:
        """Return measures that mix the gap (angle 0) with pure noise (angle 90 degrees)."""
        return cos(angle) * (self.gap - self.gap.mean()) / self.gap.std() + sin(angle) * noise

    def scores(self, measures: np.ndarray) -> np.ndarray:
        return 100 * official_scores(measures, self.gap[None], conditioning(self.grid))

    def angle_of(self, score: float) -> float:
        """Return the angle (`measures`) that gives this expected score, or the nearest possible score."""
        low, high = 0.0, pi / 2
        for _ in range(12):
            middle = (low + high) / 2
            above = self.scores(self.measures(middle, self.noise)).mean() > score
            low, high = (middle, high) if above else (low, middle)
        return low

    def draw(self, first: float, second: float) -> tuple[np.ndarray, np.ndarray]:
        """Return score differences between `measures` of two angles, and the bootstrap errors of the differences."""
        a, b = (self.measures(angle, self.random.normal(size=(DRAWS, self.gap.size))) for angle in (first, second))
        pairs = [PairedTask(self.grid, self.gap, np.array(pair)) for pair in zip(a, b, strict=True)]
        draws = np.array([retrained_scores([pair]) for pair in pairs])
        return self.scores(a) - self.scores(b), (draws[..., 0] - draws[..., 1]).std(axis=1, ddof=1)


def replicate(sizes: tuple[int, ...], random: np.random.Generator) -> dict[str, float]:
    """Draw a training, and return the table's numbers for it, by name."""
    one = Training(sizes, random)
    wanted = detectable_difference(one.gap, one.grid)
    chance = one.scores(one.noise).mean()
    lower = max(chance, FULL - wanted / 2)
    apart, errors = one.draw(one.angle_of(lower + wanted), one.angle_of(lower))
    middle = one.angle_of(FULL)
    equal, equal_errors = one.draw(middle, middle)
    return {
        "board": compare_with_chance(one.gap, one.gap, one.grid, 400).p_value, "chance": chance, "wanted": wanted,
        "lower": lower, "found": apart.mean(), "seen": (apart > Z * errors).mean(),
        "known": (apart > Z * wanted / (Z + NormalDist().inv_cdf(POWER))).mean(),
        "equal": (np.abs(equal) > Z * equal_errors).mean() / 2, "ratio": equal_errors.mean() / equal.std(ddof=1),
    }  # fmt: skip


def main(trainings: int = 40) -> None:
    print(f"{trainings} trainings of each grid, {DRAWS} draws of two measures on each; nominal: seen {POWER}, equal "
          f"{LEVEL}.\n")  # fmt: skip
    print("| grid | smallest p | p of the gap, 400 permutations | chance | detectable difference | the scores are "
          "| mean difference | seen | seen, error known | equal scores seen | bootstrap error / true |")  # fmt: skip
    print("|---" * 11 + "|")
    for name, sizes in GRIDS.items():
        random = np.random.default_rng(0)
        found = [replicate(sizes, random) for _ in range(trainings)]
        mean = {key: np.mean([one[key] for one in found]) for key in found[0]}
        error = {key: np.std([one[key] for one in found], ddof=1) / trainings**0.5 for key in found[0]}
        text = {key: f"{mean[key]:.3g} ± {error[key]:.2g}" for key in mean}
        smallest = smallest_p_value(Training(sizes, random).grid)
        scores = f"{mean['lower']:.0f} and {mean['lower'] + mean['wanted']:.0f}"
        cells = [
            name, f"{smallest:.3g}", f"{mean['board']:.4f}", text["chance"], text["wanted"], scores, text["found"],
            text["seen"], text["known"], text["equal"], text["ratio"],
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
