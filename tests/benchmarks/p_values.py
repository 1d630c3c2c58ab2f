"""How often p-values call a useless measure significant, and a useful one: a table of docs/statistics.md.

    nice python -m tests.benchmarks.p_values [replicates, 400]

A gap is a sum of linear effects of the hyperparameters, drawn anew each time, and normal noise of 0.5. Four tests are
compared: the score, with values dealt out among all models, among those that share one hyperparameter (the largest
p-value), and among those that share two (the largest; `compare_with_chance`); and the information given each pair of
hyperparameters (the largest; `information_p_values`).
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from scoring import Grid, compare_with_chance, information_p_values, official_score
from scoring.conditioning import conditioning
from scoring.permutations import Scorer, deals

GRIDS = {
    "2^5": (2,) * 5, "4 x 4 x 2": (4, 4, 2), "3 x 3 x 2": (3, 3, 2), "3 x 3 x 3": (3, 3, 3),
    "3 x 3 x 3 x 2": (3, 3, 3, 2), "2^5 x 3": (2,) * 5 + (3,),
}  # fmt: skip
PERMUTATIONS, LEVEL = 199, 0.05
POINTS = (0.07, 0.15, 0.3)  #: mean scores of useful measures
Measure = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def follows(number: int, noise: float, tied: bool = False) -> Measure:
    """A measure that follows some hyperparameters, drawn anew, and nothing else."""

    def measure(levels: np.ndarray, gap: np.ndarray, random: np.random.Generator) -> np.ndarray:
        chosen = random.permutation(levels.shape[1])[:number]
        values = levels[:, chosen].sum(axis=1) + noise * random.normal(size=gap.size)
        return np.round(2 * values) if tied else values

    return measure


def knows(rho: float, tied: bool = False) -> Measure:
    """A measure whose correlation with the gap is rho."""

    def measure(levels: np.ndarray, gap: np.ndarray, random: np.random.Generator) -> np.ndarray:
        values = rho * (gap - gap.mean()) / gap.std() + np.sqrt(1 - rho**2) * random.normal(size=gap.size)
        return np.round(values) if tied else values

    return measure


NULLS = {
    "noise": follows(0, 1.0), "noise, ties": follows(0, 1.0, tied=True),
    "one": follows(1, 0.6), "one, ties": follows(1, 0.6, tied=True),
    "two": follows(2, 0.6), "two, more noise": follows(2, 1.0), "two, ties": follows(2, 0.6, tied=True),
}  # fmt: skip


def simulate(grid: Grid, measure: Measure, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield measures and gaps without end."""
    random = np.random.default_rng(seed)
    levels = grid.codes / (np.array(grid.sizes) - 1)
    while True:
        gap = levels @ random.normal(size=levels.shape[1]) + 0.5 * random.normal(size=len(levels))
        yield measure(levels, gap, random), gap


def p_values(measure: np.ndarray, gap: np.ndarray, grid: Grid) -> list[float]:
    """The p-values of the four tests."""
    scorer, score = Scorer(gap, conditioning(grid)), official_score(measure, gap, grid).score
    random = np.random.default_rng(0)

    def of(*names: str) -> float:
        groups = grid.group_numbers(names)
        reached = sum((scorer(dealt) >= score - 1e-9).sum() for dealt in deals(measure, groups, PERMUTATIONS, random))
        return (1 + float(reached)) / (1 + PERMUTATIONS)

    return [
        of(), max(of(name) for name in grid.names), compare_with_chance(measure, gap, grid, PERMUTATIONS).p_value,
        max(information_p_values(measure, gap, grid, PERMUTATIONS).values()),
    ]  # fmt: skip


def correlation_for(points: float, grid: Grid) -> float:
    """The correlation of measures whose mean score is `points`; 0 if noise has more."""
    low, high = 0.0, 1.0
    for _ in range(10):
        rho = (low + high) / 2
        drawn = simulate(grid, knows(rho), seed=1)
        mean = np.mean([official_score(*next(drawn), grid).score for _ in range(150)])
        low, high = (rho, high) if mean < points else (low, rho)
    return low


def line(name: str, what: str, grid: Grid, measure: Measure, replicates: int) -> None:
    """Print a line of the table."""
    drawn = simulate(grid, measure, seed=2)
    found = np.array([p_values(*next(drawn), grid) for _ in range(replicates)]) <= LEVEL
    print(f"| {name} | {what} | " + " | ".join(f"{share:.3f}" for share in found.mean(axis=0)) + " |", flush=True)


def main(replicates: int = 400) -> None:
    """Print the table."""
    started = time.monotonic()
    print("| grid | the measure | among all | one shared | two shared | information |\n|---|---|---|---|---|---|")
    for name, sizes in GRIDS.items():
        axes = {f"h{number}": list(range(size)) for number, size in enumerate(sizes)}
        cells = product(*axes.values())
        grid = Grid.from_hyperparameters(
            axes, {str(n): dict(zip(axes, cell, strict=True)) for n, cell in enumerate(cells)}
        )
        for what, null in NULLS.items():
            line(name, what, grid, null, replicates)
        for points in POINTS:
            rho = correlation_for(points, grid)
            if rho > 0.01:
                for tied in (False, True):
                    what = f"knows the gap, score {100 * points:.0f}{', ties' if tied else ''}"
                    line(name, what, grid, knows(rho, tied), replicates)
    print(f"{replicates} measures a line, {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
