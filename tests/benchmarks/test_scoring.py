"""Benchmark of scores: the time of a score and of a replicate, and its growth with the number of models."""

import time
from collections import defaultdict
from itertools import permutations, product
from math import log2

import numpy as np
from stopwatch import seconds

from scoring import Grid, compare_with_chance, official_score
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one

TASK1 = (3, 2, 2, 2, 2, 2)  #: the sizes of the competition's first task: 96 models
REPLICATES = 10_000


def grid_of(sizes: tuple[int, ...]) -> Grid:
    axes = {f"h{i}": list(range(size)) for i, size in enumerate(sizes)}
    models = {str(i): dict(zip(axes, cell, strict=True)) for i, cell in enumerate(product(*axes.values()))}
    return Grid.from_hyperparameters(axes, models)


def drawn(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    measure, noise = np.random.default_rng(0).normal(size=(2, len(grid.models)))
    return measure, measure + noise


def as_defined(measure: dict[str, float], gap: dict[str, float], hparams: dict[str, dict[str, int]]) -> float:
    """Return the score by the published program's steps: all ordered pairs, and texts as keys of cells."""
    names = list(next(iter(hparams.values())))
    values = {name: {cell[name] for cell in hparams.values()} for name in names}
    scores = []
    for h1, h2 in permutations(names, 2):
        tables: dict[str, list[int]] = defaultdict(lambda: [0] * 4)
        for i, in_i in hparams.items():
            for j, in_j in hparams.items():
                sign = 2 * (gap[i] > gap[j]) + (measure[i] > measure[j])
                tables[str(in_i[h1]) + str(in_j[h1]) + str(in_i[h2]) + str(in_j[h2])][sign] += 1
        cells = ["".join(map(str, key)) for key in product(values[h1], values[h1], values[h2], values[h2])]
        information = sum(information_of(tables[cell]) for cell in cells) / len(cells)
        scores.append(information / (sum(entropy_of(tables[cell]) for cell in cells) / len(cells)))
    return min(scores)


def information_of(table: list[int]) -> float:
    p = [count / sum(table) for count in table]
    p_gap, p_measure = (p[0] + p[1], p[2] + p[3]), (p[0] + p[2], p[1] + p[3])
    return sum(q * log2(q / (p_gap[k // 2] * p_measure[k % 2])) for k, q in enumerate(p) if q)


def entropy_of(table: list[int]) -> float:
    total = sum(table)
    return -sum(p * log2(p + 1e-12) for p in ((table[0] + table[1]) / total, (table[2] + table[3]) / total))


def test_a_score_is_300_times_faster_than_the_definition_read_out(capsys):
    grid = grid_of(TASK1)
    measure, gap = drawn(grid)
    named = [dict(zip(grid.models, values.tolist(), strict=True)) for values in (measure, gap)]
    hparams = {
        m: dict(zip(grid.names, row, strict=True)) for m, row in zip(grid.models, grid.codes.tolist(), strict=True)
    }
    assert abs(official_score(measure, gap, grid).score - as_defined(*named, hparams)) < 1e-12
    plain, quick = (
        seconds(lambda: as_defined(*named, hparams), 5),
        seconds(lambda: official_score(measure, gap, grid), 500),
    )
    with capsys.disabled():
        print(f"\n96 models: {1e3 * plain:.0f} ms as defined, {1e3 * quick:.2f} ms, {plain / quick:.0f} times")
    assert plain / quick > 300


def test_ten_thousand_replicates_of_both_kinds(capsys):
    """Replicates delete one model, or permute values within the groups of the conditioning sets."""
    grid = grid_of(TASK1)
    measure, gap = drawn(grid)
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
        grid = grid_of(sizes)
        measure, gap = drawn(grid)
        n_sets = len(conditioning(grid).sets)
        per_set.append(seconds(lambda m=measure, g=gap, on=grid: official_score(m, g, on), 1) / n_sets)
        with capsys.disabled():
            print(f"\n{len(grid.models):7,} models: {per_set[-1]:.3f} s per conditioning set ({n_sets} sets)", end="")
    with capsys.disabled():
        print()
    assert per_set[1] < 25 * per_set[0]
    assert per_set[2] < 25 * per_set[1]
