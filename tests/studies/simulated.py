"""Simulated tasks that can be trained as often as a study needs.

A gap is the sum of linear effects of the hyperparameters and normal noise of 0.5, and a measure has the correlation rho
with the gap. Measures may share noise, and numbers may be rounded, which makes many of them equal.
"""

from itertools import product

import numpy as np

from scoring import Grid
from scoring.batches import official_scores
from scoring.conditioning import cell_counts, conditioning
from scoring.contingency import frequencies
from scoring.official import conditional_information
from scoring.paired import PairedTask

GRIDS = {"2^4": (2,) * 4, "2^5": (2,) * 5, "2^5 x 3": (2,) * 5 + (3,)}
NOISE = 0.5
TRAININGS = 2000  #: of which the expected score is the mean


class Task:
    """A grid of simulated networks."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        axes = {f"h{i}": list(range(size)) for i, size in enumerate(sizes)}
        models = {str(i): dict(zip(axes, cell, strict=True)) for i, cell in enumerate(product(*axes.values()))}
        self.grid = Grid.from_hyperparameters(axes, models)
        self.cond = conditioning(self.grid)
        self.levels = self.grid.codes / (np.array(sizes) - 1) - 0.5
        self.effects = self.levels @ np.linspace(0.2, 0.6, len(sizes))

    def gap(self, random: np.random.Generator) -> np.ndarray:
        """Return the gaps of a new training, shape (n_models,)."""
        return self.effects + NOISE * random.normal(size=self.effects.size)

    def train(
        self, random: np.random.Generator, rhos: tuple[float, ...], shared: float = 0.0, *, ties: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gaps (n_models,) and measures (len(rhos), n_models) of a new training.

        `shared` is the correlation of the noise of any two measures.
        """
        gap = self.gap(random)
        rho = np.array(rhos)[:, None]
        own, common = random.normal(size=(len(rhos), gap.size)), random.normal(size=gap.size)
        known = rho * gap / np.hypot(self.effects.std(), NOISE)
        measures = known + np.sqrt(1 - rho**2) * (np.sqrt(1 - shared) * own + np.sqrt(shared) * common)
        return (np.round(8 * gap) / 8, np.round(1.5 * measures)) if ties else (gap, measures)

    def paired(self, random: np.random.Generator, *arguments: object, **keywords: object) -> PairedTask:
        """Return a new training in the form that `scoring` compares; arguments as for `train`."""
        return PairedTask(self.grid, *self.train(random, *arguments, **keywords))  # type: ignore[arg-type]

    def expected(self, random: np.random.Generator, rhos: tuple[float, ...], *, ties: bool = False) -> np.ndarray:
        """Return mean scores over new trainings, 0 to 1, shape (len(rhos),)."""
        trained = (self.train(random, rhos, ties=ties) for _ in range(TRAININGS))
        mean: np.ndarray = np.mean([official_scores(values, gap[None], self.cond) for gap, values in trained], axis=0)
        return mean

    def unlimited(self, random: np.random.Generator, rho: float) -> float:
        """Return a measure's score, 0 to 1, if each setting had infinitely many networks, trained separately."""
        counts = np.zeros((3, self.cond.first.size))
        for _ in range(TRAININGS):
            (gap, (one,)), (other_gap, (other,)) = (self.train(random, (rho,)) for _ in range(2))
            gap_plus, plus = gap[:, None] > other_gap, one[:, None] > other
            counts += cell_counts(np.stack([gap_plus & plus, gap_plus, plus]), self.cond)
        p = frequencies(*counts / TRAININGS, self.cond.n_pairs)
        return float(conditional_information(p, self.cond).min())
