"""The models that are called again: a sample that covers the grid without knowing it."""

import itertools
import math
from collections import Counter

import pytest

from harness.execution.repeated_models import choose_repeated

#: Full grids of more than 36 models, whose hyperparameters have 2 to 5 values, slowest first.
GRIDS = [
    sizes
    for length in (3, 4, 5, 6)
    for sizes in itertools.product((2, 3, 4, 5), repeat=length)
    if 36 < math.prod(sizes) <= 150
]


def starts(models: int) -> list[list[int]]:
    """Samples of that many models, one for each place where a sample can start."""
    found: dict[int, list[int]] = {}
    for seed in itertools.count():
        sample = choose_repeated(range(models), seed, "toy")
        found.setdefault(sample[0], sample)
        if len(found) == models:
            return list(found.values())
    raise AssertionError


@pytest.mark.parametrize(
    ("models", "repeated"), [(1, 1), (5, 5), (8, 8), (9, 8), (32, 8), (33, 9), (96, 24), (500, 125)]
)
def test_a_quarter_at_least_8_at_most_all(models: int, repeated: int) -> None:
    for seed in range(5):
        sample = choose_repeated(range(models), seed, "toy")
        assert len(set(sample)) == len(sample) == repeated


def test_every_value_of_every_hyperparameter_is_in_it_wherever_it_starts() -> None:
    samples = {models: starts(models) for models in {math.prod(sizes) for sizes in GRIDS}}
    assert len(GRIDS) > 100
    for sizes in GRIDS:
        cells = list(itertools.product(*map(range, sizes)))
        for sample in samples[len(cells)]:
            found = [len(set(values)) for values in zip(*(cells[position] for position in sample), strict=True)]
            assert found == list(sizes), sample


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2, 2), (4, 4, 2), (2, 4, 4), (2, 2, 2, 4), (3, 3, 3), (2, 2, 2, 2)])
def test_so_it_is_on_usual_smaller_grids(sizes: tuple[int, ...]) -> None:
    cells = list(itertools.product(*map(range, sizes)))
    for sample in starts(len(cells)):
        values = zip(*(cells[position] for position in sample), strict=True)
        assert [len(set(of_one)) for of_one in values] == list(sizes)


def test_every_model_is_as_likely_as_any_other() -> None:
    """Otherwise the spread of the chosen models would not stand for that of all."""
    assert set(Counter(itertools.chain(*starts(40))).values()) == {10}


def test_seed_and_task_decide_where_it_starts() -> None:
    first = choose_repeated(range(96), 0, "toy")
    assert choose_repeated(range(96), 0, "toy") == first
    assert len({tuple(choose_repeated(range(96), seed, task)) for seed in (0, 1) for task in ("toy", "second")}) == 4
