"""Prints how often measures are marked as better than an additive fit of all hyperparameters, as a Markdown table.

    nice python -m tests.studies.beyond_fit [BOARDS, default 400]

Gaps are the sum of linear effects of the hyperparameters, without interactions, and normal noise of 0.5, drawn anew for
each board. The first four measures, and the fit, know nothing of single networks. The other measures are the gap plus
noise, which is so strong that the expected score is that of the fit, 30 or 45. The Monte-Carlo error is the standard
error of a share.
"""

import sys
from collections.abc import Callable

import numpy as np

from scoring import TaskCalls, additive_fit, compare_submissions
from scoring.batches import official_scores
from tests.studies.simulated import GRIDS, Task

TRAININGS = 400  #: of which an expected score is the mean
Vector = np.ndarray
Measure = Callable[[Vector, np.random.Generator], Vector]


class Kind(Task):
    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__(sizes)
        self.groups = self.grid.group_numbers(self.grid.names[-3:])

    def knowing(self, strength: float) -> Measure:
        """Return a measure that is the gap plus normal noise."""
        return lambda gap, random: gap + strength * random.normal(size=gap.size)

    def mean_gaps(self, gap: Vector, _: np.random.Generator) -> Vector:
        """Return for each model the mean gap of all models with the same three last hyperparameters."""
        return (np.bincount(self.groups, gap) / np.bincount(self.groups))[self.groups]

    def expected_score(self, measure: Measure) -> float:
        """Return a measure's mean score over new trainings, in points."""
        random = np.random.default_rng(1)
        gaps = [self.gap(random) for _ in range(TRAININGS)]
        values = [measure(gap, random) for gap in gaps]
        return 100 * float(official_scores(np.array(values), np.array(gaps), self.cond).mean())

    def strength_of(self, score: float) -> float:
        """Return the strength of noise with which a measure has this expected score."""
        low, high = 0.0, 10.0
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if self.expected_score(self.knowing(middle)) > score else (low, middle)
        return low

    def measures(self) -> dict[str, Measure]:
        fit: Measure = lambda gap, _: additive_fit(gap, self.grid)  # noqa: E731
        return {
            "noise": lambda gap, random: random.normal(size=gap.size),
            "the true effects": lambda *_: self.effects,
            "mean gaps by three hyperparameters": self.mean_gaps,
            "the fit with noise": lambda gap, random: fit(gap, random) + 0.1 * random.normal(size=gap.size),
            "knows the gap, as good as the fit": self.knowing(self.strength_of(self.expected_score(fit))),
            "knows the gap, score 30": self.knowing(self.strength_of(30)),
            "knows the gap, score 45": self.knowing(self.strength_of(45)),
            "(the fit itself)": fit,
        }


def share(kind: Kind, measure: Measure, tasks: int, boards: int) -> float:
    random, marked = np.random.default_rng(0), 0
    for _ in range(boards):
        calls = {}
        for number in range(tasks):
            gap = kind.gap(random)
            named = [dict(zip(kind.grid.models, one.tolist(), strict=True)) for one in (gap, measure(gap, random))]
            calls[f"task {number}"] = TaskCalls(kind.grid, *named)
        marked += compare_submissions({"one": calls}).standings["one"].beyond_hyperparameters
    return marked / boards


def main(boards: int = 400) -> None:
    print(
        f"Share of {boards} boards on which a measure is marked; Monte-Carlo error at most {0.5 / boards**0.5:.3f}.\n"
    )
    print("| grid | measure | expected score | one task | three tasks |\n|---|---|---|---|---|")
    for name, sizes in GRIDS.items():
        kind = Kind(sizes)
        for said, measure in kind.measures().items():
            found = [f"{share(kind, measure, tasks, boards):.3f}" for tasks in (1, 3)]
            print(f"| {name} | {said} | {kind.expected_score(measure):.1f} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
