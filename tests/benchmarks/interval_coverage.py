"""How often intervals hold the truth, on simulated tasks: the tables of docs/statistics.md.

    nice python -m tests.benchmarks.interval_coverage [replicates, 1000]

The truth is the expected score over fresh trainings of the same grid: gaps and measures are drawn anew. All intervals
are of 90 %.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from scoring.batches import official_scores
from scoring.comparison import CRITICAL, INTERVAL_LEVEL
from scoring.conditioning import Conditioning
from scoring.contingency import frequencies
from scoring.official import conditional_information
from scoring.pair_counts import is_larger
from scoring.paired import PairedTask
from scoring.rank_intervals import difference_errors, rank_groups, rank_intervals, verdicts
from scoring.score_intervals import score_intervals
from scoring.spread import model_spread
from tests.studies.simulated import Task

GRIDS = {"2^5": (2,) * 5, "4 x 4 x 2": (4, 4, 2), "2^5 x 3": (2,) * 5 + (3,)}
CORRELATIONS = (0.0, 0.4, 0.8, 0.95)
WEIGHTS = 200  #: draws of random weights
OTHERS = (0.0, 0.4, 0.4, 0.6, 0.8)  #: correlations of the submissions of a simulated board
Interval = tuple[float, float]


def weighted_scores(measure: np.ndarray, gap: np.ndarray, cond: Conditioning, weights: np.ndarray) -> np.ndarray:
    """Official scores with a weight for every model; a pair weighs the product."""
    members = (weights[:, :, None] * cond.members).astype(np.float32)
    gap_plus, measure_plus = is_larger(gap), is_larger(measure)
    sums = []
    for pairs in (gap_plus & measure_plus, gap_plus, measure_plus):
        blocks = members.transpose(0, 2, 1) @ (pairs.astype(np.float32) @ members)
        sums.append(blocks[:, cond.first, cond.second].astype(np.float64))
    total = members.sum(axis=1)
    p = frequencies(*sums, (total[:, cond.first] * total[:, cond.second]).astype(np.float64))
    return conditional_information(np.maximum(p, 0), cond).min(axis=-1)  # rounding may leave a little below 0


def candidates(task: Task, gap: np.ndarray, measure: np.ndarray, weights: np.ndarray) -> dict[str, Interval]:
    """Every construction's interval."""
    paired = PairedTask(task.grid, gap, measure[None])
    scores, spread = official_scores(measure[None], gap[None], task.cond), model_spread([paired]) / 100
    score, half = scores[0], CRITICAL * np.linalg.norm(spread)
    drawn = np.concatenate([weighted_scores(measure, gap, task.cond, rows) for rows in np.split(weights, 8)])
    low, high = np.quantile(drawn, [(1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2])
    bias = drawn.mean() - score
    return {
        "jackknife": (score - half, score + half),
        "jackknife of the root": tuple(score_intervals(scores, spread, CRITICAL, 1)[0]),
        "weights, percentiles": (low, high),
        "weights, basic": (2 * score - high, 2 * score - low),
        "weights, less their bias": (low - bias, high - bias),
    }


def coverage(task: Task, rho: float, replicates: int) -> str:
    """A row of the first table: share of intervals that hold the truth, and their mean width."""
    random = np.random.default_rng(1)
    truth = task.expected(random, (rho,))[0][0]
    weights = random.exponential(size=(WEIGHTS, task.effects.size))
    held, widths = defaultdict(list), defaultdict(list)
    for _ in range(replicates):
        gap, measures = task.train(random, (rho,))
        for name, interval in candidates(task, gap, measures[0], weights).items():
            low, high = np.clip(interval, 0, 1)
            held[name].append(low <= truth <= high)
            widths[name].append(high - low)
    cells = (f"{np.mean(held[name]):.2f} ({100 * np.mean(widths[name]):.1f})" for name in held)
    return f"{rho:g} | {100 * truth:.1f} | " + " | ".join(cells)


def noisy_gaps(sizes: tuple[int, ...], rho: float, test_noise: float, replicates: int) -> str:
    """A row of the second table: gaps that are measured with an error of their own, and several tasks."""
    random = np.random.default_rng(2)
    tasks = [Task(sizes, test_noise) for _ in range(3)]
    truth = tasks[0].expected(random, (rho,))[0][0]
    held = []
    for _ in range(replicates):
        paired = [train_paired(task, random, (rho,)) for task in tasks]
        scores = np.concatenate([official_scores(t.measures, t.gap[None], t.conditioning) for t in paired])
        one = score_intervals(100 * scores[:1], model_spread(paired[:1]), CRITICAL, 100)[0]
        three = score_intervals(100 * np.mean(scores, keepdims=True), model_spread(paired), CRITICAL, 100)[0]
        held.append([low <= 100 * truth <= high for low, high in (one, three)])
    return f"{rho:g} | {test_noise:g} | {100 * truth:.1f} | " + " | ".join(f"{x:.2f}" for x in np.mean(held, axis=0))


def train_paired(task: Task, random: np.random.Generator, rhos: tuple[float, ...]) -> PairedTask:
    gap, measures = task.train(random, rhos)
    return PairedTask(task.grid, gap, measures)


def boards(sizes: tuple[int, ...], n_tasks: int, replicates: int) -> str:
    """A row of the third table: differences, ranks and groups of five submissions, of which two are equally good."""
    random = np.random.default_rng(3)
    tasks = [Task(sizes) for _ in range(n_tasks)]
    truth = 100 * tasks[0].expected(random, OTHERS)[0]
    truth[1:3] = truth[1:3].mean()
    best = np.array([1 + np.sum(truth > own) for own in truth])
    worst = np.array([np.sum(truth >= own) for own in truth])
    differences, equal, ranks, together = [], [], [], []
    for _ in range(replicates):
        paired = [train_paired(task, random, OTHERS) for task in tasks]
        scores = 100 * np.mean([official_scores(t.measures, t.gap[None], t.conditioning) for t in paired], axis=0)
        spread = model_spread(paired)
        errors = difference_errors(spread)
        off = np.abs((scores[:, None] - scores) - (truth[:, None] - truth)) <= CRITICAL * errors
        differences.append(off[np.triu_indices(len(truth), 1)].mean())
        equal.append(off[1, 2])
        found = verdicts(scores, spread, INTERVAL_LEVEL)
        interval = rank_intervals(found)
        ranks.append(((interval[:, 0] <= best) & (interval[:, 1] >= worst)).mean())
        together.append(len(set(rank_groups(scores, found))))
    return " | ".join(f"{np.mean(each):.2f}" for each in (differences, equal, ranks, together))


def rows(replicates: int) -> Iterator[tuple[str, Callable[[], str]]]:
    for name, sizes in GRIDS.items():
        for rho in CORRELATIONS:
            yield f"{name} | ", lambda sizes=sizes, rho=rho: coverage(Task(sizes), rho, replicates)
    for name, sizes in GRIDS.items():
        for rho, noise in product((0.4, 0.8), (0.0, 0.3)):
            yield f"{name} | ", lambda sizes=sizes, rho=rho, noise=noise: noisy_gaps(sizes, rho, noise, replicates)
    for name, sizes in GRIDS.items():
        for n_tasks in (1, 3):
            yield f"{name} | {n_tasks} | ", lambda sizes=sizes, n_tasks=n_tasks: boards(sizes, n_tasks, replicates)


def main() -> None:
    start = time.process_time()
    for label, row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        print(f"| {label}{row()} |", flush=True)
    print(f"{time.process_time() - start:.0f} s of one core", file=sys.stderr)


if __name__ == "__main__":
    main()
