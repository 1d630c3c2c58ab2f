"""Grids, numbers, hypothesis strategies and a plain official score that the tests of `scoring` share."""

from dataclasses import dataclass
from itertools import combinations, product
from math import log2

import hypothesis.strategies as st
from hypothesis import settings

from scoring import Grid

#: For tests whose examples take long, and say nearly the same.
FEW = settings(max_examples=30)

Hyperparameters = dict[str, dict[str, int]]

TOY_GAP = [0.10, 0.20, 0.15, 0.30, 0.12, 0.22, 0.05, 0.40]
TOY_MEASURE = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]


@dataclass(frozen=True)
class Task:
    """Hyperparameters, gap and measure of each model of a task, by the model's name."""

    current: Hyperparameters
    gap: dict[str, float]
    measure: dict[str, float]

    @property
    def grid(self) -> Grid:
        names = next(iter(self.current.values()))
        possible = {name: sorted({cell[name] for cell in self.current.values()}) for name in names}
        return Grid.from_hyperparameters(possible, self.current)

    @property
    def arrays(self) -> tuple[list[float], list[float], Grid]:
        """The three arguments of every score: measure, gap and grid."""
        models = self.grid.models
        return [self.measure[m] for m in models], [self.gap[m] for m in models], self.grid

    def with_models_in_order(self, models: list[str]) -> "Task":
        return Task({model: self.current[model] for model in models}, self.gap, self.measure)


def cells(**sizes: int) -> Hyperparameters:
    """Return the hyperparameters of model_0, model_1, ..., one model per cell, in lexicographic order."""
    combinations = product(*(range(size) for size in sizes.values()))
    return {f"model_{i}": dict(zip(sizes, cell, strict=True)) for i, cell in enumerate(combinations)}


def task(gap: list[float], measure: list[float], **sizes: int) -> Task:
    current = cells(**sizes)
    return Task(current, dict(zip(current, gap, strict=True)), dict(zip(current, measure, strict=True)))


def toy(measure: list[float] = TOY_MEASURE) -> Task:
    """Return the 2 x 2 x 2 grid on which the competition's own program was run."""
    return task(TOY_GAP, measure, a=2, b=2, c=2)


SHAPES = [(2, 2, 2), (2, 3, 2), (3, 2, 3), (2, 2, 1, 2), (2, 2, 2, 2), (3, 2, 2, 2)]


@st.composite
def tasks(draw: st.DrawFn, distinct: bool = False) -> Task:
    """Draw a task of 3 or 4 hyperparameters; unless `distinct`, numbers repeat often, so ties are common."""
    sizes = dict(zip("abcd", draw(st.sampled_from(SHAPES)), strict=False))
    current = cells(**sizes)
    n = len(current)
    numbers = st.permutations(range(n)) if distinct else st.lists(st.integers(-4, 4), min_size=n, max_size=n)
    gap, measure = ([float(x) for x in draw(numbers)] for _ in range(2))
    return task(gap, measure, **sizes)


def literal_official_score(t: Task) -> float:
    """The definition word for word: loops, one 2 x 2 table per cell, no shortcut."""
    models = list(t.current)
    possible = {name: {cell[name] for cell in t.current.values()} for name in t.current[models[0]]}
    scores = []
    for h1, h2 in combinations(sorted(possible), 2):
        keys = product(possible[h1], possible[h1], possible[h2], possible[h2])
        tables = {key: [[0, 0], [0, 0]] for key in keys}
        for i, j in product(models, models):
            key = (t.current[i][h1], t.current[j][h1], t.current[i][h2], t.current[j][h2])
            row = 0 if t.gap[i] > t.gap[j] else 1
            column = 0 if t.measure[i] > t.measure[j] else 1
            tables[key][row][column] += 1
        information = entropy = 0.0
        for table in tables.values():
            n = sum(map(sum, table))
            p_gap = [sum(row) / n for row in table]
            p_measure = [(table[0][k] + table[1][k]) / n for k in (0, 1)]
            entropy -= sum(p * log2(p + 1e-12) for p in p_gap)
            for r, c in product((0, 1), (0, 1)):
                if table[r][c]:
                    p = table[r][c] / n
                    information += p * log2(p / (p_gap[r] * p_measure[c]))
        scores.append((information / len(tables)) / (entropy / len(tables)))
    return min(scores)
