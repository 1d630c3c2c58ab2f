"""P-values of a measure's mean score over tasks, plain and adjusted for the number of measures on the board."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.chance import Chance, share_reaching
from scoring.streams import stream
from scoring.vectors import Vector


def p_values(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return the p-value of each measure's mean score over tasks, 0 to 1, shape (n_measures,).

    The null hypothesis: the measure knows two hyperparameters of each task, but nothing else about the gaps. On a
    single task, the p-value is the largest over pairs of hyperparameters. On several tasks, the permutations of each
    task are taken for the pair of hyperparameters under which they score highest.

    Args:
        measures: for each measure, task -> the measure's score on the task, and the scores of its permutations.

    Raises:
        ValueError: a measure has no task, or measures or tasks differ in the number of permutations.
    """
    scores = _mean_scores(measures)
    found = _smallest(measures)
    for under_chance in _under_chance(measures):
        found = np.maximum(found, [*map(share_reaching, scores, under_chance)])
    return found


def adjusted_p_values(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return p-values as `p_values` does, adjusted for the number of measures, since the best of many may be lucky.

    A measure's mean score is compared with the highest score that a permutation gives to this measure or to any measure
    with a lower score. All measures share the same permutations, so similar measures need little adjustment.

    Source: Westfall and Young, "Resampling-based multiple testing", 1993 (the step-down maximum).
    """
    scores = _mean_scores(measures)
    rising = np.argsort(scores, kind="stable")
    found = _smallest(measures)
    for under_chance in _under_chance(measures):
        highest = np.maximum.accumulate(under_chance[rising], axis=0)
        stepwise = [*map(share_reaching, scores[rising], highest)]
        found[rising] = np.maximum(found[rising], np.maximum.accumulate(stepwise[::-1])[::-1])
    return found


def _smallest(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    return np.array([np.prod([chance.smallest for chance in tasks.values()]) for tasks in measures])


def _mean_scores(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    found = {scores.size for tasks in measures for chance in tasks.values() for scores in chance.dealt.values()}
    if not all(measures) or len(found) > 1:
        numbers = ", ".join(map(str, sorted(found))) or "none"
        raise ValueError(f"expected a task for every measure, and as many permutations for all, found {numbers}")
    return np.array([np.mean([chance.score for chance in tasks.values()]) for tasks in measures])


def _under_chance(measures: Sequence[Mapping[str, Chance]]) -> list[NDArray[np.float64]]:
    """Return for each pair of hyperparameters the mean scores of permuted measures, (n_measures, n_permutations).

    Means are over tasks. With several tasks, the scores of each pair on a task are first replaced, rank by rank, by the
    scores of the task's worst pair (`_worst_pair`).
    """
    names = sorted({name for tasks in measures for name in tasks})
    n_pairs = max((len(chance.dealt) for tasks in measures for chance in tasks.values()), default=0)
    orders = {}
    for number, name in enumerate(names):
        # Tasks with the same grid share permutations, but scores of permutations must be independent between tasks.
        n = next(_scores(tasks[name], 0).size for tasks in measures if name in tasks)
        orders[name] = stream("tasks", number).permutation(n)
    worst = [
        {name: _worst_pair(chance) for name, chance in tasks.items()} if len(tasks) > 1 else dict.fromkeys(tasks)
        for tasks in measures
    ]
    return [
        np.array([
            np.mean([_permuted(tasks[name], pair, high)[orders[name]] for name, high in worst_of.items()], axis=0)
            for tasks, worst_of in zip(measures, worst, strict=True)
        ])
        for pair in range(n_pairs)
    ]  # fmt: skip


def _permuted(chance: Chance, pair: int, worst: Vector | None) -> Vector:
    """Return the permutations' scores for a pair of hyperparameters.

    If `worst` is given (sorted scores), each score is replaced by the score of the same rank in `worst`.
    """
    dealt = _scores(chance, pair)
    if worst is None:
        return dealt
    found = np.empty_like(dealt)
    found[np.argsort(dealt, kind="stable")] = worst
    return found


def _worst_pair(chance: Chance) -> Vector:
    """Return the sorted scores of a measure's permutations for the pair of hyperparameters that favours chance most.

    It is the pair whose highest tenth of scores has the largest mean.
    """
    rising = np.sort([*chance.dealt.values()])
    return rising[rising[:, -max(1, rising.shape[1] // 10) :].mean(axis=1).argmax()]


def _scores(chance: Chance, pair: int) -> Vector:
    dealt = list(chance.dealt.values())
    return dealt[pair % len(dealt)]
