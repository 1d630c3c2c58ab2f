"""Prints how well intervals and tests generalize to other tasks like those of a board, on simulated tasks.

    nice python -m tests.studies.tasks_as_sample [BOARDS, default 1000]

A submission's rho, its correlation with the gaps, differs from task to task. The truth is the mean score over 20,000
other tasks. There are three populations:

* varied: rho is normal with mean .7 and standard deviation .25, between -.99 and .99;
* weak: rho is normal with mean .4 and standard deviation .15;
* useless: rho is 0.

All submissions of a board come from the same population, so each difference that is found is a false alarm. One more
submission has a rho that is less by .3: the column "true difference" says how often the interval of its difference from
the first contains the true difference. The columns *these tasks* and *differ* take the tasks as fixed, so they promise
nothing for other tasks. Every figure has its Monte-Carlo error. Intervals are 90 % intervals, tests are at .05;
*differ* counts two-sided p-values of at most .1.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from scoring import (
    TaskCalls,
    compare_mean_ranks,
    compare_submissions,
    difference_on_other_tasks,
    mean_on_other_tasks,
    signed_rank_p_values,
)  # fmt: skip
from scoring.batches import official_scores
from tests.studies.simulated import GRIDS, Task

POPULATIONS = {"varied": (0.7, 0.25), "weak": (0.4, 0.15), "useless": (0.0, 0.0)}
N_TASKS = (4, 6, 8)
OTHERS = 20_000  #: number of tasks over which the true score is averaged
SUBMISSIONS = 5  #: number of submissions of a board on which rank tests are tried
MORE = 4  #: factor of the number of boards if only scores are needed
#: Columns of the table that are computed from the scores of a board, with the nominal figures.
FROM_SCORES = {
    "other tasks": 0.9, "false difference": 0.1, "true difference": 0.9, "Wilcoxon": 0.05, "Friedman": 0.05,
    "Nemenyi": 0.05,
}  # fmt: skip


def rhos_of(random: np.random.Generator, population: str, n: int, less: float = 0.0) -> np.ndarray:
    mean, spread = POPULATIONS[population]
    return np.clip(random.normal(mean - less, spread, size=n), -0.99, 0.99)


def task_scores(task: Task, random: np.random.Generator, population: str, n_tasks: int, n: int) -> np.ndarray:
    """Return scores of `n` submissions and a worse one on each task, in points: shape (n_tasks, n + 1)."""
    gaps, measures = [], []
    for _ in range(n_tasks):
        rhos = [*rhos_of(random, population, n), *rhos_of(random, population, 1, less=0.3)]
        gap, values = task.train(random, tuple(rhos))
        gaps.append(gap)
        measures.append(values)
    every = np.array(measures)
    return 100 * np.array([official_scores(every[:, i], np.array(gaps), task.cond) for i in range(n + 1)]).T


def of_boards(task: Task, random: np.random.Generator, population: str, n_tasks: int, truth: float) -> tuple[bool, ...]:
    """Return, for a random board of two submissions, whether an interval holds the truth, and a lead looks sure."""
    board: dict[str, dict[str, TaskCalls]] = {"one": {}, "other": {}}
    models = task.grid.models
    for number in range(n_tasks):
        gap, measures = task.train(random, tuple(rhos_of(random, population, 2)))
        gaps = dict(zip(models, gap.tolist(), strict=True))
        for calls, values in zip(board.values(), measures.tolist(), strict=True):
            calls[str(number)] = TaskCalls(task.grid, gaps, dict(zip(models, values, strict=True)))
    found = compare_submissions(board)
    standing = found.standings["one"]
    return standing.low <= truth <= standing.high, found.difference("one", "other").p_value <= 0.1


def of_scores(scores: np.ndarray, truths: np.ndarray) -> dict[str, float]:
    """Return column of `FROM_SCORES` -> whether the interval holds the truth, or the test finds a difference.

    Columns of rank tests are missing if the tasks are too few for them. `width` is the width of the first interval.
    """
    equal, pairs = scores[:, :-1], scores[:, :1] - scores[:, [1, -1]]
    (low, high), *_ = mean_on_other_tasks(equal)
    (least, most), (least_true, most_true) = difference_on_other_tasks(pairs)
    found = {
        "width": high - low,
        "other tasks": low <= truths[0] <= high,
        "false difference": not least <= 0 <= most,
        "true difference": least_true <= truths[0] - truths[1] <= most_true,
    }
    p_values, ranks = signed_rank_p_values(pairs), compare_mean_ranks(equal)
    if p_values is not None and ranks is not None:
        apart = np.ptp(ranks.mean_ranks) > ranks.critical_difference
        found |= {"Wilcoxon": p_values[0] <= 0.05, "Friedman": ranks.p_value <= 0.05, "Nemenyi": apart}
    return found


def row(task: Task, population: str, n_tasks: int, n_boards: int, truths: np.ndarray) -> list[str]:
    random = np.random.default_rng(n_tasks)
    boards = [of_boards(task, random, population, n_tasks, truths[0]) for _ in range(n_boards)]
    drawn = (task_scores(task, random, population, n_tasks, SUBMISSIONS) for _ in range(MORE * n_boards))
    found = [of_scores(scores, truths) for scores in drawn]
    width = np.mean([one["width"] for one in found])
    cells = [shown([one[key] for one in found]) if key in found[0] else "-" for key in FROM_SCORES]
    return [f"{truths[0]:.1f}", *map(shown, zip(*boards, strict=True)), f"{width:.0f}", *cells]


def shown(values: Iterable[float]) -> str:
    every = np.array([*values], float)
    return f"{every.mean():.3f} ± {every.std() / np.sqrt(every.size):.3f}"


def rows(n_boards: int) -> Iterator[list[str]]:
    yield ["population", "grid", "tasks", "truth", "these tasks", "differ", "width", *FROM_SCORES]
    yield ["---"] * (7 + len(FROM_SCORES))
    yield ["nominal", "", "", "", "-", "-", "", *(f"{figure:.2f}" for figure in FROM_SCORES.values())]
    for population, (grid, sizes) in product(POPULATIONS, GRIDS.items()):
        task = Task(sizes)
        truths = task_scores(task, np.random.default_rng(0), population, OTHERS, 1).mean(axis=0)
        for n_tasks in N_TASKS:
            yield [population, grid, str(n_tasks), *row(task, population, n_tasks, n_boards, truths)]


def main() -> None:
    n_boards = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"n = {n_boards:,} for *these tasks* and *differ*, {MORE * n_boards:,} for the columns to their right.\n")
    for cells in rows(n_boards):
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
