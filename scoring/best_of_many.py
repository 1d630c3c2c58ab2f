"""P-values of the mean score over tasks, without and with adjustment for the best of many measures."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.chance import Chance, share_reaching
from scoring.streams import stream
from scoring.vectors import Vector


def p_values(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return the p-value of the mean score of each measure, 0 to 1, shape (n_measures,).

    A measure that knows only two hyperparameters of each task, and nothing else about the gaps, has so high a mean
    score with at most this probability. On a single task the p-value is the largest over pairs of hyperparameters. On
    several tasks, the pair may differ between tasks: each task is represented by the pair with its highest scores under
    chance.

    Args:
        measures: task -> its score beside chance, for each measure.

    Raises:
        ValueError: a measure without a task, or different numbers of permutations.
    """
    scores = _mean_scores(measures)
    found = _smallest(measures)
    for under_chance in _under_chance(measures):
        found = np.maximum(found, [*map(share_reaching, scores, under_chance)])
    return found


def adjusted_p_values(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return the results of `p_values`, adjusted for the number of measures.

    If no measure knows more than two hyperparameters, the p-value is an upper bound of the probability that any measure
    has so high a mean score. All measures share the same permutations, so that similar measures need little adjustment.
    Each measure is compared with the best score under chance among itself and all measures that score lower.

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
    """Return each measure's smallest possible p-value over all permutations; a sample must not give less by luck."""
    return np.array([np.prod([chance.smallest for chance in tasks.values()]) for tasks in measures])


def _mean_scores(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    found = {scores.size for tasks in measures for chance in tasks.values() for scores in chance.dealt.values()}
    if not all(measures) or len(found) > 1:
        numbers = ", ".join(map(str, sorted(found))) or "none"
        raise ValueError(f"expected a task for every measure, and as many permutations for all, found {numbers}")
    return np.array([np.mean([chance.score for chance in tasks.values()]) for tasks in measures])


def _under_chance(measures: Sequence[Mapping[str, Chance]]) -> list[NDArray[np.float64]]:
    """Return for each pair of hyperparameters mean scores under chance, shape (n_measures, n_permutations).

    For several tasks, all arrays have the distribution of the worst pair. Permutations of the array's own pair only
    determine which measures have high scores together.
    """
    names = sorted({name for tasks in measures for name in tasks})
    n_pairs = max((len(chance.dealt) for tasks in measures for chance in tasks.values()), default=0)
    orders = {}
    for number, name in enumerate(names):
        # Tasks with the same grid share permutations, but their scores under chance must be independent.
        n = next(_scores(tasks[name], 0).size for tasks in measures if name in tasks)
        orders[name] = stream("tasks", number).permutation(n)
    worst = [
        {name: _worst_pair(chance) for name, chance in tasks.items()} if len(tasks) > 1 else dict.fromkeys(tasks)
        for tasks in measures
    ]
    return [
        np.array([
            np.mean([_in_turn(tasks[name], pair, high)[orders[name]] for name, high in worst_of.items()], axis=0)
            for tasks, worst_of in zip(measures, worst, strict=True)
        ])
        for pair in range(n_pairs)
    ]  # fmt: skip


def _in_turn(chance: Chance, pair: int, worst: Vector | None) -> Vector:
    """Return a pair's scores under chance, with values replaced by those of equal rank among `worst`, if given."""
    dealt = _scores(chance, pair)
    if worst is None:
        return dealt
    found = np.empty_like(dealt)
    found[np.argsort(dealt, kind="stable")] = worst
    return found


def _worst_pair(chance: Chance) -> Vector:
    """Return the scores under chance, ascending, of the pair whose top tenth has the highest mean."""
    rising = np.sort([*chance.dealt.values()])
    worst: Vector = rising[rising[:, -max(1, rising.shape[1] // 10) :].mean(axis=1).argmax()]
    return worst


def _scores(chance: Chance, pair: int) -> Vector:
    dealt = list(chance.dealt.values())
    return dealt[pair % len(dealt)]
