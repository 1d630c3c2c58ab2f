"""Prints the coverage of intervals and ranks, and the errors of differences and p-values, on simulated tasks.

    nice python -m tests.studies.certainty [SECTION]... [REPLICATES, default 400]

Sections: intervals, differences, power, ranks, chance, found, large. Each yields the lines of a table in
docs/certainty.md: nominal and measured figures (± the Monte-Carlo error), and the number of replicates n. The tasks of
`tests.studies.simulated` are fixed, and their networks are trained anew in each replicate.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from scoring import Chance, adjusted_p_values, compare_with_chance, p_values
from scoring.batches import official_scores
from scoring.comparison import INTERVAL_LEVEL, score_intervals
from scoring.hyperparameters import degrees_of_freedom
from scoring.paired import PairedTask
from scoring.quantiles import student_quantile
from scoring.rank_intervals import (
    difference_errors,
    rank_groups,
    rank_intervals,
    standardized_differences,
    surely_better,
)
from scoring.retrained import retrained_scores
from tests.studies.simulated import GRIDS, Task

LEVEL, PERMUTATIONS = 0.05, 99
LARGE = (5, 5, 4, 4)  #: 400 networks
SPREAD = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2, 0.0)  #: of ten submissions, with scores from 49 to 2
Random = np.random.Generator
Nulls = Callable[[Task, Random, int], tuple[np.ndarray, np.ndarray]]


def share(hits: Sequence[object] | np.ndarray) -> str:
    """Return the share of true values among `hits` with its Monte-Carlo error, as text."""
    found = float(np.mean(np.asarray(hits, dtype=np.float64)))
    return f"{found:.3f} ± {np.sqrt(max(found * (1 - found), 1 / len(hits) / 4) / len(hits)):.3f}"


def fewer(n: int, n_tasks: int) -> int:
    """Return the number of replicates: fewer for boards of many tasks, which take longer and vary less."""
    return n if n_tasks < 8 else n // 2


def final_scores(tasks: Sequence[PairedTask]) -> np.ndarray:
    return 100 * np.mean([official_scores(t.measures, t.gap[None], t.conditioning) for t in tasks], axis=0)


def intervals(n: int) -> Iterator[str]:
    """How often score intervals hold the mean score, and excess intervals hold the score on unlimited networks."""
    yield "| grid | tasks | rho | mean score | unlimited | interval holds mean | excess holds unlimited | width | n |"
    for (name, sizes), n_tasks, rho in product(GRIDS.items(), (1, 3, 8), (0.0, 0.4, 0.6, 0.8, 0.95)):
        random, task = np.random.default_rng(1), Task(sizes)
        truth, limit = 100 * task.expected(random, (rho,))[0], 100 * task.unlimited(random, rho) if rho else 0.0
        level = 100 * task.expected(random, (0.0,))[0]
        held, held_limit, widths = [], [], []
        for _ in range(fewer(n, n_tasks)):
            tasks = [task.paired(random, (rho,)) for _ in range(n_tasks)]
            critical = quantile(task)
            ((low, high),) = score_intervals(final_scores(tasks), retrained_scores(tasks), critical)
            held.append(low <= truth <= high)
            held_limit.append(low - level <= limit <= high - level)
            widths.append(high - low)
        yield (
            f"| {name} | {n_tasks} | {rho:g} | {truth:.1f} | {limit:.1f} | {share(held)} | {share(held_limit)} "
            f"| {np.mean(widths):.1f} | {len(held)} |"
        )


def standardized(tasks: Sequence[PairedTask]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the standardized differences of `compare_submissions`, the draws, and the standard errors."""
    draws = retrained_scores(tasks)
    errors = difference_errors(draws)
    return standardized_differences(final_scores(tasks), errors), draws, errors


def quantile(task: Task) -> float:
    return student_quantile(degrees_of_freedom(task.grid), (1 + INTERVAL_LEVEL) / 2)


def differences(n: int) -> Iterator[str]:
    """How often two equally good submissions are called different at p <= .1, in either direction."""
    yield "| grid | tasks | rho of both | | called different (.100) | n |"
    kinds: dict[str, dict[str, object]] = {"": {}, "shared noise": {"shared": 0.7}, "ties": {"ties": True}}
    for (name, sizes), n_tasks, (kind, keywords) in product(GRIDS.items(), (1, 3, 8), kinds.items()):
        for rho in (0.0, 0.4, 0.6, 0.8, 0.95) if not kind else (0.6, 0.8):
            random, task = np.random.default_rng(2), Task(sizes)
            found = [
                standardized([task.paired(random, (rho, rho), **keywords) for _ in range(n_tasks)])[0][0, 1]
                for _ in range(fewer(n, n_tasks))
            ]
            yield f"| {name} | {n_tasks} | {rho:g} | {kind} | {share(np.abs(found) > quantile(task))} | {len(found)} |"


def power(n: int) -> Iterator[str]:
    """How often the better of two submissions, with rho .5 and .8, is found by a one-sided test at .05."""
    yield "| grid | tasks | shared noise | found | n |"
    for (name, sizes), n_tasks, shared in product(GRIDS.items(), (1, 3), (0.0, 0.7, 0.8)):
        random, task = np.random.default_rng(3), Task(sizes)
        found = [
            standardized([task.paired(random, (0.5, 0.8), shared) for _ in range(n_tasks)])[0][1, 0] for _ in range(n)
        ]
        yield f"| {name} | {n_tasks} | {shared:g} | {share(np.array(found) > quantile(task))} | {n} |"


def ranks(n: int) -> Iterator[str]:
    """How often all rank intervals of a board hold at the same time."""
    yield "| grid | tasks | board | all ranks hold (.900) | one rank holds | mean span | groups | n |"
    boards = {
        "ten, scores 49 to 2": SPREAD,
        "ten equal, rho .6": (0.6,) * 10,
        "five, two equal": (0, 0.4, 0.4, 0.6, 0.8),
    }
    for (name, sizes), n_tasks, (kind, rhos) in product(GRIDS.items(), (1, 3, 8), boards.items()):
        random, task = np.random.default_rng(4), Task(sizes)
        best = np.array([1 + sum(other > rho for other in rhos) for rho in rhos])
        worst = np.array([sum(other >= rho for other in rhos) for rho in rhos])
        held, spans, groups = [], [], []
        for _ in range(fewer(n, n_tasks)):
            t, draws, errors = standardized([task.paired(random, tuple(rhos)) for _ in range(n_tasks)])
            better = surely_better(t, draws, errors, INTERVAL_LEVEL, degrees_of_freedom(task.grid))
            low, high = rank_intervals(better).T
            held.append((low <= best) & (worst <= high))
            spans.append(np.mean(high - low + 1))
            groups.append(rank_groups(better).max())
        together = np.array(held).all(axis=1)
        yield (
            f"| {name} | {n_tasks} | {kind} | {share(together)} | {np.mean(held):.3f} | {np.mean(spans):.1f} "
            f"| {np.mean(groups):.1f} | {len(held)} |"
        )


def noise(task: Task, random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    return task.train(random, (0.0,) * n)


def correlated(task: Task, random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    return task.train(random, (0.0,) * n, 0.8)


def tied(task: Task, random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    return task.train(random, (0.0,) * n, ties=True)


def follow_two(task: Task, random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps and the values of n measures, each of which follows two randomly chosen hyperparameters."""
    gap, values = noise(task, random, n)
    chosen = random.permuted(np.tile(np.arange(task.levels.shape[1]), (n, 1)), axis=1)[:, :2]
    return gap, 0.6 * values + task.levels[:, chosen].sum(axis=-1).T


def beside_chance(task: Task, trained: tuple[np.ndarray, np.ndarray], seed: int) -> list[Chance]:
    gap, measures = trained
    return [compare_with_chance(values, gap, task.grid, PERMUTATIONS, seed) for values in measures]


def best_of(task: Task, random: Random, null: Nulls, n_submissions: int, n_tasks: int) -> tuple[float, float]:
    """Return the smallest unadjusted and the smallest adjusted p-value of the submissions on a random board."""
    seed = int(random.integers(2**31))
    by_task = [beside_chance(task, null(task, random, n_submissions), seed) for _ in range(n_tasks)]
    rows = [{str(number): found[row] for number, found in enumerate(by_task)} for row in range(n_submissions)]
    return p_values(rows).min(), adjusted_p_values(rows).min()


def chance(n: int) -> Iterator[str]:
    """How often the smallest p-value on a board of useless submissions is at most .05."""
    yield "| grid | tasks | submissions | useless how | own p | adjusted p (.050) | n |"
    for (name, sizes), n_tasks, n_submissions in product(GRIDS.items(), (1, 3, 8), (1, 20, 100)):
        task = Task(sizes)
        boards = max(20, min(n, int(n * 100 / n_tasks / n_submissions / (8 if len(task.effects) > 32 else 1))))
        for null in (noise, correlated, tied, follow_two):
            if null in (correlated, tied) and (name != "2^5" or n_submissions != 20):
                continue
            random = np.random.default_rng(5)
            found = np.array([best_of(task, random, null, n_submissions, n_tasks) for _ in range(boards)])
            own, adjusted = (share(column <= LEVEL) for column in found.T)
            yield f"| {name} | {n_tasks} | {n_submissions} | {null.__name__} | {own} | {adjusted} | {boards} |"


def found(n: int) -> Iterator[str]:
    """How often a useful submission, alone on a board, has a p-value of at most .05, and of at most .0125."""
    yield "| grid | tasks | rho | mean score | p <= .05 | p <= .0125 | n |"
    for (name, sizes), n_tasks, rho in product(GRIDS.items(), (1, 3, 4, 8), (0.2, 0.4, 0.5, 0.6, 0.8)):
        random, task = np.random.default_rng(6), Task(sizes)
        mean, boards = 100 * task.expected(random, (rho,))[0], max(20, n // (4 if len(task.effects) > 32 else 1))

        def know(task: Task, random: Random, n: int, rho: float = rho) -> tuple[np.ndarray, np.ndarray]:
            return task.train(random, (rho,) * n)

        p = np.array([best_of(task, random, know, 1, n_tasks)[0] for _ in range(boards)])
        shares = f"{share(p <= LEVEL)} | {share(p <= LEVEL / 4)}"
        yield f"| {name} | {n_tasks} | {rho:g} | {mean:.1f} | {shares} | {boards} |"


def large(n: int) -> Iterator[str]:
    """Coverage and false alarms on a task of many networks, where first-order approximations replace resampling."""
    yield (
        "| rho | mean score | interval holds mean (.900) | width | excess holds unlimited (.900) "
        "| equal called different (.100) | n |"
    )
    for rho in (0.0, 0.2, 0.4, 0.6, 0.8, 0.95):
        random, task = np.random.default_rng(7), Task(LARGE)
        truth, limit = 100 * task.expected(random, (rho,))[0], 100 * task.unlimited(random, rho) if rho else 0.0
        level = 100 * task.expected(random, (0.0,))[0]
        held, held_limit, apart, widths = [], [], [], []
        for _ in range(n):
            tasks = [task.paired(random, (rho, rho))]
            t, draws, _ = standardized(tasks)
            (low, high), _ = score_intervals(final_scores(tasks), draws, quantile(task))
            held.append(low <= truth <= high)
            held_limit.append(low - level <= limit <= high - level)
            apart.append(abs(t[0, 1]) > quantile(task))
            widths.append(high - low)
        shares = f"{share(held)} | {np.mean(widths):.2f} | {share(held_limit)} | {share(apart)}"
        yield f"| {rho:g} | {truth:.2f} | {shares} | {n} |"
    for null, n_submissions in product((noise, follow_two), (1, 20)):
        random, task, boards = np.random.default_rng(8), Task(LARGE), max(20, n // n_submissions)
        found = np.array([best_of(task, random, null, n_submissions, 1) for _ in range(boards)])
        own, adjusted = (share(column <= LEVEL) for column in found.T)
        label = f"{n_submissions} useless, {null.__name__}, own and adjusted p <= .05"
        yield f"| {label} | {own} | {adjusted} | | | | {boards} |"


SECTIONS = (intervals, differences, power, ranks, chance, found, large)


def main() -> None:
    names = {section.__name__: section for section in SECTIONS}
    given = [argument for argument in sys.argv[1:] if argument in names] or [*names]
    replicates = next((int(argument) for argument in sys.argv[1:] if argument.isdigit()), 400)
    for name in given:
        start = time.process_time()
        print(f"\n{name}: {names[name].__doc__}\n")
        for number, line in enumerate(names[name](replicates)):
            print(line, *["|---" * (line.count("|") - 1) + "|"] * (number == 0), sep="\n", flush=True)
        print(f"{name}: {time.process_time() - start:.0f} s of one core", file=sys.stderr)


if __name__ == "__main__":
    main()
