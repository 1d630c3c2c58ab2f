"""The models that `pgdl run --repeat` calls again, with other seeds.

The luck of a measure's own random draws in its score is estimated from a sample of the models, which has to cover every
value of every hyperparameter. The sample is chosen without reference data, which a participant may not have: the
natural order of the models usually enumerates the grid, so a systematic sample of it covers the grid. A fixed stride
would
not: every fourth model of a 2 x 2 x 2 x 2 x 2 grid has the same values of two hyperparameters. The steps are therefore
about 0.618 of the number of models, the golden section, whose multiples spread most evenly around a circle, and have
no common divisor with it, so no model comes twice. On full grids of more than 36 models every value occurs, wherever
the sample starts, if no hyperparameter has more than 5 values (tests/execution/test_repetitions.py).
"""

import hashlib
import math
from collections.abc import Sequence
from typing import TypeVar

#: Share of the models that are called again, and their minimum number.
SHARE, LEAST = 1 / 4, 8

GOLDEN_SECTION = (math.sqrt(5) - 1) / 2

T = TypeVar("T")


def choose_repeated(models: Sequence[T], run_seed: int, task: str) -> list[T]:
    """Return the models of a task that are called again: a quarter, at least 8, at most all.

    Args:
        models: in natural order.
        run_seed: seed of the run; decides, together with the task, where the sample starts. It is the same for all
            submissions and for every number of repetitions.
        task: name of the task.
    """
    number = len(models)
    start = int(hashlib.sha256(f"{run_seed} {task}".encode()).hexdigest(), 16)
    chosen = min(number, max(LEAST, math.ceil(SHARE * number)))
    step = _step(number)
    return [models[(start + step * position) % number] for position in range(chosen)]


def _step(number: int) -> int:
    """Return the number nearest to the golden section of `number` that has no common divisor with it."""
    coprime = (step for step in range(1, number + 1) if math.gcd(step, number) == 1)
    return min(coprime, key=lambda step: abs(step - GOLDEN_SECTION * number))
