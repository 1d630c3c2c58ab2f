"""Chooses the models that `pgdl run --repeat` calls again, with other seeds.

The repetitions show how a score depends on a measure's random draws. The chosen models have to cover every value of
every hyperparameter, but are chosen without reference data, which participants often lack. The natural order of the
models usually enumerates the grid of hyperparameters, so steps of constant size can cover the grid. No size suits all
tasks: in a 2 x 2 x 2 x 2 x 2 grid, steps of 4 models never change the values of two hyperparameters.

The step is about 0.618 (the golden ratio) times the number of models, because multiples of this ratio spread most
evenly around a circle. The step and the number of models have no common divisor, so that no model is chosen twice. On
full grids of more than 36 models with at most 5 values of a hyperparameter, all values are covered
(tests/execution/test_repetitions.py).
"""

import hashlib
import math
from collections.abc import Sequence
from typing import TypeVar

#: Fraction of a task's models that are called again, and minimum number.
SHARE, LEAST = 1 / 4, 8

GOLDEN_SECTION = (math.sqrt(5) - 1) / 2

T = TypeVar("T")


def choose_repeated(models: Sequence[T], run_seed: int, task: str) -> list[T]:
    """Return the models of a task that are called again: a quarter of `models`, at least 8, at most all.

    `models` are in natural order. The first chosen model depends only on the seed of the run and the name of the task.
    So the choice is the same for all submissions and all repetitions.
    """
    number = len(models)
    start = int(hashlib.sha256(f"{run_seed} {task}".encode()).hexdigest(), 16)
    chosen = min(number, max(LEAST, math.ceil(SHARE * number)))
    step = _step(number)
    return [models[(start + step * position) % number] for position in range(chosen)]


def _step(number: int) -> int:
    """Return the number nearest to 0.618 times `number` that has no common divisor with `number`."""
    coprime = (step for step in range(1, number + 1) if math.gcd(step, number) == 1)
    return min(coprime, key=lambda step: abs(step - GOLDEN_SECTION * number))
