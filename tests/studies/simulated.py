"""Tasks that can be trained as often as a study needs.

A gap is the sum of linear effects of the hyperparameters and normal noise of 0.5, and a measure is correlated with it
by rho.
"""

from itertools import product

import numpy as np

from scoring import Grid
from scoring.batches import official_scores
from scoring.conditioning import conditioning

NOISE = 0.5
TRAININGS = 2000  #: of which the expected score is the mean


class Task:
    """A grid of networks; `test_noise` is the standard error of a measured gap."""

    def __init__(self, sizes: tuple[int, ...], test_noise: float = 0.0) -> None:
        axes = {f"h{i}": list(range(size)) for i, size in enumerate(sizes)}
        models = {str(i): dict(zip(axes, cell, strict=True)) for i, cell in enumerate(product(*axes.values()))}
        self.grid = Grid.from_hyperparameters(axes, models)
        self.cond = conditioning(self.grid)
        self.test_noise = test_noise
        levels = self.grid.codes / (np.array(sizes) - 1) - 0.5
        self.effects = levels @ np.linspace(0.2, 0.6, len(sizes))

    def train(self, random: np.random.Generator, rhos: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Gaps, and measures of each correlation, of one training: shapes (n_models,), (len(rhos), n_models)."""
        gap = self.effects + NOISE * random.normal(size=self.effects.size)
        rho = np.array(rhos)[:, None]
        known = rho * gap / np.hypot(self.effects.std(), NOISE)
        measures = known + np.sqrt(1 - rho**2) * random.normal(size=(len(rhos), gap.size))
        return gap + self.test_noise * random.normal(size=gap.size), measures

    def expected(self, random: np.random.Generator, rhos: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the scores over fresh trainings."""
        trained = [self.train(random, rhos) for _ in range(TRAININGS)]
        gaps, measures = (np.array(each) for each in zip(*trained, strict=True))
        scores = np.array([official_scores(measures[:, i], gaps, self.cond) for i in range(len(rhos))])
        return scores.mean(axis=1), scores.std(axis=1)
