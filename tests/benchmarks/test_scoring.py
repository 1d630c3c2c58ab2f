"""Benchmark of scores: the time of a score and of a replicate, and its growth with the number of models."""

import time
from math import prod

import numpy as np
from stopwatch import seconds

from scoring import compare_with_chance, official_score
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one
from tests.scoring.scoring_examples import Task, literal_official_score, task

TASK1 = (3, 2, 2, 2, 2, 2)  #: the sizes of the competition's first task: 96 models
REPLICATES = 10_000


def drawn(sizes: tuple[int, ...]) -> Task:
    """Return a task whose hyperparameters have `sizes` values, with random gaps and measures."""
    measure, noise = np.random.default_rng(0).normal(size=(2, prod(sizes)))
    return task((measure + noise).tolist(), measure.tolist(), **{f"h{i}": size for i, size in enumerate(sizes)})


def test_a_score_is_150_times_faster_than_the_definition_read_out(capsys):
    of_task = drawn(TASK1)
    arrays = of_task.arrays
    assert abs(official_score(*arrays).score - literal_official_score(of_task)) < 1e-12
    plain, quick = seconds(lambda: literal_official_score(of_task), 5), seconds(lambda: official_score(*arrays), 500)
    with capsys.disabled():
        print(f"\n96 models: {1e3 * plain:.0f} ms as defined, {1e3 * quick:.2f} ms, {plain / quick:.0f} times")
    assert plain / quick > 150


def test_ten_thousand_replicates_of_both_kinds(capsys):
    """Replicates delete one model, or permute values within the groups of the conditioning sets."""
    measure, gap, grid = drawn(TASK1).arrays
    measure, gap = np.array(measure), np.array(gap)
    one = seconds(lambda: official_score(measure, gap, grid), 100)
    start = time.process_time()
    for _ in range(REPLICATES // len(grid.models) + 1):
        delete_one(measure, gap, conditioning(grid))
    deletions = time.process_time() - start
    start = time.process_time()
    compare_with_chance(measure, gap, grid, n_permutations=REPLICATES)
    permuted = time.process_time() - start
    with capsys.disabled():
        print(f"\n10,000 deletions {deletions:.1f} s, 10,000 permutations {permuted:.1f} s of processor time")
    assert deletions + permuted < 6 * REPLICATES * one  # one by one, 17 scores per replicate


def test_many_models_cost_little_more_than_their_number(capsys):
    """Per conditioning set, ten times as many models take at most 25 times as long; all pairs would take 100 times."""
    per_set = []
    for sizes in ((10,) * 3, (10,) * 4, (10,) * 5):
        measure, gap, grid = drawn(sizes).arrays
        n_sets = len(conditioning(grid).sets)
        per_set.append(seconds(lambda m=measure, g=gap, on=grid: official_score(m, g, on), 1) / n_sets)
        with capsys.disabled():
            print(f"\n{len(grid.models):7,} models: {per_set[-1]:.3f} s per conditioning set ({n_sets} sets)", end="")
    with capsys.disabled():
        print()
    assert per_set[1] < 25 * per_set[0]
    assert per_set[2] < 25 * per_set[1]
